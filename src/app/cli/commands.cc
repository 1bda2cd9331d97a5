// SPDX-License-Identifier: Apache-2.0
#include "app/cli/commands.h"

#include <array>

#include "app/cli/flags.h"

namespace cnpa {
namespace {

constexpr std::string_view kShortHelp =
    R"(cnpa-op: a Kubernetes controller without a daemon. It reads TeamSpaces and
namespaces, works out which namespace, quota, finalizer and status should be
there, writes only the differences, and exits.

  cnpa-op crd | kubectl apply -f -    install the TeamSpace CRD
  cnpa-op rbac | kubectl apply -f -   give user cnpa-op the rights it needs
  cnpa-op check                       can it work here? what is to be mended?
  cnpa-op reconcile --diff            what a pass would change, and why
  cnpa-op reconcile --once            one pass, then exit
  cnpa-op reconcile                   a pass every 3 s, until it is told to end
  cnpa-op get                         all team spaces: usage, and how they are
  cnpa-op explain NAME                one: what is wrong, who did it, what now
  cnpa-op unit                        print the systemd unit for this loop
  cnpa-op version                     its version, and those of its libraries

Flags and examples of a command: cnpa-op help COMMAND, or --help behind it.
)";

constexpr std::string_view kReconcileFooter = R"(
Without --once or --diff it is a loop: a pass, a pause of --interval, for ever. Each pass is a process of its own, which is
ended and named when it hangs. A failure is told when it begins and when it is over. Passes that can't read the cluster come
at longer intervals, up to 30s. SIGTERM and SIGINT end it (exit code 0), SIGHUP has it read its configuration anew, SIGUSR1
has it say how it is. With --linger a pass that had nothing to write sleeps on watches, so that what is changed is repaired
at once, and the lists of all those passes that had nothing to do are spared.

What a pass did goes to standard error, a line for each change; what --diff and -o json print goes to standard output. On a
terminal the loop says first which cluster it serves and how often, and begins each line with the time; elsewhere, such as
in the journal, it is silent as long as there is nothing to do.

Each flag but --once, --diff, --server, --output and --config has a variable CNPA_OP_<FLAG> and a key in the configuration
file. A flag beats its variable, a variable the file, the file the default. Flags may stand before or after the command.

Exit codes:
  0         converged, or brought to it; --diff: no differences
  1         at least one team space is not; --diff: there are differences
  2         wrong usage or configuration; nothing was asked of the cluster
  3         the cluster could not be read; nothing was written
  130, 143  ended by SIGINT, SIGTERM; what was done is reported
The loop has three: 0 after a signal, 2 for a wrong configuration at its start, 3 to be started with new credentials.

Examples:
  cnpa-op reconcile --interval 10s
  cnpa-op reconcile --linger 5m
  cnpa-op reconcile --diff --kubeconfig ~/.kube/config
  cnpa-op reconcile --diff --server --only alpha
  cnpa-op reconcile --once --only alpha,beta
  cnpa-op reconcile --once 2>&1 | tee log
  cnpa-op reconcile --diff -o json | jq -r '.changes[].fields[].lastWriter.manager'
  CNPA_OP_TIMEOUT=10s cnpa-op reconcile --once -v)";

constexpr std::string_view kGetFooter = R"(
Names of team spaces may follow, also as -o name prints them; without any, all are shown. PODS and CPU are what is used of what the quota allows.
REASON is that of the Ready condition, Deleting while a team space is being deleted, Drift where what it has was changed or
deleted since, Pending for a spec that is not applied yet, or why a pass would refuse it. -o wide adds OBSERVED, the generation
that was applied of the current one, DIFFERENCES, how many changes a pass would make, and the message of what is not ready. Where only the
team spaces may be listed, what those say is shown, with a warning.

Exit codes:
  0         they are shown, or there are none
  1         there is no team space of a name that was given; the others are shown
  2         wrong usage or configuration, or the kubeconfig can't be used
  3         the cluster could not be read
  130, 143  ended by SIGINT, SIGTERM

Examples:
  cnpa-op get
  cnpa-op get alpha beta -o wide
  cnpa-op get -o json | jq -r '.items[] | select(.ready | not) | .name')";

