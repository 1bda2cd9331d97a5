// SPDX-License-Identifier: Apache-2.0
#include "kube/exec_plugin.h"

#include <csignal>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/process.h"
#include "kube/certificate.h"
#include "kube/json.h"
#include "kube/json_writer.h"

namespace cnpa {
namespace {

constexpr std::chrono::milliseconds kTimeForPeople = std::chrono::minutes(2);
constexpr std::size_t kMostWordsBytes = 300;

tl::unexpected<Error> Malformed(std::string what) {
  return Fail(ErrorCode::kMalformed, std::move(what));
}

bool IsTerminal() {
  return ::isatty(STDIN_FILENO) == 1;
}

void SetVariable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&name](const std::string& variable) { return variable.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

std::string WordsFor(const ProgramResult& result) {
  std::string words = result.signal != 0 ? "it was ended by signal " + std::to_string(result.signal)
                                         : "it ended with code " + std::to_string(result.exit_code);
  if (!result.last_words.empty()) words += ": " + result.last_words.substr(0, kMostWordsBytes);
  return words;
}

/// Every failure of a plugin: its name first, its install hint last where it is missing.
tl::unexpected<Error> PluginError(const ExecPlugin& plugin, Error error) {
  const bool missing = error.code == ErrorCode::kNotFound;
  if (error.code != ErrorCode::kStopped) error.code = ErrorCode::kUnavailable;
  if (missing && !plugin.install_hint.empty()) error.message += ": " + plugin.install_hint;
  for (char& c : error.message) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';  // Hints come in several lines.
  }
  return Annotate(std::move(error), "exec plugin '" + plugin.command + "'");
}

}  // namespace

std::string EncodeExecInfo(const ExecPlugin& plugin, bool interactive) {
  JsonWriter json;
  json.Object([&] {
    json.String("kind", "ExecCredential");
    json.String("apiVersion", plugin.api_version);
    json.Object("spec", [&] {
      if (!plugin.cluster_json.empty()) {
        json.Key("cluster");
        json.Raw(plugin.cluster_json);
      }
      json.Bool("interactive", interactive);
    });
  });
  return json.text();
}

Result<Credential> DecodeExecCredential(std::string text, const std::string& api_version) {
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return Malformed("it printed nothing");
  if (!WithinDepth(text)) return Malformed("it printed no ExecCredential: it nests too deeply");
  JsonDocument document;
  // The parser's words have no part of the text in them.
  if (Status parsed = document.Parse(text); !parsed) return Malformed("it printed no ExecCredential: not JSON");
  const JsonReader root = document.root();
  if (root.OptionalString("kind") != "ExecCredential" || root.OptionalString("apiVersion") != api_version) {
    return Malformed("it printed no ExecCredential of " + api_version);
  }
  const JsonReader status = root.Object("status");
  Credential credential{.token = status.OptionalString("token")};
  std::string certificate = status.OptionalString("clientCertificateData");
  std::string key = status.OptionalString("clientKeyData");
  const std::string expiry = status.OptionalString("expirationTimestamp");
  if (!document.status()) return Malformed("its ExecCredential is not right: " + document.status().error().message);
  if (!expiry.empty()) {
    const Result<Time> time = ParseTime(expiry);
    if (!time) return Malformed("its ExecCredential is not right: status.expirationTimestamp is no time");
    credential.expires_at = *time;
  }
  if (certificate.empty() != key.empty()) {
    return Malformed("its ExecCredential has a certificate without its key, or the other way round");
  }
  if (credential.token.empty() && certificate.empty()) {
    return Malformed("its ExecCredential has neither a token nor a certificate");
  }
  if (credential.token.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
    return Malformed("its ExecCredential has a token with a line break in it");
  }
  if (!certificate.empty()) {
    Result<ClientCertificate> client = ClientCertificate::Read(std::move(certificate), std::move(key));
    if (!client) return Malformed("its ExecCredential is not right: " + client.error().message);
    credential.client_certificate = *std::move(client);
  }
  return credential;
}

Result<Credential> RunExecPlugin(const ExecPlugin& plugin, const ExecLimits& limits) {
  using Interaction = ExecPlugin::Interaction;
  const bool interactive = plugin.interaction != Interaction::kNever && IsTerminal();
  if (plugin.interaction == Interaction::kAlways && !interactive) {
    return PluginError(plugin, {ErrorCode::kUnavailable,
                                "it must ask somebody (interactiveMode: Always), and standard input is no terminal"});
  }
  ProgramCall call{.arguments = {plugin.command},
                   .environment = EnvironmentList(),
                   .interactive = interactive,
                   .time_limit = interactive ? kTimeForPeople : limits.time_limit,
                   .stop_requested = limits.stop_requested};
  call.arguments.insert(call.arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
  for (const auto& [name, value] : plugin.environment) SetVariable(call.environment, name, value);
  SetVariable(call.environment, "KUBERNETES_EXEC_INFO", EncodeExecInfo(plugin, interactive));
  Result<ProgramResult> result = RunProgram(call);
  if (!result) return PluginError(plugin, std::move(result).error());
  if (!result->succeeded()) return PluginError(plugin, {ErrorCode::kUnavailable, WordsFor(*result)});
  Result<Credential> credential = DecodeExecCredential(std::move(result->output), plugin.api_version);
  if (!credential) return PluginError(plugin, std::move(credential).error());
  return credential;
}

}  // namespace cnpa
