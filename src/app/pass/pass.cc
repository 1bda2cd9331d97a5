// SPDX-License-Identifier: Apache-2.0
#include "app/pass/pass.h"

#include <optional>
#include <unistd.h>
#include <utility>

#include <fmt/core.h>

#include "app/output/output.h"
#include "app/pass/memory_file.h"
#include "app/pass/session.h"
#include "app/pass/stop.h"
#include "app/render/document.h"
#include "base/clock.h"
#include "base/environment.h"
#include "kube/auth/certificate.h"

namespace cnpa {
namespace {

/// What the loop says goes through a pipe line by line, and is compared with what it said before: there lines are
/// whole.
ViewForm StderrForm(const Options& options, const Log& log, const PassSetting& setting) {
  if (log.format() != LogFormat::kText) return {.columns = {}, .aligned = false};
  ViewForm form = FormOf(options.color, STDERR_FILENO);
  if (setting.in_loop) form.columns.reset();
  return form;
}

PassResult MakePass(const Options& options, const Log& log, const PassSetting& setting, PassDocument* document) {
  const Result<Session> session = OpenSession(options, log);
  if (!session) {
    log.Error(session.error().message);
    if (document != nullptr) document->SetError(session.error().message);
    return {.outcome = {.code = StopSignals::After(CodeForSession(session.error()))}};
  }
  const Connection& connection = session->connection;
  const std::string cluster = fmt::format("{} ({})", connection.server, connection.origin);
  TellWarnings(connection, log);
  Archive archive = MakeArchive(options);
  const ReconcileContext context{
      .options = options,
      .log = log,
      .archive = archive,
      .now = &Now,
      .explain = [&connection](Error error) { return ExplainRefusal(std::move(error), connection, Now()); },
      .on_observed = setting.on_observed,
      .on_linger =
          [&](const PassOutcome& outcome) {
            setting.on_linger(
                {.outcome = outcome, .cluster = cluster, .loaded_by_systemd = connection.loaded_by_systemd});
          },
      .team_space = setting.team_space,
      .instance = HostName(),
      .runtime_folder = DefaultRuntimeFolder(ProcessEnvironment(), ::geteuid() == 0),
      .document = document,
      .in_loop = setting.in_loop,
      .stdout_form = FormOf(options.color, STDOUT_FILENO),
      .stderr_form = StderrForm(options, log, setting)};
  PassResult result{.outcome = Reconcile(*session->transport, context),
                    .cluster = cluster,
                    .loaded_by_systemd = connection.loaded_by_systemd};
  // Some servers refuse an expired certificate before anybody can say 401.
  const std::optional<Validity> validity = connection.client_certificate.validity();
  if (result.outcome.code == ExitCode::kUnreadable && validity && Now() > validity->until) {
    result.outcome.unauthorized = true;
  }
  result.outcome.code = StopSignals::After(result.outcome.code);
  return result;
}

}  // namespace

PassResult MakePass(const Options& options, const Log& log, const PassSetting& setting) {
  if (options.output != OutputFormat::kJson) return MakePass(options, log, setting, nullptr);
  PassDocument document(options.diff ? PassDocument::Kind::kPlan : PassDocument::Kind::kReport, options.archive);
  PassResult result = MakePass(options, log, setting, &document);
  PrintLine(document.Text());
  return result;
}

}  // namespace cnpa
