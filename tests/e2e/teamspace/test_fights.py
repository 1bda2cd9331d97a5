# SPDX-License-Identifier: Apache-2.0
"""A fight with another writer is told as what it is: who, what, how often."""

import contextlib
import json
import re
import signal
import threading

import pytest
from jsonschema import Draft202012Validator

from harness import FINALIZER, REPOSITORY, said, wait_for

SCHEMA = json.loads((REPOSITORY / "docs" / "pass.schema.json").read_text())


def spoil(cluster, name, pods="99", manager="helm"):
    cluster.patch(f"{cluster.quota_path(name)}?fieldManager={manager}", {"spec": {"hard": {"pods": pods}}})


def fought_for(cluster, name, times=2):
    """Lets a TeamSpace's quota be spoilt and repaired so often."""
    for _ in range(times):
        spoil(cluster, name)
        cluster.converge()


def words(name):
    return rf"helm sets spec\.hard\.pods of ResourceQuota/team-{name}/team-quota again and again"


def test_the_third_repair_is_contested_and_named(cluster):
    name = cluster.converged_team(pods=6)
    for count in range(1, 6):
        spoil(cluster, name, str(90 + count))
        result = cluster.converge()
        contested = rf": contested, {count} times in \d+s" if count >= 3 else ""
        assert said(rf"^~ ResourceQuota/team-{name}/team-quota +pods 9{count} -> 6: was changed by helm, \d+s ago"
                    rf"{contested}$", result.lines), result
        warned = said(rf"^! TeamSpace/{name} +Contested: {words(name)} \({count} times since \d+-\S+Z\); "
                      r"stop it, or change the TeamSpace$", result.lines)
        assert len(warned) == (count >= 3), result
        assert len(result.writes) == 1
    assert cluster.ready(name)["reason"] == "Reconciled", "nothing of it in the status"
    assert cluster.once().stderr == ""


def test_a_fight_is_an_event_of_its_own(cluster):
    name = cluster.converged_team(pods=6)
    fought_for(cluster, name, 5)
    repaired, contested = sorted(cluster.events(name), key=lambda event: event["reason"], reverse=True)
    assert (repaired["reason"], repaired["type"], repaired["series"]["count"]) == ("Repaired", "Normal", 2)
    assert (contested["reason"], contested["type"], contested["series"]["count"]) == ("Contested", "Warning", 3)
    assert re.fullmatch(words(name) + "; stop it, or change the TeamSpace", contested["note"])


def test_what_is_deleted_again_and_again_is_contested_by_somebody(cluster):
    name = cluster.converged_team(pods=6)
    for _ in range(3):
        cluster.api("DELETE", cluster.quota_path(name))
        cluster.patch_team(name, {"metadata": {"finalizers": None}})
        result = cluster.converge()
    assert said(rf"Contested: somebody deletes ResourceQuota/team-{name}/team-quota again and again", result.lines)
    assert said(rf"Contested: somebody takes the finalizer {FINALIZER} off TeamSpace/{name} again", result.lines)


def test_several_writers_are_no_fight_with_one(cluster):
    name = cluster.converged_team(pods=6)
    for manager in ("helm", "kubectl-edit", "kubectl-patch", "argocd"):
        spoil(cluster, name, manager=manager)
        assert not said("[Cc]ontested", cluster.converge().stderr)


def test_the_document_tells_of_it(cluster):
    name = cluster.converged_team(pods=6)
    fought_for(cluster, name)
    spoil(cluster, name)
    document = json.loads(cluster.once("-o", "json").stdout)
    Draft202012Validator(SCHEMA).validate(document)
    (change,) = document["changes"]
    (field,) = change["fields"]
    assert (field["path"], field["contested"]["count"]) == ("spec.hard.pods", 3)
    assert field["contested"]["since"] <= document["observedAt"]


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\x00", b"x" * 3_000_000, b'{"version":1,"repairs":[{}]}', None],
                         ids=["empty", "half", "binary", "large", "odd", "folder"])
def test_a_file_that_is_no_record_spoils_nothing(cluster, content):
    name = cluster.converged_team(pods=6)
    fought_for(cluster, name)
    file = cluster.runtime / "memory.json"
    assert file.stat().st_mode & 0o7777 == 0o600
    file.unlink()
    if content is None:
        file.mkdir()
    else:
        file.write_bytes(content)
    spoil(cluster, name)
    result = cluster.converge()
    assert len(result.lines) == 2 and len(result.writes) == 1, result
    assert not said("[Cc]ontested", result.stderr), "it is as if nothing had been repaired before"
    assert file.is_file() == (content is not None), "what is a file is written anew"
    spoil(cluster, name)
    told = said("this pass is not remembered|earlier passes are forgotten", cluster.once("-v").stderr)
    assert bool(told) == (content is None), "at debug"


def test_a_quiet_pass_does_not_touch_the_file(cluster):
    cluster.converged_team(pods=6)
    cluster.once()
    cluster.diff()
    assert list(cluster.runtime.iterdir()) == []


@contextlib.contextmanager
def busy_writer(cluster, name):
    """Sets the pods of a quota to 99 whenever they are something else."""
    stop = threading.Event()

    def work():
        while not stop.wait(0.1):
            if cluster.hard(name)["pods"] != "99":
                spoil(cluster, name)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def test_the_loop_says_once_that_a_fight_began(cluster):
    name = cluster.converged_team(pods=6)
    with cluster.started("reconcile", "--interval=300ms") as loop:
        with busy_writer(cluster, name):
            wait_for(lambda: loop.writes_so_far() >= 8, "eight repairs", 60)
        loop.signal(signal.SIGTERM)
        result = loop.finish(20)
    assert result.code == 0
    repairs = said(rf"^~ ResourceQuota/team-{name}/team-quota ", result.lines)
    assert len(repairs) >= 8
    assert len(said(r": contested, \d+ times in \d+s$", repairs)) == len(repairs) - 2
    assert len(said(rf"^! TeamSpace/{name} +Contested: {words(name)} \(3 times since ", result.lines)) == 1
    assert not said("over after", result.lines), "not before ten minutes without a repair"


def test_two_passes_at_once_lose_nothing_but_a_count(cluster):
    names = [cluster.create_team(pods=6) for _ in range(6)]
    cluster.converge()
    for _ in range(4):
        for name in names:
            spoil(cluster, name)
        with cluster.started("reconcile", "--once") as other:
            assert cluster.once().code == 0
            assert other.finish().code == 0
    json.loads((cluster.runtime / "memory.json").read_text())
    assert [path.name for path in cluster.runtime.iterdir()] == ["memory.json"]
