# SPDX-License-Identifier: Apache-2.0
"""`--linger`: after a quiet pass the process sleeps on watches, and what they say makes a pass follow, and no more.

Where the interval is an hour, what is repaired is so since a watch told of it.
"""

import json
import os
import random
import re
import signal
import subprocess
import time

import pytest

from fault_support import (LONG, NAMESPACES, TEAM_SPACES, breaches, fault_plane, lab, unguarded)  # noqa: F401
from harness import children, said, spoken, wait_for, watch_count
from proxy import Answer, Events, Respond, Stage

LISTS = ("teamspaces", "namespaces", "resourcequotas")
PATIENT = ("--interval=1h", "--linger=1h")
BUSY = ("--interval=200ms", "--linger=2s")


@pytest.fixture
def watching(cluster):
    """A function that starts the loop and returns once it watches; it returns a Started."""
    started = []

    def start(*flags, watched=3):
        mark = cluster.mark()
        context = cluster.started("reconcile", *flags)
        loop = context.__enter__()
        started.append(context)
        wait_for_watches(cluster, mark, watched)
        return loop

    yield start
    for context in started:
        context.__exit__(None, None, None)


def wait_for_watches(cluster, mark, number=3):
    wait_for(lambda: watch_count(cluster, mark) >= number, f"{number} watches")


# ---------------------------------------------------------------------------------------------------------------------
# One pass


def test_a_quiet_pass_ends_as_soon_as_there_is_something_to_do_and_leaves_it_for_the_next(cluster):
    name = cluster.converged_team()
    mark = cluster.mark()
    with cluster.started("reconcile", "--once", "--linger=60s") as run:
        wait_for_watches(cluster, mark)
        cluster.patch_quota(name, {"pods": "99"})
        result = run.finish(20)
    assert (result.code, result.stderr, result.writes) == (0, "", [])
    assert cluster.hard(name)["pods"] == "99"


def test_a_quiet_pass_ends_when_its_time_is_over(cluster):
    cluster.converged_team()
    started = time.monotonic()
    result = cluster.once("--linger=1s")
    assert time.monotonic() - started >= 1
    assert (result.code, result.stderr, result.writes) == (0, "", [])


def test_the_timeout_of_a_pass_does_not_count_while_it_lingers(cluster):
    cluster.converged_team()
    started = time.monotonic()
    result = cluster.once("--linger=3s", "--timeout=1s")
    assert time.monotonic() - started >= 3
    assert (result.code, result.stderr) == (0, "")


def test_a_pass_that_wrote_does_not_linger(cluster):
    cluster.create_team()
    result = cluster.once("--linger=60s", timeout=30)
    assert result.code == 0 and len(result.writes) == 4


def test_a_pass_that_could_not_read_does_not_linger(cluster, without):
    cluster.converged_team()
    without("", "namespaces", "list")
    assert cluster.once("--linger=60s", timeout=30).code == 3


