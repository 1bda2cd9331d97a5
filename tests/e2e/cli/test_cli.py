# SPDX-License-Identifier: Apache-2.0
"""The command line: help, wrong usage, configuration, and what the binary prints of itself."""

import fcntl
import json
import os
import re
import struct
import termios

import jsonschema
import pytest

from harness import BINARY, FINALIZER, REPOSITORY, TEAMS, run_binary, said


@pytest.fixture
def cli(tmp_path, binary):
    """A function that runs the binary without any cluster, and the folder it runs in as `cli.home`."""
    def run(*arguments, **options):
        return run_binary(arguments, tmp_path, **options)

    run.home = tmp_path
    return run


@pytest.fixture
def configured(cli):
    """A function that runs `reconcile --diff` with a configuration file of the given text."""
    def run(text, *flags, **options):
        (cli.home / "config.yaml").write_text(text)
        return cli("reconcile", "--diff", "--config", "config.yaml", *flags, **options)

    return run


# Help ---------------------------------------------------------------------------------------------------------------


def test_binary_alone_prints_a_short_help_with_examples(cli):
    result = cli()
    assert (result.code, result.stderr) == (0, "")
    assert "cnpa-op reconcile --once" in result.stdout
    assert "cnpa-op crd | kubectl apply -f -" in result.stdout
    assert len(result.stdout.splitlines()) < 20


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["reconcile", "--help"], ["check", "--help"], ["crd", "-h"],
                                       ["rbac", "--help"], ["version", "--help"]], ids=" ".join)
def test_help_goes_to_standard_output_and_ends_with_zero(cli, arguments):
    result = cli(*arguments)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout


def test_help_of_reconcile_tells_flags_and_exit_codes(cli):
    text = cli("reconcile", "--help").stdout
    for flag in ("--once", "--diff", "--server", "--kubeconfig", "--context", "--archive", "--timeout",
                 "--request-timeout", "--concurrency", "--allow-crd-deletion", "--only", "--log-level",
                 "--log-format", "--color", "--config"):
        assert flag in text
    for code in ("0", "1", "2", "3", "130, 143"):
        assert said(rf"^ +{code} +\S", text)


@pytest.mark.parametrize("arguments", [[], ["--help"], ["help"], ["help", "get"], ["get", "--help"], ["version"], ["-V"],
                                       ["crd"], ["rbac"], ["unit"]], ids=" ".join)
def test_a_full_disk_is_said_whatever_is_printed(cli, arguments):
    with open("/dev/full", "w") as full:
        result = cli(*arguments, stdout=full)
    assert result.code == 2
    assert "cannot write to standard output: no space left on device" in result.lines[-1]


def test_help_and_version_can_be_asked_for_as_elsewhere(cli):
    for command in ("reconcile", "get", "crd", "help"):
        assert cli("help", command).stdout == cli(command, "--help").stdout == cli("-h", command).stdout
    assert cli("--version").stdout == cli("-V").stdout == cli("version").stdout == cli("get", "--version").stdout


