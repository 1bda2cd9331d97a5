# SPDX-License-Identifier: Apache-2.0
"""The benchmark measures what it says and ends what it starts; its table can be read. No figure is judged."""

import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree
from pathlib import Path

import pytest

import plot
import report
from figures import KINDS, PROGRAMS, figure, percentile

HERE = Path(__file__).resolve().parent
BINARY = Path(os.environ.get("CNPA_OP", HERE.parents[1] / "build" / "cnpa-op")).resolve()
ABOUT = {"date": "2031-05-06T07:08:09Z", "command": "bench", "commit": "abc",
         "machine": {"cores": 2, "memory_bytes": 8 << 30, "processor": "P", "kernel": "6.1", "load": 0.1},
         "versions": {"cnpa-op": "cnpa-op 1", "curl": "curl 8.0 x", "kubernetes": "1.37.2", "etcd": "3.7.3",
                      "controller-runtime": "0.25.2"}}


def results(*figures, missing=()):
    return {"version": 1, "about": ABOUT, "figures": list(figures), "missing": list(missing)}


def start(*arguments):
    return subprocess.Popen([sys.executable, HERE / "bench", *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=os.environ | {"CNPA_OP": str(BINARY)})


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A run with 3 team spaces: what it printed, and its figures."""
    output = tmp_path_factory.mktemp("bench") / "bench.json"
    process = start("--parts=passes,instructions", "--sizes=3", "--rounds=2", f"--output={output}")
    stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == 0, stderr
    return stdout, json.loads(output.read_text())


def value(run, kind, program="cnpa-op"):
    found, = (each["value"] for each in run["figures"] if (each["kind"], each["program"]) == (kind, program))
    return found


def test_a_small_run_has_every_figure_of_a_pass(small):
    _, run = small
    for each in run["figures"]:
        assert each["kind"] in KINDS and each["program"] in PROGRAMS, each
        assert each["low"] <= each["value"] <= each["high"] and each["runs"] > 0, each
    got = {(each["kind"], each["program"]) for each in run["figures"] if each["team_spaces"] == 3}
    programs = {"cnpa-op", "kubectl-lists", "kubectl-one"} | ({"curl"} - {each["what"] for each in run["missing"]})
    assert {("pass." + kind, program) for kind in ("wall", "cpu", "memory") for program in programs} <= got
    assert {("pass.server_cpu", "cnpa-op"), ("pass.bytes", "cnpa-op")} <= got


def test_a_small_run_has_instructions_or_says_what_lacks(small):
    _, run = small
    if {"what": "instructions", "why": "this machine has no valgrind"} in run["missing"]:
        pytest.skip("no valgrind")
    assert 10e6 < value(run, "pass.instructions") < 1e9


def test_a_small_run_counts_what_the_contract_promises(small):
    _, run = small
    assert value(run, "converge.writes") == 4
    assert value(run, "converge.reads") == 4  # three lists, and the CRD
    assert 5_000 < value(run, "pass.bytes") < 500_000
    # A meter that measured the Python around it would see more.
    assert 4 << 20 < value(run, "pass.memory") < 40 << 20


def test_its_table_drawing_and_page_are_made_of_it(small, tmp_path):
    stdout, run = small
    assert stdout.rstrip("\n") == report.as_text(run)
    xml.etree.ElementTree.fromstring(plot.draw(run))
    page = tmp_path / "page.md"
    page.write_text(f"before\n{report.BEGIN}\nold\n{report.END}\nafter\n")
    report.put(report.as_markdown(run), page)
    text = page.read_text()
    assert text.startswith(f"before\n{report.BEGIN}\n20") and text.endswith(f"|\n{report.END}\nafter\n")
    assert "old" not in text and "| quiet pass, ms | 3 |" in text


def descendants(pid):
    """Returns the processes below `pid` that run, with the moment of their start, by which they are known."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        if fields[0] != "Z":
            parents[int(stat.parent.name)] = (int(fields[1]), fields[19])
    found, below = set(), {pid}
    while below:
        below = {child for child, (parent, _) in parents.items() if parent in below}
        found |= {(child, parents[child][1]) for child in below}
    return found


def test_an_interrupt_ends_all_that_was_started(tmp_path):
    output = tmp_path / "bench.json"
    process = start("--parts=passes", "--sizes=3", f"--output={output}")
    for line in process.stderr:
        if "converging" in line:
            break
    started = descendants(process.pid)
    assert len(started) >= 4, started  # the keeper and the three components
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert output.read_text() == ""
    deadline = time.monotonic() + 10
    while left := started & descendants(1):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_figures_that_can_not_be_written_are_known_before_they_are_measured(tmp_path):
    process = start(f"--output={tmp_path / 'missing' / 'bench.json'}")
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 2
    assert stderr.startswith("bench: cannot write the figures: ") and len(stderr.splitlines()) == 1


def test_a_table_says_how_the_goals_stand():
    text = report.as_text(results(figure("pass.wall", "cnpa-op", 1000, [0.1, 0.11, 0.2]),
                                  figure("pass.wall", "curl", 1000, [0.1]),
                                  missing=[{"what": "script", "why": "this machine has no jq"}]))
    assert "quiet pass, ms | 1,000 | 110.0 (100.0..200.0) |" in " ".join(text.split())
    assert "1.10 x curl, goal 1.10 x" in text
    assert "left out: script: this machine has no jq" in text


def test_what_is_many_times_faster_is_said_so():
    text = report.as_text(results(figure("pass.wall", "cnpa-op", 10, [0.02]), figure("pass.wall", "script", 10, [4.0])))
    assert text.endswith("| goal 25 ms; 1/200 of script, goal 1/30")


def test_a_pass_without_a_goal_stands_beside_curl():
    text = report.as_text(results(*(figure("pass.wall", program, 7, [seconds])
                                    for program, seconds in (("cnpa-op", 0.3), ("curl", 0.2)))))
    assert text.endswith("| 1.50 x curl")


def test_a_curve_has_rows_of_its_own_and_is_no_other_figure():
    curve = [figure("converge.wall", "cnpa-op", 1000, [seconds], concurrency=number, backend="sqlite")
             for number, seconds in ((1, 40.0), (8, 20.0))]
    lines = report.as_text(results(figure("converge.wall", "cnpa-op", 1000, [21.0]), *curve)).splitlines()
    assert [line.split("|")[2].strip() for line in lines[-3:]] == ["21.00", "40.00", "20.00"]
    assert "sqlite, --concurrency 8" in lines[-1]


def test_put_leaves_a_page_without_marks_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n")
    with pytest.raises(SystemExit, match="has no"):
        report.put("table", page)
    assert page.read_text() == "text\n"


@pytest.mark.parametrize(("share", "want"), [(50, 2), (99, 4), (100, 4), (1, 1)])
def test_percentile_is_one_of_the_samples(share, want):
    assert percentile([4, 1, 3, 2], share) == want


def test_labels_of_a_drawing_do_not_stand_on_one_another():
    places = plot.spread({"a": 10.0, "b": 10.5, "c": 100.0})
    assert places == {"a": 10.0, "b": 10.0 + plot.LINE_HEIGHT, "c": 100.0}