def test_the_code_of_a_pass_that_lingered_is_that_of_the_pass(cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    cluster.once()
    assert cluster.once("--linger=500ms").code == 1, "refused"


def test_a_pass_is_counted_before_it_lingers_and_once(cluster):
    cluster.converged_team()
    file = cluster.home / "cnpa-op.prom"
    mark = cluster.mark()
    with cluster.started("reconcile", "--once", "--linger=60s", f"--metrics-file={file}") as run:
        wait_for_watches(cluster, mark)
        before = file.read_text()
        run.signal(signal.SIGTERM)
        assert run.finish(10).code == 143
    assert 'cnpa_op_passes_total{result="converged"} 1' in before
    assert file.read_text() == before


def test_lingering_is_not_for_a_diff(cluster):
    cluster.converged_team()
    assert cluster.diff("--linger=60s", timeout=30).code == 0


# ---------------------------------------------------------------------------------------------------------------------
# The loop


@pytest.mark.parametrize("flags", [(), ("--concurrency=1",)], ids=["by default", "one request at a time"])
def test_whatever_happens_to_a_team_space_is_seen_to_at_once(cluster, watching, flags):
    first = cluster.converged_team()
    loop = watching("--interval=300ms", "--linger=1h", *flags)
    second = cluster.create_team(pods=4)
    wait_for(lambda: cluster.ready(second).get("status") == "True", "a new team space is served")
    cluster.patch_quota(first, {"pods": "99"})
    wait_for(lambda: cluster.hard(first)["pods"] == "4", "a quota is repaired")
    cluster.patch_namespace(second, {"metadata": {"labels": {"platform.labhub.io/teamspace": None}}})
    wait_for(lambda: cluster.namespace(second)["metadata"]["labels"].get("platform.labhub.io/teamspace") == second,
             "a label is back")
    cluster.api("DELETE", cluster.quota_path(first))
    wait_for(lambda: cluster.quota(first), "a quota is back")
    cluster.patch_team(first, {"spec": {"pods": 5}})
    wait_for(lambda: cluster.hard(first)["pods"] == "5", "a new spec is applied")
    cluster.delete_team(second)
    wait_for(lambda: cluster.team(second) is None, "a finalizer is off")
    loop.signal(signal.SIGTERM)
    result = loop.finish(10)
    assert result.code == 0
    assert len(said(r"pods 99 -> 4", result.lines)) == 1


def test_the_first_repair_does_not_wait_for_the_interval_and_the_next_one_does(cluster, watching):
    name = cluster.converged_team()
    loop = watching(*PATIENT)
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "4", "it is repaired")
    cluster.patch_quota(name, {"pods": "98"})
    time.sleep(2)
    assert cluster.hard(name)["pods"] == "98", "a fight is no faster than the interval"
    loop.signal(signal.SIGHUP)
    wait_for(lambda: cluster.hard(name)["pods"] == "4", "a reload does not wait")


def test_a_pass_that_was_woken_by_one_team_space_looks_at_no_other_and_the_next_one_at_all(cluster, watching):
    name, *others = [cluster.converged_team() for _ in range(3)]
    file = cluster.home / "cnpa-op.prom"
    watching("--interval=1s", "--linger=1h", f"--metrics-file={file}")
    mark = cluster.mark()
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "4", "it is repaired")
    read = [event["requestURI"] for event in cluster.plane.audit_since(mark, user="cnpa-op") if event["verb"] == "list"]
    assert len(read) >= 3 and all(name in uri or f"namespaces/team-{name}/" in uri for uri in read), read
    in_sync = 'cnpa_op_team_spaces{state="in_sync",reason=""} 3'
    wait_for(lambda: 'cnpa_op_writes_total{kind="ResourceQuota",reason="Differs"} 1' in file.read_text(), "it counts")
    assert in_sync in file.read_text(), "of the others it says nothing"
    for other in others:
        cluster.patch_quota(other, {"pods": "98"})
    for other in others:
        wait_for(lambda: cluster.hard(other)["pods"] == "4", "they are repaired")  # noqa: B023


def test_a_team_space_that_is_gone_before_the_pass_comes_is_no_failure(cluster, watching):
    name = cluster.converged_team()
    loop = watching("--interval=300ms", "--linger=1h")
    child, = children(loop.process.pid)
    loop.signal(signal.SIGSTOP)  # It starts no pass meanwhile; the one that lingers does not wait.
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: subprocess.run(["ps", "-o", "stat=", str(child)], capture_output=True, text=True).stdout[:1] == "Z",
             "it has woken")
    cluster.patch(f"{TEAM_SPACES}/{name}", {"metadata": {"finalizers": None}})
    cluster.delete_team(name)
    mark = cluster.mark()
    loop.signal(signal.SIGCONT)
    wait_for_watches(cluster, mark)
    loop.signal(signal.SIGTERM)
    assert loop.finish(10).lines == []