# Wrong usage --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments, words", [
    (["recncile"], "'recncile'.*'reconcile'"),
    (["--verson"], "'--verson'"),
    (["reconcile", "--onec"], "'--onec'.*'--once'"),
    (["reconcile", "--kubeconfg", "x"], "'--kubeconfg'.*'--kubeconfig'"),
    (["reconcile", "--once", "extra"], "'extra'"),
    (["chek"], "'chek'.*'check'"),
    (["check", "extra"], "'extra'"),
    (["check", "-o", "yaml"], "-?-output: 'yaml'.*json"),
    (["reconcile", "--once", "--timeout"], "--timeout"),
    (["reconcile", "--once", "--timeout", "5"], "--timeout: '5'.*3s"),
    (["reconcile", "--once", "--timeout", "1ms"], "--timeout: '1ms'"),
    (["reconcile", "--once", "--request-timeout=-3s"], "--request-timeout: '-3s'"),
    (["reconcile", "--once", "--concurrency", "0"], "--concurrency: '0'.*1 to 256"),
    (["reconcile", "--once", "--concurrency", "many"], "--concurrency: 'many'"),
    (["reconcile", "--once", "--log-level", "loud"], "--log-level: 'loud'.*debug"),
    (["reconcile", "--once", "--log-format", "xml"], "--log-format: 'xml'.*json"),
    (["reconcile", "--once", "--color", "blue"], "--color: 'blue'.*never"),
    (["reconcile", "--once", "--archive", ""], "--archive"),
    (["reconcile", "--once", "--kubeconfig", ""], "--kubeconfig"),
    (["reconcile", "--once", "--only", ""], "--only"),
    (["rbac", "--serviceaccount", "name"], "--serviceaccount: 'name'.*NAMESPACE:NAME"),
    (["rbac", "--user", ""], "--user"),
    (["version", "-o", "xml"], "-?-output: 'xml'.*json"),
    (["crd", "--once"], "'--once'"),
    (["nonsense", "reconcile", "--once"], "'nonsense'"),
    (["--nonsense", "reconcile", "--once"], "'--nonsense'"),
    (["reconcile", "get"], "'get'"),
    (["version", "get"], "'get'"),
    (["diff"], "'diff'.*'cnpa-op reconcile --diff'"),
    (["reconcile", "--dry-run", "--once"], "'--dry-run'.*'--diff'"),
    (["reconcile", "--once", "--archive", "--diff"], "--archive needs a value: DIR"),
    (["--context=", "reconcile", "--once"], "--context: must not be empty"),
    (["rbac", "--serviceaccount", "x:y:z"], "'x:y:z'"),
    (["rbac", "--user", "x", "--serviceaccount", "y:z"], "keep one"),
], ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "")
def test_wrong_usage_is_two_and_one_line_that_says_what_would_be_right(cli, arguments, words):
    result = cli(*arguments)
    assert result.code == 2
    assert result.only_line.startswith("cnpa-op: ")
    assert re.search(words, result.only_line)


def test_wrong_usage_asks_nothing_of_the_cluster(cluster):
    cluster.create_team()
    for wrong in (["--concurrency=0"], ["--dry-run"], ["--archive", "--diff"], ["--only", ""], ["get"], ["--", "--diff"]):
        result = cluster.once(*wrong)
        assert (result.code, result.requests) == (2, []), wrong


def test_a_flag_before_the_command_counts(cluster):
    name = cluster.converged_team(pods=4)
    cluster.patch_quota(name, {"pods": "99"})
    before = ["--kubeconfig", cluster.plane.user_kubeconfig, "--archive", cluster.archive]
    for line in (["--diff", "reconcile", "--once"], ["-o", "json", "--diff", "reconcile"]):
        result = cluster.run(*before, *line)
        assert (result.code, result.writes) == (1, []), line
    assert cluster.hard(name)["pods"] == "99"
    elsewhere = run_binary(["--kubeconfig", "elsewhere", "get"], cluster.home,
                           env={"KUBECONFIG": str(cluster.plane.user_kubeconfig)})
    assert elsewhere.code == 2
    assert "'elsewhere'" in elsewhere.only_line


def test_unit_starts_the_program_that_prints_it(cli):
    result = cli("unit")
    assert result.code == 0
    assert said(rf"^ExecStart={re.escape(str(BINARY))} reconcile$", result.stdout)


def test_a_variable_that_nobody_reads_is_a_warning(configured):
    result = configured("", "--kubeconfig", "nowhere", env={"CNPA_OP_INTERVALL": "5s"})
    assert result.code == 2
    assert result.lines[0] == "cnpa-op: warning: ignoring CNPA_OP_INTERVALL: did you mean 'CNPA_OP_INTERVAL'?"


