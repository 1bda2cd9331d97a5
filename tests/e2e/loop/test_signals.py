# SPDX-License-Identifier: Apache-2.0
"""A pass that is told to end, and one whose time is over: exit codes, report, and what the next pass finds."""

import signal
import time

import pytest

from harness import FINALIZER, TEAMS, said, wait_for

CROWD = 40


@pytest.fixture
def crowd(cluster):
    """New TeamSpaces, enough for a pass to be in the middle of them when it is interrupted."""
    return cluster.create_teams([cluster.new_name() for _ in range(CROWD)])


def check_next_pass_completes(cluster, crowd):
    cluster.converge()
    for name in crowd:
        team = cluster.team(name)
        assert team["metadata"]["finalizers"] == [FINALIZER]
        assert team["status"]["observedGeneration"] == 1
    assert cluster.once().writes == []


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["SIGINT", "SIGTERM"])
def test_signal_ends_the_pass_with_its_code_and_reports_what_was_done(cluster, crowd, number, code):
    with cluster.started("reconcile", "--once", "--concurrency=1") as started:
        started.wait_for_writes(10)
        started.signal(number)
        result = started.finish(20)
    assert (result.code, result.stdout) == (code, "")
    assert said(r"^\+ Namespace/", result.lines)
    assert said(rf"^{CROWD} team spaces: .*left for the next pass; {len(result.writes)} writes in ",
                result.lines[-1:]), result.stderr
    done = sum(bool(item.get("status")) for item in cluster.api("GET", TEAMS)["items"])
    assert 0 < done < CROWD
    check_next_pass_completes(cluster, crowd)


def test_signal_during_diff_ends_it_with_its_code(cluster):
    api_server = cluster.plane.component("kube-apiserver")
    cluster.create_team()
    api_server.pause()  # so that the lists do not come
    try:
        with cluster.started("reconcile", "--diff") as started:
            started.wait_for_connection()
            started.signal(signal.SIGTERM)
            started.process.wait(20)
    finally:
        api_server.resume()
    assert started.result.code == 143


def test_no_write_is_begun_after_a_signal(cluster, crowd):
    with cluster.paused_pass() as paused:
        before = paused.writes_so_far()
        paused.signal(signal.SIGTERM)
    assert paused.result.code == 143
    assert len(paused.result.writes) - before <= 1  # the one that was in flight


def test_timeout_of_the_pass_begins_no_new_write_and_leaves_the_rest_for_the_next_pass(cluster, crowd):
    with cluster.paused_pass("--timeout=2s") as paused:
        before = paused.writes_so_far()
        over = time.monotonic() + 2.2  # longer than the pass may take
        wait_for(lambda: time.monotonic() > over, "the time of the pass is over")
    assert paused.result.code == 1
    assert said("left for the next pass", paused.result.lines[-1:])
    assert len(paused.result.writes) - before <= 1  # the one that was in flight
    check_next_pass_completes(cluster, crowd)