def test_what_is_none_of_its_business_wakes_nobody(cluster, watching):
    name = cluster.converged_team()
    watching("--interval=200ms", "--linger=1h")
    mark = cluster.mark()
    cluster.patch_namespace(name, {"metadata": {"annotations": {"a": "b"}}})
    cluster.patch(f"{TEAM_SPACES}/{name}", {"metadata": {"labels": {"a": "b"}}})
    cluster.api("POST", f"{NAMESPACES}/team-{name}/configmaps", {"metadata": {"name": "c"}})
    cluster.patch(cluster.quota_path(name), {"metadata": {"annotations": {"a": "b"}}})
    cluster.patch(cluster.quota_path(name) + "/status", {"status": {"used": {"pods": "3"}}})
    other = cluster.create_namespace("nobodys")
    time.sleep(1.5)
    assert [str(request) for request in cluster.requests(mark)] == [], other


def test_a_stop_and_a_reload_do_not_wait_for_the_end_of_lingering(cluster, watching):
    cluster.converged_team()
    loop = watching(*PATIENT)
    mark = cluster.mark()
    loop.signal(signal.SIGHUP)
    wait_for_watches(cluster, mark)
    loop.signal(signal.SIGTERM)
    result = loop.finish(5)
    assert (result.code, result.writes) == (0, [])
    assert result.lines == ["cnpa-op: configuration read anew; a pass follows"]


def test_a_killed_pass_that_lingered_is_told_and_followed_by_another(cluster, watching):
    name = cluster.converged_team()
    loop = watching("--interval=200ms", "--linger=1h")
    mark = cluster.mark()
    child, = children(loop.process.pid)
    os.kill(child, signal.SIGKILL)
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "4", "it is repaired")
    wait_for(lambda: len(cluster.requests(mark)) >= 12, "more passes")
    assert watch_count(cluster, mark) == 0, "for a while without"
    loop.signal(signal.SIGTERM)
    assert said("a pass that lingered was ended by SIGKILL", loop.finish(10).lines)


@pytest.mark.parametrize("resource", LISTS)
def test_without_the_right_to_watch_it_says_so_once_and_goes_on_as_without_lingering(cluster, without, resource):
    name = cluster.converged_team()
    without("platform.labhub.io" if resource == "teamspaces" else "", resource, "watch")
    with cluster.started("reconcile", "--interval=200ms", "--linger=1h") as loop:
        cluster.patch_quota(name, {"pods": "99"})
        wait_for(lambda: cluster.hard(name)["pods"] == "4", "it is repaired")
        wait_for(lambda: said("--linger", spoken(loop)), "it is told")
        mark = cluster.mark()
        wait_for(lambda: len(cluster.requests(mark)) >= 12, "three more passes")
        loop.signal(signal.SIGTERM)
        result = loop.finish(10)
    told, = said("--linger", result.lines)
    assert re.fullmatch(r'cnpa-op: warning: --linger is off for 10 minutes: no permission to watch: '
                        rf'forbidden: user "cnpa-op" cannot watch {resource}: cnpa-op rbac \| kubectl apply -f -', told)


def test_once_without_the_right_to_watch_says_so_and_ends(cluster, without):
    cluster.converged_team()
    without("", "namespaces", "watch")
    result = cluster.once("--linger=60s", timeout=30)
    assert result.code == 0
    assert said("warning: --linger needs permission to watch: forbidden: ", result.lines) == result.lines


def test_a_server_that_is_restarted_costs_a_pass_and_nothing_else(cluster, watching):
    name = cluster.converged_team()
    loop = watching("--interval=200ms", "--linger=1h")
    server = cluster.plane.component("kube-apiserver")
    server.kill()
    mark = cluster.mark()
    server.start()
    wait_for_watches(cluster, mark)
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "4", "it is repaired")
    loop.signal(signal.SIGTERM)
    assert len(said("pods 99 -> 4", loop.finish(10).lines)) == 1