def test_control_characters_of_an_argument_do_not_reach_the_terminal(cli):
    result = cli("reconcile", "--once", "\x1b[31mred\n")
    assert result.code == 2
    assert "\x1b" not in result.stderr
    assert len(result.lines) == 1


# Configuration file -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text, line, words", [
    ("timeot: 5s\n", 1, "unknown key 'timeot'.*'timeout'"),
    ("# a comment\n\nwhatever: 1\n", 3, "unknown key 'whatever'"),
    ("archive: a\ntimeout: soon\n", 2, "timeout: 'soon' is not a duration"),
    ("concurrency: 0\n", 1, "concurrency: '0'"),
    ("concurrency: [1, 2]\n", 1, "concurrency: takes one value"),
    ("allow-crd-deletion: yes\n", 1, "allow-crd-deletion: 'yes' is neither true nor false"),
    ("log-level: loud\n", 1, "log-level: 'loud'"),
    ("archive:\n  nested: map\n", 1, "archive"),
    ("archive:\n", 1, "archive"),
    ("timeout: 5s\ntimeout: 6s\n", 2, "twice"),
    ("- timeout\n", 1, "not a map"),
    ("timeout: [5s\n", None, "not YAML"),
    ("once: true\n", 1, "'once'"),
    ("diff: true\n", 1, "'diff'"),
    ("only: [[a]]\n", 1, "only: a list in a list"),
    ("only: []\n", 1, "only: an empty list"),
    ("only: [null]\n", 1, "only: an item without a value"),
    ("interval: [3s]\n", 1, "interval: takes one value"),
], ids=lambda value: repr(value)[:30] if isinstance(value, str) and "\n" in value else "")
def test_configuration_that_is_wrong_is_told_with_file_and_line_and_what_would_be_right(configured, text, line, words):
    result = configured(text)
    assert result.code == 2
    place = rf"config\.yaml:{line if line else chr(92) + 'd+'}: "
    assert re.search(rf"^cnpa-op: {place}.*{words}", result.only_line)


def test_configuration_file_that_is_named_but_missing_is_two(cli):
    result = cli("reconcile", "--diff", "--config", "nowhere.yaml")
    assert result.code == 2
    assert "nowhere.yaml" in result.only_line


def test_empty_configuration_file_sets_nothing(configured):
    result = configured("", "--kubeconfig", "nowhere")
    assert result.code == 2
    assert "nowhere" in result.only_line  # it came as far as the kubeconfig


def test_configuration_file_sets_flags(cluster):
    alpha, beta, gamma = (cluster.create_team(finalizers=[FINALIZER]) for _ in range(3))
    (cluster.home / "config.yaml").write_text(
        f"kubeconfig: {cluster.plane.user_kubeconfig}\narchive: {cluster.archive}\nonly: [{alpha}, {beta}]\n")
    cluster.api("DELETE", TEAMS)
    result = cluster.run("reconcile", "--once", "--config", cluster.home / "config.yaml", kubeconfig=False,
                         archive=False)
    assert result.code == 0, result
    assert cluster.archives() == sorted([f"{alpha}.json", f"{beta}.json"])
    assert cluster.team(gamma)


def test_variable_names_the_configuration_file(cli):
    (cli.home / "mine.yaml").write_text("timeot: 1s\n")
    result = cli("reconcile", "--diff", env={"CNPA_OP_CONFIG": "mine.yaml"})
    assert result.code == 2
    assert "mine.yaml:1" in result.only_line


@pytest.mark.parametrize("file, variable, flag, winner", [
    ("from-file", None, None, "from-file"),
    ("from-file", "from-variable", None, "from-variable"),
    ("from-file", "from-variable", "from-flag", "from-flag"),
    (None, "from-variable", None, "from-variable"),
    (None, "from-variable", "from-flag", "from-flag"),
    ("from-file", None, "from-flag", "from-flag"),
])
def test_flag_beats_variable_beats_file(configured, file, variable, flag, winner):
    result = configured(f"kubeconfig: {file}\n" if file else "",
                        *(["--kubeconfig", flag] if flag else []),
                        env={"CNPA_OP_KUBECONFIG": variable} if variable else {})
    assert result.code == 2
    assert f"'{winner}'" in result.only_line


