// SPDX-License-Identifier: Apache-2.0
#include "kube/auth/exec_plugin.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "base/process.h"
#include "base/text.h"
#include "kube/auth/certificate.h"
#include "kube/auth/header_value.h"
#include "kube/json/json.h"
#include "kube/json/json_writer.h"
#include "kube/json/yaml.h"

namespace cnpa {
namespace {

constexpr std::chrono::milliseconds kTimeForPeople = std::chrono::minutes(2);
constexpr std::size_t kLongestHint = 1024;
constexpr std::string_view kBlanks = " \t\r\n";

tl::unexpected<Error> Malformed(std::string what) {
  return Fail(ErrorCode::kMalformed, std::move(what));
}

void SetVariable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&name](const std::string& variable) { return variable.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

/// Returns what a plugin printed, which is not blank, as JSON: kubectl takes YAML too.
Result<std::string> ToJson(std::string text) {
  if (!WithinDepth(text)) return Malformed("it printed no ExecCredential: it nests too deeply");
  if (text[text.find_first_not_of(kBlanks)] != '{') {
    const tl::expected<YamlValue, YamlFault> yaml = ParseYaml(text);
    if (!yaml) return Malformed("it printed no ExecCredential: neither JSON nor YAML");
    text = YamlToJson(*yaml);
  }
  if (!WithinDepth(text)) return Malformed("it printed no ExecCredential: it nests too deeply");
  return text;
}

std::string WordsFor(const ProgramResult& result) {
  std::string words = result.signal != 0 ? "it was ended by signal " + std::to_string(result.signal)
                                         : "it ended with code " + std::to_string(result.exit_code);
  if (!result.last_words.empty()) words += ": " + result.last_words;
  return words;
}

/// Every failure of a plugin: its name first, its install hint last where it is missing.
tl::unexpected<Error> PluginError(const ExecPlugin& plugin, Error error) {
  const bool missing = error.code == ErrorCode::kNotFound;
  if (error.code != ErrorCode::kStopped) error.code = ErrorCode::kUnavailable;
  if (missing && !plugin.install_hint.empty()) error.message += ": " + OneLine(plugin.install_hint, kLongestHint);
  return Annotate(std::move(error), "exec plugin '" + plugin.command + "'");
}

}  // namespace

std::vector<std::string> EnvironmentOf(const ExecPlugin& plugin) {
  std::vector<std::string> environment = EnvironmentList();
  for (const auto& [name, value] : plugin.environment) SetVariable(environment, name, value);
  std::sort(environment.begin(), environment.end());
  return environment;
}

bool MayAsk(const ExecPlugin& plugin) {
  return plugin.interaction != ExecPlugin::Interaction::kNever && ::isatty(STDIN_FILENO) == 1;
}

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
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  if (text.find_first_not_of(kBlanks) == std::string::npos) return Malformed("it printed nothing");
  Result<std::string> json = ToJson(std::move(text));
  if (!json) return tl::unexpected<Error>(std::move(json).error());
  JsonDocument document;
  // The parser's words have no part of the text in them.
  if (Status parsed = document.Parse(*json); !parsed) return Malformed("it printed no ExecCredential: not JSON");
  const JsonReader root = document.root();
  if (root.OptionalString("kind") != "ExecCredential" || root.OptionalString("apiVersion") != api_version) {
    return Malformed("it printed no ExecCredential of " + api_version);
  }
  const JsonReader status = root.Object("status");
  Credential credential{.token = status.OptionalString("token")};
  std::string certificate = status.OptionalString("clientCertificateData");
  std::string key = status.OptionalString("clientKeyData");
  const std::optional<std::string> expiry = status.StringIfPresent("expirationTimestamp");
  if (!document.status()) return Malformed("its ExecCredential is not right: " + document.status().error().message);
  if (expiry) {
    const Result<Time> time = ParseTime(*expiry);
    if (!time) return Malformed("its ExecCredential is not right: status.expirationTimestamp is no time");
    credential.expires_at = *time;
  }
  if (certificate.empty() != key.empty()) {
    return Malformed("its ExecCredential has a certificate without its key, or the other way round");
  }
  if (credential.token.empty() && certificate.empty()) {
    return Malformed("its ExecCredential has neither a token nor a certificate");
  }
  if (!IsHeaderValue(credential.token)) {
    return Malformed("its ExecCredential is not right: status.token " + std::string(kNoHeaderValue));
  }
  if (!certificate.empty()) {
    Result<ClientCertificate> client = ClientCertificate::Read(std::move(certificate), std::move(key));
    if (!client) return Malformed("its ExecCredential is not right: " + client.error().message);
    credential.client_certificate = *std::move(client);
  }
  return credential;
}

Result<Credential> RunExecPlugin(const ExecPlugin& plugin, const ExecLimits& limits) {
  const bool interactive = MayAsk(plugin);
  if (plugin.interaction == ExecPlugin::Interaction::kAlways && !interactive) {
    return PluginError(plugin, {ErrorCode::kUnavailable,
                                "it must ask somebody (interactiveMode: Always), and standard input is no terminal"});
  }
  ProgramCall call{.arguments = {plugin.command},
                   .environment = EnvironmentOf(plugin),
                   .interactive = interactive,
                   .time_limit = interactive ? kTimeForPeople : limits.time_limit,
                   .stop_requested = limits.stop_requested};
  call.arguments.insert(call.arguments.end(), plugin.arguments.begin(), plugin.arguments.end());
  SetVariable(call.environment, "KUBERNETES_EXEC_INFO", EncodeExecInfo(plugin, interactive));
  Result<ProgramResult> result = RunProgram(call);
  if (!result) return PluginError(plugin, std::move(result).error());
  if (!result->succeeded()) return PluginError(plugin, {ErrorCode::kUnavailable, WordsFor(*result)});
  Result<Credential> credential = DecodeExecCredential(std::move(result->output), plugin.api_version);
  if (!credential) return PluginError(plugin, std::move(credential).error());
  return credential;
}

}  // namespace cnpa