def test_two_that_linger_side_by_side_do_not_fight(cluster, watching):
    names = [cluster.converged_team() for _ in range(3)]
    loops = [watching("--interval=200ms", "--linger=1h"), watching("--interval=200ms", "--linger=1h")]
    mark = cluster.mark()
    for name in names:
        cluster.patch_quota(name, {"pods": "99"})
        wait_for(lambda: cluster.hard(name)["pods"] == "4", "it is repaired")  # noqa: B023
    time.sleep(2)
    repairs = [write for write in cluster.requests(mark) if write.is_write]
    assert len([write for write in repairs if write.code == 200]) == 3, "each by one of them, once"
    quiet = cluster.mark()
    time.sleep(2)
    assert cluster.writes(quiet) == []
    for loop in loops:
        loop.signal(signal.SIGTERM)
        assert not said("fails|contested|!", loop.finish(10).lines)


# ---------------------------------------------------------------------------------------------------------------------
# Watches that lie


def dropped(event):
    return []


def doubled(event):
    return [event, event]


def delayed(event):
    time.sleep(0.7)
    return [event]


class Reordered:
    """Sends each second event before the first."""

    def __init__(self):
        self.kept = None

    def __call__(self, event):
        if self.kept is None:
            self.kept = event
            return []
        kept, self.kept = self.kept, None
        return [event, kept]


def of_yesterday(event):
    """The quota as it was never."""
    told = json.loads(event)
    if told["type"] != "BOOKMARK":
        told["object"]["spec"]["hard"]["pods"] = "1"
    return [json.dumps(told).encode()]