@pytest.mark.parametrize("variable, value, words", [
    ("CNPA_OP_TIMEOUT", "soon", "CNPA_OP_TIMEOUT: 'soon'"),
    ("CNPA_OP_CONCURRENCY", "0", "CNPA_OP_CONCURRENCY: '0'"),
    ("CNPA_OP_ALLOW_CRD_DELETION", "maybe", "CNPA_OP_ALLOW_CRD_DELETION: 'maybe'"),
    ("CNPA_OP_LOG_LEVEL", "loud", "CNPA_OP_LOG_LEVEL: 'loud'"),
    ("CNPA_OP_ONLY", "", "CNPA_OP_ONLY: must not be empty"),
    ("CNPA_OP_CONTEXT", "", "CNPA_OP_CONTEXT: must not be empty"),
])
def test_wrong_variable_is_told_by_its_name(cli, variable, value, words):
    result = cli("reconcile", "--once", env={variable: value})
    assert result.code == 2
    assert words in result.only_line


def test_list_in_a_variable_is_separated_by_commas(cluster):
    names = [cluster.create_team() for _ in range(3)]
    assert cluster.once(env={"CNPA_OP_ONLY": ",".join(names[:2])}).code == 0
    assert [bool(cluster.team(name).get("status")) for name in names] == [True, True, False]


def test_once_and_diff_have_no_variable(cluster):
    cluster.create_team()
    result = cluster.diff(env={"CNPA_OP_ONCE": "true"})
    assert (result.code, result.writes) == (1, [])


# Output -------------------------------------------------------------------------------------------------------------


def test_version_is_one_line_with_libcurl_and_its_tls_library(cli):
    result = cli("version")
    assert result.code == 0
    assert re.fullmatch(r"cnpa-op \d+\.\d+\.\d+ \(libcurl [\d.]+, \S+\)\n", result.stdout)


def test_version_as_json_is_one_document(cli):
    version = json.loads(cli("version", "-o", "json").stdout)
    jsonschema.validate(version, json.loads((REPOSITORY / "docs" / "version.schema.json").read_text()))
    assert re.fullmatch(r"\d+\.\d+\.\d+", version["libraries"]["libcurl"])
    assert version["libraries"]["OpenSSL"].startswith("3.")


def test_debug_shows_each_request_and_no_secret(cluster):
    cluster.create_team()
    result = cluster.once("-v", kubeconfig=cluster.plane.user_kubeconfig)
    assert said(rf"GET {TEAMS}\S* -> 200, \d+ bytes, \d+ ms", result.lines)
    assert said(r"POST /api/v1/namespaces\S* -> 201", result.lines)
    assert not said("Bearer|PRIVATE KEY|Authorization", result.lines)


def test_log_level_error_says_nothing_of_a_change(cluster):
    cluster.create_team()
    result = cluster.once("--log-level=error")
    assert (result.code, result.stderr) == (0, "")


def test_log_format_json_is_one_object_a_line(cluster):
    name = cluster.create_team()
    result = cluster.once("--log-format=json")
    messages = [json.loads(line) for line in result.lines]
    assert said(f"^[+] Namespace/team-{name} TeamSpace {name} has none$", [message["msg"] for message in messages])
    assert all(message["level"] and message["time"].endswith("Z") for message in messages)
    cluster.patch_quota(name, {"pods": "99"})
    repaired = json.loads(cluster.once("--log-format=json").lines[0])
    quota = f"ResourceQuota/team-{name}/team-quota"
    assert repaired["msg"].startswith(f"~ {quota} pods 99 -> 4: was changed by ")
    assert {key: value for key, value in repaired.items() if key not in ("time", "msg")} == {
        "level": "info", "teamSpace": name, "object": quota, "reason": "Differs", "verb": "update",
        "field": "spec.hard.pods", "from": "99", "to": "4"}


