# SPDX-License-Identifier: Apache-2.0
"""`--metrics-file`: what the file says after passes, that Prometheus' own checker finds nothing in it, and that the rules
and the dashboard in examples/prometheus ask for nothing that is not there."""

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from harness import REPOSITORY, run_binary, said, wait_for

import binaries  # its folder is on the path because of harness

FAST = "--interval=200ms"
EXAMPLES = REPOSITORY / "examples" / "prometheus"
SAMPLE = re.compile(r'^([a-z_]+)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


@pytest.fixture(scope="session")
def promtool():
    return binaries.build_checker("promtool")


@pytest.fixture
def file(tmp_path):
    return tmp_path / "cnpa-op.prom"


def samples(file):
    """Returns the value of each sample, by its name and the values of its labels: ("cnpa_op_passes_total", "crashed")."""
    found = {}
    for line in file.read_text().splitlines():
        if not line.startswith("#"):
            name, labels, value = SAMPLE.match(line).groups()
            key = (name, *(value for _, value in LABEL.findall(labels or "")))
            assert key not in found, f"{key} twice"
            found[key] = float(value)
    return found


def counted(file, metric):
    """Returns the samples of a metric that are not 0, by the values of their labels; those of one label by its value."""
    found = {key[1:]: value for key, value in samples(file).items() if key[0] == f"cnpa_op_{metric}" and value}
    return {key[0] if len(key) == 1 else key: value for key, value in found.items()}


def assert_clean(promtool, file):
    checked = subprocess.run([promtool, "check", "metrics"], input=file.read_text(), capture_output=True, text=True)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def assert_counts_what_the_server_saw(file, *results):
    """Checks the numbers of requests against the server's audit log."""
    seen = Counter((request.verb, str(request.code)) for result in results for request in result.requests)
    assert counted(file, "requests_total") == seen


def test_a_pass_is_told_in_numbers_and_the_next_one_adds_to_them(cluster, file, promtool):
    cluster.create_team()
    before = int(time.time())
    first = cluster.once("--metrics-file", file)
    assert (first.code, first.stdout) == (0, "")
    assert_clean(promtool, file)
    assert counted(file, "passes_total") == {"converged": 1}
    assert counted(file, "team_spaces") == {("in_sync", ""): 1}
    writes = {("TeamSpace", "Missing"): 1, ("Namespace", "Missing"): 1, ("ResourceQuota", "Missing"): 1,
              ("TeamSpace", "StatusBehind"): 1}
    assert counted(file, "writes_total") == writes
    assert_counts_what_the_server_saw(file, first)
    values = samples(file)
    assert values["cnpa_op_pass_duration_seconds_count",] == 1
    assert 0 < values["cnpa_op_pass_duration_seconds_sum",] < 60
    assert before <= values["cnpa_op_last_success_timestamp_seconds",] <= time.time()
    assert values["cnpa_op_last_pass_timestamp_seconds",] == values["cnpa_op_last_success_timestamp_seconds",]
    assert values["cnpa_op_build_info", run_binary(["version"], cluster.home).stdout.split()[1]] == 1
    second = cluster.once("--metrics-file", file)
    assert (second.code, second.stderr) == (0, "")
    assert counted(file, "passes_total") == {"converged": 2}
    assert counted(file, "writes_total") == writes
    assert samples(file)["cnpa_op_pass_duration_seconds_count",] == 2
    assert_counts_what_the_server_saw(file, first, second)
    assert_clean(promtool, file)


def test_drift_a_refusal_and_a_deletion_are_counted_by_their_reasons(cluster, file, promtool):
    drifted, deleted, refused = cluster.converged_team(pods=4), cluster.converged_team(), cluster.new_name()
    cluster.patch_quota(drifted, {"pods": "99"})
    cluster.delete_team(deleted)
    cluster.create_namespace(refused)
    cluster.create_team(refused)
    result = cluster.once("--metrics-file", file)
    assert result.code == 1
    assert counted(file, "passes_total") == {"unconverged": 1}
    assert counted(file, "team_spaces") == {("in_sync", ""): 1, ("refused", "NamespaceConflict"): 1}
    assert counted(file, "writes_total") == {
        ("ResourceQuota", "Differs"): 1, ("Archive", "BeingDeleted"): 1, ("TeamSpace", "BeingDeleted"): 1,
        ("TeamSpace", "Missing"): 1, ("TeamSpace", "StatusBehind"): 1}
    assert samples(file)["cnpa_op_last_success_timestamp_seconds",] > 0, "a refusal is no failure of the pass"
    assert_counts_what_the_server_saw(file, result)
    assert_clean(promtool, file)


def test_an_archive_that_cannot_be_written_is_a_reason_of_its_own(cluster, file):
    name = cluster.converged_team()
    cluster.delete_team(name)
    assert cluster.once("--metrics-file", file, archive="/proc/nowhere/archive").code == 1
    assert counted(file, "team_spaces") == {("refused", "ArchiveFailed"): 1}


def test_what_is_written_after_a_failure_is_counted_too(cluster, file, without):
    without("", "resourcequotas", "create")
    cluster.create_team()
    result = cluster.once("--metrics-file", file)
    assert result.code == 1
    assert counted(file, "team_spaces") == {("refused", "Forbidden"): 1}
    assert counted(file, "writes_total") == {("TeamSpace", "Missing"): 1, ("Namespace", "Missing"): 1,
                                             ("TeamSpace", "StatusBehind"): 1}
    assert_counts_what_the_server_saw(file, result)


def test_a_server_that_is_away_leaves_what_was_known(cluster, file, promtool):
    cluster.converged_team()
    cluster.converge("--metrics-file", file)
    success = samples(file)["cnpa_op_last_success_timestamp_seconds",]
    away = cluster.home / "away"
    away.write_text(re.sub(r"https://127.0.0.1:\d+", "https://127.0.0.1:1",
                           Path(cluster.plane.user_kubeconfig).read_text()))
    time.sleep(1.1)
    assert cluster.once("--metrics-file", file, kubeconfig=away).code == 3
    assert counted(file, "passes_total") == {"converged": 1, "unreadable": 1}
    assert counted(file, "team_spaces") == {("in_sync", ""): 1}
    assert counted(file, "requests_total")["list", "none"] >= 3
    values = samples(file)
    assert values["cnpa_op_last_success_timestamp_seconds",] == success
    assert values["cnpa_op_last_pass_timestamp_seconds",] > success
    assert_clean(promtool, file)


def test_a_pass_that_is_told_to_end_is_counted_as_stopped(cluster, file):
    cluster.create_teams([cluster.new_name() for _ in range(40)])
    with cluster.started("reconcile", "--once", "--concurrency=1", "--metrics-file", file) as started:
        started.wait_for_writes(5)
        started.signal(signal.SIGTERM)
        result = started.finish()
    assert result.code == 143
    assert counted(file, "passes_total") == {"stopped": 1}
    assert counted(file, "team_spaces")["left", ""] > 0
    assert samples(file)["cnpa_op_last_success_timestamp_seconds",] == 0
    assert sum(counted(file, "writes_total").values()) == len(result.writes)


def test_a_dry_run_neither_reads_nor_writes_it(cluster, file):
    cluster.create_team()
    assert cluster.diff("--metrics-file", file).code == 1
    assert not file.exists()
    file.write_text("not ours")
    assert cluster.diff("--metrics-file", file).stderr == ""


def test_variable_and_configuration_name_it_too(cluster, file):
    cluster.run("reconcile", "--once", env={"CNPA_OP_METRICS_FILE": file})
    config = cluster.home / "config.yaml"
    config.write_text(f"metrics-file: {file}\n")
    cluster.once("--config", config)
    assert counted(file, "passes_total") == {"converged": 2}
    folder = cluster.once("--metrics-file", f"{file}/")
    assert (folder.code, folder.only_line) == (2, f"cnpa-op: --metrics-file: '{file}/' does not name a file")


def test_everybody_can_read_it_and_nothing_else_is_left(cluster, file):
    folder = cluster.home / "textfile"
    folder.mkdir()
    cluster.once("--metrics-file", folder / "cnpa-op.prom", umask=0o077)
    assert os.listdir(folder) == ["cnpa-op.prom"]
    assert (folder / "cnpa-op.prom").stat().st_mode & 0o7777 == 0o644


@pytest.mark.parametrize("content, says", [
    ("# HELP cnpa_op_passes_total Passes\ncnpa_op_passes_total 3\n", "'{}' is not what cnpa-op writes: started anew"),
    ("apiVersion: v1\n", "no metrics are written: '{}' is there and was not written by cnpa-op"),
    ("# HELP cnpa_op_" + "x" * 2 ** 20, "no metrics are written: cannot read '{}': larger than 1048576 bytes"),
])
def test_what_stands_there_already_is_taken_started_anew_or_left_alone(cluster, file, content, says):
    file.write_text(content)
    result = cluster.once("--metrics-file", file)
    assert (result.code, result.only_line) == (0, f"cnpa-op: warning: {says.format(file)}")
    if "anew" in says:
        assert counted(file, "passes_total") == {"converged": 1}
    else:
        assert file.read_text() == content


def test_a_file_that_cannot_be_written_is_one_warning_and_changes_nothing_else(cluster):
    file = cluster.home / "missing" / "cnpa-op.prom"
    cluster.create_team()
    result = cluster.once("--metrics-file", file)
    assert result.code == 0
    assert said("warning", result.lines) == [f"cnpa-op: warning: cannot write '{file}': no such file or directory"]


def test_the_loop_counts_all_its_passes_also_one_that_is_killed(cluster, file, promtool):
    name = cluster.converged_team()
    with cluster.started("reconcile", FAST, "--metrics-file", file) as loop:
        wait_for(lambda: file.exists() and counted(file, "passes_total").get("converged", 0) >= 3, "three passes")
        cluster.patch_quota(name, {"pods": "99"})
        wait_for(lambda: counted(file, "writes_total") == {("ResourceQuota", "Differs"): 1}, "the repair is counted")
        kill_a_pass(loop)
        wait_for(lambda: counted(file, "passes_total").get("crashed") == 1, "the crash is counted")
        loop.signal(signal.SIGTERM)
        assert loop.finish(10).code == 0
    assert_clean(promtool, file)
    passes = counted(file, "passes_total")
    assert set(passes) <= {"converged", "crashed", "stopped"}
    assert samples(file)["cnpa_op_pass_duration_seconds_count",] == sum(passes.values())
    assert counted(file, "team_spaces") == {("in_sync", ""): 1}
    with cluster.started("reconcile", FAST, "--metrics-file", file):
        wait_for(lambda: counted(file, "passes_total")["converged"] > passes["converged"], "it goes on from there")
    assert counted(file, "passes_total")["crashed"] == 1


def kill_a_pass(loop):
    """Kills the pass that is at work, or the next one."""
    children = Path(f"/proc/{loop.process.pid}/task/{loop.process.pid}/children")
    child = wait_for(lambda: children.read_text().split(), "a pass", pause=0)[0]
    os.kill(int(child), signal.SIGKILL)


def test_the_loop_tells_once_that_it_cannot_write_and_loses_no_count(cluster):
    folder = cluster.home / "later"
    file = folder / "cnpa-op.prom"
    mark = cluster.mark()
    with cluster.started("reconcile", FAST, "--metrics-file", file) as loop:
        wait_for(lambda: len(cluster.requests(mark)) >= 9, "three passes")
        folder.mkdir()
        wait_for(file.exists, "the file")
        assert counted(file, "passes_total")["converged"] >= 3
        wait_for(lambda: counted(file, "passes_total")["converged"] >= 5, "more passes")
        loop.signal(signal.SIGTERM)
        result = loop.finish(10)
    assert result.code == 0
    warning, over = result.lines
    assert warning == f"cnpa-op: warning: cannot write '{file}': no such file or directory"
    assert re.fullmatch(r"cnpa-op: over after \d+ pass(es)? in .*: no metrics can be written", over)


# -- examples/prometheus: no control plane -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def names(binary, tmp_path_factory):
    """The names of all samples there can be, from what the binary writes: each with the names of its labels."""
    home = tmp_path_factory.mktemp("names")
    file = home / "cnpa-op.prom"
    assert run_binary(["reconcile", "--once", "--kubeconfig=/nowhere", "--metrics-file", file], home).code == 2
    assert counted(file, "passes_total") == {"usage": 1}
    labels = {"cnpa_op_requests_total": {"verb", "code"}}  # has no samples until there was a request
    for line in file.read_text().splitlines():
        if not line.startswith("#"):
            name, pairs, _ = SAMPLE.match(line).groups()
            labels[name] = {label for label, _ in LABEL.findall(pairs or "")}
    typed = set(re.findall(r"^# TYPE (\S+)", file.read_text(), re.M))
    assert typed <= {re.sub("_(bucket|sum|count)$", "", name) for name in labels}
    return labels


def selectors(expression):
    """Returns each selector of our metrics in a PromQL expression: its name, and the labels that it asks for."""
    for name, matchers in re.findall(r"\b(cnpa_op_\w+)(?:\{([^}]*)\})?", expression):
        yield name, set(re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", re.sub(r'"[^"]*"', "", matchers)))


def assert_known(expression, names):
    found = list(selectors(expression))
    assert found, expression
    for name, labels in found:
        assert name in names, f"no metric {name}: {expression}"
        assert labels <= names[name] | {"instance"}, f"{labels} of {name}: {expression}"
    for labels in re.findall(r"\bby \(([^)]*)\)", expression):
        known = set().union(*(names[name] for name, _ in found)) | {"instance"}
        assert set(re.split(r",\s*", labels)) <= known, expression


def test_the_alerts_are_valid_and_their_tests_pass(promtool):
    checked = subprocess.run([promtool, "check", "rules", "alerts.yaml"], cwd=EXAMPLES, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tested = subprocess.run([promtool, "test", "rules", "alerts_test.yaml"], cwd=EXAMPLES, capture_output=True,
                            text=True)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_every_alert_asks_for_what_there_is_and_has_a_test(names):
    rules = (EXAMPLES / "alerts.yaml").read_text()
    alerts = re.findall(r"^  - alert: (\w+)$", rules, re.M)
    expressions = re.findall(r"^    expr: (\|(?:\n      .*)+|.*)$", rules, re.M)
    assert len(alerts) == len(expressions) > 5
    for expression in expressions:
        assert_known(expression, names)
    tests = (EXAMPLES / "alerts_test.yaml").read_text()
    assert set(re.findall(r"^    alertname: (\w+)$", tests, re.M)) == set(alerts), "each fires in one"


def test_every_panel_of_the_dashboard_asks_for_what_there_is(names, promtool, tmp_path):
    dashboard = json.loads((EXAMPLES / "dashboard.json").read_text())
    expressions = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert len(expressions) >= 10
    for expression in expressions:
        assert_known(expression, names)
    asked = {re.sub("_(bucket|sum|count)$", "", name) for text in expressions for name, _ in selectors(text)}
    assert asked == {re.sub("_(bucket|sum|count)$", "", name) for name in names}, "no metric is left out"
    # PromQL as Prometheus reads it: each expression as a rule, Grafana's variables filled in.
    rules = [{"record": "a:b:c", "labels": {"number": str(number)},
              "expr": text.replace("$__rate_interval", "5m").replace("$instance", ".*")}
             for number, text in enumerate(expressions)]
    (tmp_path / "rules.yaml").write_text(json.dumps({"groups": [{"name": "panels", "rules": rules}]}))
    checked = subprocess.run([promtool, "check", "rules", tmp_path / "rules.yaml"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_page_shows_the_drop_in_as_it_is():
    page = (REPOSITORY / "docs" / "metrics.md").read_text()
    shown, = re.findall(r"```ini\n(.*?)```", page, re.S)
    drop_in = (REPOSITORY / "examples" / "systemd" / "metrics.conf").read_text()
    assert shown.splitlines() == [line for line in drop_in.splitlines() if not line.startswith("#")]