def cut_in_half(event):
    return [event[:len(event) // 2]]


def no_json(event):
    return [b"<html>502 Bad Gateway</html>"]


LIES = {"dropped": dropped, "doubled": doubled, "delayed": delayed, "reordered": Reordered(),
        "made up": of_yesterday, "cut in half": cut_in_half, "no JSON": no_json}


def begun(lab):
    return [exchange for exchange in lab.proxy.log if "watch" in exchange.query and exchange.stage >= Stage.APPLIED]


def start_watching(lab, *flags):
    """Starts the loop through the proxy, and returns it once it watches."""
    before = len(begun(lab))
    loop = lab.start(*flags, once=False)
    lab.wait_until(lambda: len(begun(lab)) >= before + 3, "three watches")
    return loop


def stop(lab, loop):
    loop.send_signal(signal.SIGTERM)
    return lab.finish(loop)


def written(lab, path=r"^/(api/v1|apis/platform\.labhub\.io)/"):
    """Returns what was written; what is told of it, as an event, comes later."""
    return lab.proxy.writes(path)


def assert_harmless(lab):
    """Asserts of all that was written that it was guarded, and that nothing is left to write."""
    assert [str(exchange) for exchange in written(lab) if unguarded(exchange)] == []
    lab.wait_until(lambda: breaches(lab) == [], f"the contract: {breaches(lab)}")
    time.sleep(0.5)  # The proxy counts a write a moment after the server has it.
    before = len(written(lab))
    time.sleep(1.5)
    assert len(written(lab)) == before, [str(exchange) for exchange in written(lab)]


@pytest.mark.parametrize("lie", LIES)
def test_a_watch_that_lies_costs_time_and_never_correctness(lab, lie):
    lab.make("red")
    lab.converge()
    lab.proxy.add(Events(LIES[lie], path="resourcequotas"))
    loop = start_watching(lab, *BUSY)
    for pods in ("97", "98"):
        lab.set_hard("red", {"pods": pods, "requests.cpu": "1"})
        lab.wait_until(lambda: breaches(lab) == [], "it is repaired")
    assert_harmless(lab)
    patches = written(lab, "resourcequotas")
    assert len(patches) == 2, [str(exchange) for exchange in patches]
    assert stop(lab, loop).code == 0


def test_an_object_that_a_watch_made_up_is_never_written_from(lab):
    lab.make("red")
    lab.converge()
    lab.proxy.add(Events(of_yesterday, path="resourcequotas"))
    loop = start_watching(lab, "--interval=200ms", "--linger=1h")
    seen = len(begun(lab))
    lab.admin.merge(lab.quota_path("red"), {"metadata": {"annotations": {"a": "b"}}})
    lab.wait_until(lambda: len(begun(lab)) >= seen + 3, "a pass that has nothing to do")
    assert written(lab) == []
    assert stop(lab, loop).code == 0


GONE = {"type": "ERROR", "object": {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410,
                                    "reason": "Expired", "message": "too old resource version: 1 (2)"}}


@pytest.mark.parametrize("answer", [
    Answer.of(200, json.dumps(GONE).encode() + b"\n", chunked=True),
    Answer.of(410, GONE["object"]),
    Answer.of(200, b"", chunked=True),
    Answer.of(500, "no"),
    Answer.of(429, "slower", {"Retry-After": "1"}),
], ids=["an ERROR event", "410", "its end", "500", "429"])
@pytest.mark.parametrize("collection", LISTS)
def test_whatever_end_a_watch_comes_to_a_pass_follows(lab, collection, answer):
    lab.make("red")
    lab.converge()
    lab.proxy.add(Respond(answer, path=f"{collection}.*watch=1", times=2))
    loop = start_watching(lab, "--interval=200ms", "--linger=1h")
    lab.wait_until(lambda: len([exchange for exchange in begun(lab) if not exchange.own]) >= 3 + 2 * 2,
                   "a third time, for good")
    lab.set_hard("red", {"pods": "97", "requests.cpu": "1"})
    lab.wait_until(lambda: breaches(lab) == [], "it is repaired")
    assert_harmless(lab)
    done = stop(lab, loop)
    assert done.code == 0
    assert "watch" not in done.output, "it is no news that a watch ends"


def test_a_broken_connection_is_followed_by_a_pass(lab):
    lab.make("red")
    lab.converge()
    loop = start_watching(lab, "--interval=200ms", "--linger=1h")
    seen = len(begun(lab))
    lab.proxy.drop_connections()
    lab.wait_until(lambda: len(begun(lab)) >= seen + 3, "it watches again")
    assert stop(lab, loop).code == 0


@pytest.mark.skipif(not LONG, reason="takes two minutes: CNPA_OP_TEST_LONG=1")
def test_a_watch_without_a_word_is_given_up(lab):
    lab.make("red")
    lab.converge()
    lab.proxy.add(Events(dropped, path="resourcequotas"))  # Bookmarks, too.
    loop = start_watching(lab, "--interval=200ms", "--linger=1h")
    lab.set_hard("red", {"pods": "97", "requests.cpu": "1"})
    lab.wait_until(lambda: breaches(lab) == [], "it is repaired", 150)
    assert stop(lab, loop).code == 0


SEEDS = range(30 if LONG else 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_adversary_on_all_watches_and_by_hand(lab, seed):
    chance = random.Random(seed)
    names = [f"n{number}" for number in range(4)]
    for name in names:
        lab.make(name)
    lab.converge()
    kept = {}

    def lie(collection):
        def on(event):
            dice = chance.random()
            held = kept.pop(collection, [])
            if dice < 0.2:
                return held
            if dice < 0.4:
                return [event, *held, event]
            if dice < 0.6:
                kept[collection] = [event]
                return held
            if dice < 0.7:
                time.sleep(chance.random())
            return [*held, event]
        return on

    lab.proxy.add(*(Events(lie(collection), path=collection) for collection in LISTS))
    loop = start_watching(lab, *BUSY)
    deeds = [
        lambda name: lab.set_hard(name, {"pods": str(chance.randrange(50, 99)), "requests.cpu": "1"}),
        lambda name: lab.admin.delete(lab.quota_path(name)),
        lambda name: lab.admin.merge(f"{NAMESPACES}/team-{name}", {"metadata": {"labels": {
            "platform.labhub.io/teamspace": None}}}),
        lambda name: lab.set_spec(name, pods=chance.randrange(1, 50)),
    ]
    for _ in range(12):
        name, deed = chance.choice(names), chance.choice(deeds)
        if lab.quota(name):
            deed(name)
        time.sleep(chance.random() * 0.5)
    assert_harmless(lab)
    assert stop(lab, loop).code == 0