def test_log_format_journal_begins_each_line_with_its_priority(cluster):
    cluster.create_team()
    result = cluster.once("--log-format=journal")
    assert result.lines and all(re.match(r"<6>", line) for line in result.lines)


@pytest.mark.parametrize("flags, env, colored", [
    ([], {}, False),
    (["--color=always"], {}, True),
    (["--color=never"], {}, False),
    (["--color=always"], {"NO_COLOR": "1"}, True),
    ([], {"CNPA_OP_COLOR": "always"}, True),
])
def test_color_is_used_only_where_it_was_asked_for_or_on_a_terminal(cluster, flags, env, colored):
    cluster.create_team()
    assert ("\x1b[" in cluster.diff(*flags, env=env).stdout) == colored


def diff_on_terminal(cluster, columns, *flags, env=None):
    """Runs --diff on a terminal of so many columns, and returns what it shows there."""
    main, terminal = os.openpty()
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        result = cluster.diff(*flags, env={"TERM": "xterm"} | (env or {}), stdout=terminal)
        text = os.read(main, 65536).decode()
    finally:
        os.close(main)
        os.close(terminal)
    assert result.code == 1
    return text.replace("\r\n", "\n")


@pytest.mark.parametrize("env, colored", [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_color_on_a_terminal_can_be_switched_off(cluster, env, colored):
    cluster.create_team()
    text = diff_on_terminal(cluster, 80, env=env)
    assert "TeamSpace/" in text
    assert ("\x1b[" in text) == colored


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_lines_fit_the_terminal_and_nothing_of_them_is_lost(cluster, columns):
    name = cluster.create_team("n" * 58)
    text = diff_on_terminal(cluster, columns, "--color=never")
    lines = text.splitlines()
    assert lines[0].startswith("TeamSpace nnn") and max(map(len, lines)) <= columns
    assert "".join(text.split()).startswith(f"TeamSpace{name}(new)~TeamSpace/{name}finalizerplatform.labhub.io/cleanup")
    assert "".join(text.split()).endswith("pods4,requests.cpu1~TeamSpace/" + name + "status:observedGenerationnone->1"
                                          f"namespacenone->team-{name}Readynone->True(Reconciled)"
                                          "Plan:2tocreate,2tochange.")


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_way_out_of_a_refusal_can_be_copied_from_a_terminal(cluster, columns):
    name = cluster.create_team()
    cluster.create_namespace(name)
    lines = diff_on_terminal(cluster, columns, "--color=never").splitlines()
    command, = said("kubectl label", lines)
    assert command.strip() == (f"kubectl label namespace team-{name} --overwrite "
                               f"platform.labhub.io/teamspace={name}"), lines


def test_many_that_are_refused_alike_are_two_lines(cluster):
    names = sorted(cluster.create_team(cluster.new_name()) for _ in range(8))
    for name in names:
        cluster.create_namespace(name)
    cluster.once()
    lines = cluster.once().lines
    shown, = said("^! TeamSpace/", lines)
    first = next(name for name in names if f"TeamSpace/{name} " in shown)
    others = [name for name in names if name != first]
    assert lines == [shown, f"! {'7 more team spaces':40} NamespaceConflict: {', '.join(others[:3])} and 4 more; "
                            f"each in full: cnpa-op explain {others[0]}", lines[2]]
    assert re.match("8 team spaces: 8 refused; 0 writes in ", lines[2])


def test_lines_are_not_cut_when_nobody_reads_a_terminal(cluster):
    name = cluster.create_team("n" * 58)
    line, = said(r"^\+ ResourceQuota", cluster.diff().stdout)
    assert line.startswith(f"+ ResourceQuota/team-{name}/team-quota")
    assert line.endswith("pods 4, requests.cpu 1")


def test_output_that_nobody_takes_is_no_crash(cluster):
    cluster.create_team()
    with open("/dev/full", "w") as full:
        result = cluster.diff(stdout=full)
    assert result.code in (1, 2, 3)


# Manifests ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["crd"], ["rbac"], ["rbac", "--user", "some: \"one\""],
                                       ["rbac", "--serviceaccount", "kube-system:cnpa-op"], ["rbac", "--openshift"]],
                         ids=" ".join)
