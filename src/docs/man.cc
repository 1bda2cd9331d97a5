// SPDX-License-Identifier: Apache-2.0
#include "docs/man.h"

#include <array>

#include <fmt/core.h>

#include "docs/config.h"
#include "docs/describe.h"
#include "docs/roff.h"

namespace cnpa {
namespace {

struct Entry {
  std::string_view name;
  std::string_view text;
};

constexpr std::array kMoreVariables{
    Entry{"CNPA_OP_CONFIG", "The configuration file, as --config."},
    Entry{"KUBECONFIG", "A list of kubeconfigs, merged by kubectl's rules."},
    Entry{"HTTPS_PROXY, NO_PROXY",
          "The proxy to the server, where the kubeconfig names none. Loopback is never proxied."},
    Entry{"NO_COLOR", "Set to anything: no colors where --color is auto."},
    Entry{"CREDENTIALS_DIRECTORY, STATE_DIRECTORY, CACHE_DIRECTORY, RUNTIME_DIRECTORY",
          "Set by systemd: a kubeconfig, the archive, the credentials of exec plugins and the repairs of the last "
          "minutes are looked for and kept there."},
    Entry{"XDG_STATE_HOME, XDG_CACHE_HOME, XDG_RUNTIME_DIR", "The same, for a user."},
};

constexpr std::array kFiles{
    Entry{kDefaultConfig, "The configuration file; see cnpa-op-config(5)."},
    Entry{"/etc/cnpa-op/NAME.kubeconfig, /etc/cnpa-op/NAME.env",
          "The cluster that cnpa-op@NAME.service serves, and variables for it."},
    Entry{"~/.kube/config, /etc/rancher/k3s/k3s.yaml", "Kubeconfigs that are looked for when none is named."},
    Entry{"/var/lib/cnpa-op/archive",
          "What deleted team spaces leave behind, one file each. Under systemd it is kept in "
          "/var/lib/private/cnpa-op/archive, to which this leads. Nothing of this package ever removes it."},
    Entry{"~/.local/state/cnpa-op/archive", "The same, for a user other than root."},
    Entry{"/run/cnpa-op/memory.json",
          "The repairs and failures of the last passes: by them a fight with another writer is recognised, and what "
          "failed last goes last. May be removed."},
    Entry{"~/.cache/cnpa-op/credentials", "What exec plugins printed, for as long as it is valid."},
};

/// The first paragraph of the short help, without the name before it.
std::string Summary() {
  const std::string text = ReadFooter(ShortHelp()).paragraphs.front();
  return text.substr(text.find(": ") + 2);
}

void AddSynopsis(Roff& page) {
  page.Section("SYNOPSIS");
  for (const CommandInfo& command : Commands()) {
    const std::string names = command.names == NamesTaken::kAny       ? fmt::format(" [{}...]", Italic("NAME"))
                              : command.names == NamesTaken::kOne     ? fmt::format(" {}", Italic("NAME"))
                              : command.names == NamesTaken::kCommand ? fmt::format(" [{}]", Italic("COMMAND"))
                                                                      : "";
    page.Line(fmt::format("{} [{}...]{}", Bold(std::string("cnpa-op ") + command.name), Italic("FLAG"), names));
    page.Break();
  }
  page.Line(fmt::format("{} [{}] {}", Bold("cnpa-op"), Italic("COMMAND"), Bold("--help")));
}

void AddDescription(Roff& page) {
  page.Section("DESCRIPTION");
  page.Paragraph("cnpa-op is " + Summary());
  page.Paragraph(
      "For each TeamSpace NAME there is the namespace team-NAME with the ResourceQuota team-quota, whatever anybody "
      "changes by hand. Deleting the TeamSpace first leaves an archive file behind, then the namespace goes. Results "
      "go to standard output, everything else to standard error; a pass that changes nothing says nothing.");
}

void AddCommands(Roff& page) {
  page.Section("COMMANDS");
  for (const CommandInfo& command : Commands()) {
    page.Item(Bold(command.name), fmt::format("{}.", command.help));
    for (const std::string& paragraph : ReadFooter(command.footer).paragraphs) page.ItemParagraph(paragraph);
  }
}

std::string FlagHead(const Flag& flag) {
  std::string head;
  if (!flag.letter.empty()) head = Bold(fmt::format("-{}", flag.letter)) + ", ";
  head += Bold(fmt::format("--{}", flag.name));
  if (!flag.value.empty()) head += " " + Italic(flag.value);
  return head;
}

/// What holds for a flag beside its meaning: "Default: 60s. Variable: CNPA_OP_TIMEOUT. For reconcile, check."
std::string FlagFacts(const Flag& flag) {
  std::string facts;
  if (!flag.value.empty() && !flag.fallback.empty()) facts += fmt::format("Default: {}. ", flag.fallback);
  if (!flag.command_line_only) facts += fmt::format("Variable: {}. ", EnvironmentName(flag));
  const std::vector<std::string> commands = CommandsWith(flag);
  if (commands.size() == Commands().size()) return facts + "For all commands.";
  return facts + fmt::format("For {}.", Join(commands, ", "));
}

void AddOptions(Roff& page) {
  page.Section("OPTIONS");
  page.Paragraph(
      "A flag may stand before or after its command; what follows -- is a name. A flag beats its variable, a variable "
      "the configuration file, the file the default.");
  for (const Flag& flag : AllFlags()) {
    page.Item(FlagHead(flag), fmt::format("{}.", flag.help));
    page.ItemParagraph(FlagFacts(flag));
  }
}

void AddExitStatus(Roff& page) {
  page.Section("EXIT STATUS");
  for (const CommandInfo& command : Commands()) {
    const Footer footer = ReadFooter(command.footer);
    if (footer.exit_codes.empty()) continue;
    page.Subsection(std::string("cnpa-op ") + command.name);
    for (const auto& [code, meaning] : footer.exit_codes) page.Item(Bold(code), meaning + ".");
    for (const std::string& note : footer.exit_notes) page.Paragraph(note);
  }
  page.Subsection("The other commands");
  page.Item(Bold("0"), "it was printed.");
  page.Item(Bold("2"), "wrong usage.");
}

void AddEnvironment(Roff& page) {
  page.Section("ENVIRONMENT");
  page.Paragraph("A variable CNPA_OP_... that is empty is refused; one that no flag has is ignored with a warning.");
  for (const Flag& key : Keys()) {
    page.Item(Bold(EnvironmentName(key)), fmt::format("As --{}{}.", key.name,
                                                      key.kind == FlagKind::kSwitch ? ": true or false"
                                                      : key.kind == FlagKind::kList ? ": a list with commas"
                                                                                    : ""));
  }
  for (const Entry& entry : kMoreVariables) page.Item(Bold(entry.name), entry.text);
}

void AddFiles(Roff& page) {
  page.Section("FILES");
  for (const Entry& entry : kFiles) page.Item(Italic(entry.name), entry.text);
}

void AddExamples(Roff& page) {
  page.Section("EXAMPLES");
  page.Literal(
      "cnpa-op crd | kubectl apply -f -\n"
      "cnpa-op rbac | kubectl apply -f -\n"
      "systemctl enable --now cnpa-op.service\n");
  for (const CommandInfo& command : Commands()) {
    const std::vector<std::string> examples = ReadFooter(command.footer).examples;
    if (!examples.empty()) page.Literal(Join(examples, "\n") + "\n");
  }
}

}  // namespace

std::string CommandPage(const Edition& edition) {
  Roff page("cnpa-op", 1, edition.date, "cnpa-op " + edition.version, "User Commands");
  page.Section("NAME");
  page.Line(Escape("cnpa-op - a Kubernetes controller without a daemon"));
  AddSynopsis(page);
  AddDescription(page);
  AddCommands(page);
  AddOptions(page);
  AddExitStatus(page);
  AddEnvironment(page);
  AddFiles(page);
  AddExamples(page);
  page.Section("SEE ALSO");
  page.Paragraph("cnpa-op-config(5), kubectl(1), systemctl(1), systemd.exec(5)");
  return page.text();
}

std::string ConfigPage(const Edition& edition) {
  Roff page("cnpa-op-config", 5, edition.date, "cnpa-op " + edition.version, "File Formats");
  page.Section("NAME");
  page.Line(Escape("cnpa-op-config - configuration of cnpa-op"));
  page.Section("SYNOPSIS");
  page.Line(Italic(kDefaultConfig));
  page.Section("DESCRIPTION");
  page.Paragraph(
      "A YAML map of keys, which are flags of cnpa-op(1), to values. The file is read if it is there; --config or "
      "CNPA_OP_CONFIG name another one, which then must be there. An unknown key, a wrong type and a wrong value are "
      "refused with the line that they stand in and what would be right, and nothing is asked of the cluster. A flag "
      "and its variable beat the file. What holds for one command only is passed over by the others.");
  page.Paragraph(
      "Durations are written as Go and systemd have them: 500ms, 90s, 1.5h, 1m30s, 5min, 1h 30min, 2d. Lists are "
      "written as [alpha, beta] or with a line for each; an empty one is refused.");
  page.Section("KEYS");
  for (const Flag& key : Keys()) {
    page.Item(Bold(key.name) + Escape(fmt::format(" ({})", TypeOf(key))), fmt::format("{}.", key.help));
    page.ItemParagraph(key.fallback.empty() ? "There is no fixed default." : fmt::format("Default: {}.", key.fallback));
  }
  page.Section("FILES");
  page.Item(Italic(kDefaultConfig), "The Debian package brings one in which every key is commented out.");
  page.Section("EXAMPLES");
  page.Literal("kubeconfig: /etc/cnpa-op/kubeconfig\narchive: /srv/archive\ntimeout: 2m\nonly: [alpha, beta]\n");
  page.Paragraph("A file with every key, each with its default or with a value that may be meant:");
  page.Literal(ConfigLines(""));
  page.Section("SEE ALSO");
  page.Paragraph("cnpa-op(1)");
  return page.text();
}

}  // namespace cnpa