constexpr std::string_view kExplainFooter = R"(
The name of one team space follows. First it says how that stands and what the next pass makes of it, in the words of
reconcile --diff; for one that is being deleted, what holds it. Then each object with each field that cnpa-op owns: what is
found, what is wanted (= means the same), and who set it when, as far as the API server keeps that. Last the archives of that
name, also when the team space is gone. It writes nothing, and takes no right that a pass does not have.

Exit codes:
  0         it is shown
  1         there is no team space of that name; what is left of one is shown
  2         wrong usage or configuration, or the kubeconfig can't be used
  3         the cluster could not be read
  130, 143  ended by SIGINT, SIGTERM

Examples:
  cnpa-op explain alpha
  cnpa-op explain alpha --archive /srv/archive
  cnpa-op explain alpha -o json | jq -r '.objects[].fields[] | select(.differs) | .path')";

constexpr std::string_view kCheckFooter = R"(
Looks at the kubeconfig, the server, who we are there, the CRD, each right, the archive folder and the clocks, and
writes nothing. Each line begins with ok, warn, FAIL, or - for what could not be looked at since something before it
failed, and ends with what to do about it. Variables and the configuration file count as for reconcile.

Exit codes:
  0         cnpa-op can work here; there may be warnings
  1         at least one line says FAIL
  2         wrong usage or configuration, or the kubeconfig can't be used
  3         the server can't be reached, is not ready, or refuses us
  130, 143  ended by SIGINT, SIGTERM

Examples:
  cnpa-op check
  cnpa-op check --config-only
  cnpa-op check --kubeconfig /etc/cnpa-op/kubeconfig --archive /srv/archive
  cnpa-op check -o json | jq -r '.checks[] | select(.status == "fail") | .remedy')";

constexpr std::string_view kCrdFooter = R"(
Applying it again changes nothing; over an older version it adds what is missing there.

Examples:
  cnpa-op crd | kubectl apply -f -
  cnpa-op crd | kubectl diff -f -)";

constexpr std::string_view kRbacFooter = R"(
A user is who a client certificate says in its CN, or a token's owner; a service account is given as NAMESPACE:NAME. Each
right is one that a pass uses: where one is missing, cnpa-op names it.

Examples:
  cnpa-op rbac | kubectl apply -f -
  cnpa-op rbac --user ann | kubectl apply -f -
  cnpa-op rbac --serviceaccount platform:cnpa-op | kubectl apply -f -)";

constexpr std::string_view kUnitFooter = R"(
The unit starts this very program: by its name where systemd looks for programs, else by its path. It serves the k3s of its machine, with a user and a sandbox of its own. For another cluster add a drop-in, with:
systemctl edit cnpa-op

Examples:
  cnpa-op unit > /etc/systemd/system/cnpa-op.service
  cnpa-op unit | less)";

constexpr std::string_view kVersionFooter = R"(
Examples:
  cnpa-op version
  cnpa-op version -o json | jq -r .version)";

constexpr std::string_view kHelpFooter = R"(
Without a command, a list of them.

Examples:
  cnpa-op help
  cnpa-op help reconcile)";

constexpr std::array<CommandInfo, 9> kCommands{{
    {Command::kReconcile, "reconcile", kForReconcile | kForAll, true, "make the cluster what its team spaces ask for",
     kReconcileFooter},
    {Command::kGet, "get", kForGet | kForAll, true, "show the team spaces, all or those that are named", kGetFooter,
     NamesTaken::kAny},
    {Command::kExplain, "explain", kForExplain | kForAll, true,
     "show one team space: what is there, what should be, and who set it", kExplainFooter, NamesTaken::kOne},
    {Command::kCheck, "check", kForCheck | kForAll, true, "say whether cnpa-op can work here, and what to mend",
     kCheckFooter},
    {Command::kCrd, "crd", kForAll, false, "print the TeamSpace CRD", kCrdFooter},
    {Command::kRbac, "rbac", kForRbac | kForAll, false, "print the least rights that cnpa-op needs", kRbacFooter},
    {Command::kUnit, "unit", kForAll, false, "print the systemd unit", kUnitFooter},
    {Command::kVersion, "version", kForVersion | kForAll, false, "print the version", kVersionFooter},
    {Command::kHelp, "help", kForAll, false, "print the help of a command", kHelpFooter, NamesTaken::kCommand},
}};

}  // namespace

std::span<const CommandInfo> Commands() {
  return kCommands;
}

std::string_view ShortHelp() {
  return kShortHelp;
}

}  // namespace cnpa