def test_manifest_is_accepted_by_the_server(cluster, arguments):
    result = cluster.run(*arguments)
    assert (result.code, result.stderr) == (0, "")
    cluster.kubectl("apply", "--dry-run=server", "-f", "-", input=result.stdout)


def test_manifests_need_no_cluster_and_no_kubeconfig(cli):
    for command in ("crd", "rbac", "version"):
        assert cli(command).code == 0


@pytest.mark.parametrize("file", ["alpha.yaml", "beta.yaml", "crd.yaml", "rbac.yaml"])
def test_example_is_accepted_by_the_server(cluster, file):
    cluster.kubectl("apply", "--dry-run=server", "-f", REPOSITORY / "examples" / file)


@pytest.mark.parametrize("command", ["crd", "rbac"])
def test_example_of_a_manifest_is_what_the_binary_prints(cli, command):
    assert cli(command).stdout == (REPOSITORY / "examples" / f"{command}.yaml").read_text()


@pytest.mark.parametrize("spec, words", [
    ({"pods": 0}, "greater than or equal to 1"),
    ({"pods": 51}, "less than or equal to 50"),
    ({}, "pods: Required value"),
    ({"pods": "4"}, "must be of type integer"),
    ({"pods": 4, "cpu": "abc"}, '"abc" is not a positive number of CPUs'),
    ({"pods": 4, "cpu": "0"}, '"0" is not a positive number of CPUs'),
    ({"pods": 4, "cpu": "-1"}, "not a positive number of CPUs"),
    ({"pods": 4, "cpu": "1e99999999999"}, "not a positive number of CPUs"),
], ids=repr)
def test_crd_refuses_what_no_quota_can_be(cluster, spec, words):
    team = {"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "metadata": {"name": "x"}, "spec": spec}
    done = cluster.kubectl("create", "-f", "-", input=json.dumps(team), check=False)
    assert done.returncode == 1
    assert words in done.stderr


@pytest.mark.parametrize("name", ["a" * 59, "a.b"])
def test_crd_refuses_a_name_that_no_namespace_can_have(cluster, name):
    response = cluster.plane.request("POST", TEAMS, {
        "apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "metadata": {"name": name},
        "spec": {"pods": 1}})
    assert response.status == 422
    assert "DNS label of at most 58 characters" in response.json()["message"]


def test_kubectl_get_answers_at_a_glance(cluster):
    name = cluster.converged_team(cpu="500m", pods=2)
    header, row = cluster.kubectl("get", "ts").stdout.splitlines()
    assert header.split() == ["NAME", "NAMESPACE", "PODS", "CPU", "READY", "REASON", "AGE"]
    assert row.split()[:6] == [name, f"team-{name}", "2", "500m", "True", "Reconciled"]


def test_main_address_drops_the_status(cluster):
    name = cluster.create_team()
    cluster.patch_team(name, {"status": {"observedGeneration": 7}})
    assert "status" not in cluster.team(name)


def test_label_change_leaves_the_generation_alone_and_a_spec_change_raises_it(cluster):
    name = cluster.create_team()
    cluster.patch_team(name, {"metadata": {"labels": {"owner": "platform"}}})
    assert cluster.team(name)["metadata"]["generation"] == 1
    cluster.patch_team(name, {"spec": {"pods": 6}})
    assert cluster.team(name)["metadata"]["generation"] == 2
