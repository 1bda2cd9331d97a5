// SPDX-License-Identifier: Apache-2.0
#include "app/pass/session.h"

#include <algorithm>
#include <chrono>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "app/pass/stop.h"
#include "app/stages/crd_state.h"
#include "base/clock.h"
#include "base/secrecy.h"
#include "base/text.h"
#include "core/objects/objects.h"
#include "core/permissions/unauthorized.h"
#include "kube/auth/certificate.h"
#include "kube/auth/credentials.h"
#include "kube/auth/exec_plugin.h"
#include "kube/auth/kubeconfig.h"
#include "kube/auth/proxy.h"
#include "kube/http/curl_transport.h"

namespace cnpa {
namespace {

constexpr int kLeastConnections = 3;  // The lists of a pass are read side by side.

std::string TraceLine(const RequestTrace& trace) {
  const std::string outcome = trace.code != 0 ? std::to_string(trace.code) : trace.error;
  return fmt::format("{} {} -> {}, {} bytes, {} ms", MethodName(trace.method), trace.path, outcome, trace.bytes,
                     trace.took.count());
}

Connection WithoutSecrets(Connection connection) {
  connection.client_certificate = connection.client_certificate.WithoutKey();
  connection.token.clear();
  connection.password.clear();
  connection.exec.environment.clear();
  connection.proxy = WithoutPassword(connection.proxy);
  return connection;
}

bool StopRequested() {
  return StopSignals::received() != 0;
}

}  // namespace

Result<Session> OpenSession(const Options& options, const Log& log) {
  StopSignals::Install();
  KeepSecretsOffDisk();
  auto deadline = std::chrono::steady_clock::now() + options.timeout;
  const Environment environment = ProcessEnvironment();
  Result<Connection> connection = LoadConnection({.file = options.kubeconfig,
                                                  .context = options.context,
                                                  .environment = environment,
                                                  .is_root = ::geteuid() == 0});
  if (!connection) return tl::unexpected<Error>(std::move(connection).error());
  const auto credentials = std::make_shared<Credentials>(
      Credentials::Settings{.limits = {.time_limit = options.request_timeout, .stop_requested = &StopRequested},
                            .folder = CredentialFolder(environment),
                            .now = &Now,
                            .on_note = [&log](const std::string& note) { log.Debug(note); }});
  if (Status provided = credentials->Provide(*connection); !provided) {
    return Annotate(std::move(provided).error(), connection->origin);
  }
  // The time in which somebody was asked for them is not the pass's.
  if (MayAsk(connection->exec)) deadline = std::chrono::steady_clock::now() + options.timeout;
  Session session{.connection = WithoutSecrets(*connection), .transport = nullptr};
  if (!session.connection.proxy.empty()) log.Debug("through the proxy " + session.connection.proxy);
  TransportLimits limits{.deadline = deadline,
                         .stall_timeout = options.request_timeout,
                         .connections = std::max(options.concurrency, kLeastConnections),
                         .stop_requested = &StopRequested,
                         .stop_fd = StopSignals::fd()};
  CurlTransport::OnTrace on_trace;
  if (log.shows(LogLevel::kDebug)) on_trace = [&log](const RequestTrace& trace) { log.Debug(TraceLine(trace)); };
  Result<std::unique_ptr<CurlTransport>> transport =
      CurlTransport::Create(*std::move(connection), std::move(limits), std::move(on_trace),
                            [credentials](Connection& refused) { return credentials->Renew(refused); });
  if (!transport) {
    return Fail(ErrorCode::kInvalid, transport.error().message + " (" + session.connection.origin + ")");
  }
  session.transport = *std::move(transport);
  return session;
}

ExitCode CodeForSession(const Error& error) {
  return error.code == ErrorCode::kInvalid ? ExitCode::kUsage : ExitCode::kUnreadable;
}

void TellWarnings(const Connection& connection, const Log& log) {
  for (const std::string& warning : connection.warnings) log.Warn(warning);
  if (!connection.insecure_skip_tls_verify) return;
  log.Warn("insecure-skip-tls-verify is set: anybody on the way can read and change what is said (" +
           connection.origin + ")");
}

Archive MakeArchive(const Options& options) {
  // Whatever --timeout is, there is time left to say that the lock was not had.
  return Archive(options.archive, options.archive_is_default ? Archive::Make::kParentsToo : Archive::Make::kLastOnly,
                 std::min<std::chrono::milliseconds>(Archive::kLockWait, options.timeout / 4));
}

bool IsForbidden(const Error& error) {
  return error.code == ErrorCode::kDenied && !IsUnauthorized(error);
}

Error ExplainForbiddenLook(Error error, std::string_view needs) {
  // Who is what passes run as is advised to get its permissions, and rightly.
  if (!IsForbidden(error) || Contains(error.message, fmt::format("user \"{}\" cannot ", kFieldManager))) return error;
  const std::size_t verb = std::min(error.message.find("\" cannot "), error.message.size());
  error.message.resize(std::min(error.message.find(": ", verb), error.message.size()));
  error.message += fmt::format(": {}; ask a cluster admin for it", needs);
  return error;
}

Error ExplainRefusal(Error error, const Connection& connection, Time now) {
  if (error.code == ErrorCode::kNotFound && error.message.starts_with(kNoApi)) {
    error.message.insert(kNoApi.size(), " at " + connection.server);
    error.message += " (" + connection.origin + ")";
  }
  if (!IsUnauthorized(error)) return error;
  const std::string validity = DescribeValidity(connection.client_certificate, now);
  if (!validity.empty()) error.message += ": the client certificate " + validity + ": renew it";
  error.message += " (" + connection.origin + ")";
  return error;
}

}  // namespace cnpa
