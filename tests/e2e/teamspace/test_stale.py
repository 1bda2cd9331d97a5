# SPDX-License-Identifier: Apache-2.0
"""A pass that is shown the past: some of its lists, or all, are answered as they were at an earlier moment.

The API server never does that by itself, but three lists that are read side by side, with retries between them, and a
pass that was stopped for a while, amount to it. A stale pass may do nothing useful; it must do no harm: what it writes
is guarded by the uid and the old value, it makes nothing worse, and once the staleness is over one pass converges.
"""

import itertools
import re
import time
from dataclasses import dataclass
from typing import Callable

import pytest

from fault_support import (FINALIZER, LABEL_POINTER, LISTS, LONG, NAMESPACES, breaches, fault_plane,  # noqa: F401
                           lab, op, ready_of, unguarded)
from proxy import Cut, Replay, Stage

SUBSETS = [subset for size in (1, 2, 3) for subset in itertools.combinations(LISTS, size)]
EACH_SUBSET = pytest.mark.parametrize("stale", SUBSETS, ids="+".join)
SOME_SUBSETS = pytest.mark.parametrize("stale", SUBSETS if LONG else SUBSETS[:1] + SUBSETS[-2:], ids="+".join)

FIRST, LAST = "alpha.example/first", "omega.example/last"


def run_stale(lab, moment, stale, **options):
    """Runs a pass that sees the lists `stale` as they were at `moment`; asserts what holds for any such pass.

    Returns how it ended.
    """
    lab.proxy.reset()
    lab.proxy.add(Replay(moment, stale))
    before = generations(lab)
    done = lab.run(**options)
    assert done.code in (0, 1), done
    reasons = [f"{exchange}: {reason}" for exchange in lab.proxy.writes() if (reason := unguarded(exchange))]
    assert not reasons, reasons
    for uid, (observed, generation) in generations(lab).items():
        assert observed <= generation
        assert observed >= before.get(uid, (0, 0))[0], "observedGeneration went back"
    lab.proxy.reset()
    return done


def generations(lab):
    """Returns observedGeneration and generation of each TeamSpace by its uid."""
    team_spaces, _, _ = lab.everything()
    return {item["metadata"]["uid"]: (item.get("status", {}).get("observedGeneration", 0),
                                      item["metadata"]["generation"]) for item in team_spaces.values()}


def assert_one_pass_converges(lab):
    """Staleness is over: one pass must be enough, and the next one must have nothing to write."""
    lab.converge(most=1)
    assert breaches(lab) == []


# ---------------------------------------------------------------------------------------------------------------------
# Changes that happened since


@dataclass(frozen=True)
class Case:
    """What the world was at the moment that is shown, and what has happened since."""

    name: str
    before: Callable
    since: Callable


def one(lab):
    lab.make("one")
    lab.run_clean()


def made_anew(lab):
    lab.let_go("one")
    lab.make("one", pods=9)


def being_deleted(lab):
    one(lab)
    lab.delete("one")


def finalized_and_made_anew(lab):
    assert lab.run_clean().code == 0
    lab.end_namespace("one")
    lab.make("one", pods=9)


def drifted(lab):
    one(lab)
    lab.set_hard("one", {"pods": "99", "requests.cpu": "1"})


def scoped(lab):
    one(lab)
    lab.admin.delete(lab.quota_path("one"))
    lab.admin.create(f"{NAMESPACES}/team-one/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
        "spec": {"hard": {"pods": "4"}, "scopes": ["NotTerminating"]}})


def quota_made_anew(lab):
    lab.admin.delete(lab.quota_path("one"))
    lab.admin.create(f"{NAMESPACES}/team-one/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
        "spec": {"hard": {"pods": "50"}}})


def unmarked(lab):
    one(lab)
    lab.admin.patch(f"{NAMESPACES}/team-one", op("remove", "/metadata/ownerReferences"))


def unlabelled(lab):
    one(lab)
    lab.admin.patch(f"{NAMESPACES}/team-one", op("remove", LABEL_POINTER))


def status_wiped(lab):
    one(lab)
    lab.admin.patch("/apis/platform.labhub.io/v1alpha1/teamspaces/one/status", op("remove", "/status"))


CASES = [
    Case("a team space made", lambda lab: None, one),
    Case("its spec changed", one, lambda lab: lab.set_spec("one", pods=9, cpu="250m")),
    Case("its spec changed twice", one, lambda lab: (lab.set_spec("one", pods=9), lab.run_clean(),
                                                     lab.set_spec("one", pods=12))),
    Case("its spec changed there and back", one, lambda lab: (lab.set_spec("one", pods=9), lab.run_clean(),
                                                              lab.set_spec("one", pods=4))),
    Case("made anew after it was listed alive", one, made_anew),
    Case("made anew after it was listed as being deleted", being_deleted, finalized_and_made_anew),
    Case("its quota made anew by hand", drifted, quota_made_anew),
    Case("its scoped quota replaced by hand", scoped, quota_made_anew),
    Case("its quota repaired", drifted, lambda lab: lab.run_clean()),
    Case("its ownerReference repaired", unmarked, lambda lab: lab.run_clean()),
    Case("its label repaired", unlabelled, lambda lab: lab.run_clean()),
    Case("its status repaired", status_wiped, lambda lab: lab.run_clean()),
    Case("finalizers of others put on", one, lambda lab: lab.set_finalizers("one", [FIRST, FINALIZER, LAST])),
]
EACH_CASE = pytest.mark.parametrize("case", CASES, ids=[case.name.replace(" ", "-") for case in CASES])


@EACH_CASE
def test_a_stale_pass_harms_nothing_that_was_reconciled_since(lab, case):
    case.before(lab)
    moment = lab.take_moment()
    case.since(lab)
    assert_one_pass_converges(lab)
    archives = lab.archived()

    for stale in SUBSETS:
        lab.forget()  # A race that is lost in pass after pass is no race any more.
        done = run_stale(lab, moment, stale)
        assert breaches(lab) == [], f"{stale} of the past: {done}"
        assert lab.archived() == archives, f"{stale} of the past: {done}"

    # What a wrong write sets going may take the garbage collector a moment.
    time.sleep(0.3)
    assert_one_pass_converges(lab)


@SOME_SUBSETS
@EACH_CASE
def test_after_a_stale_pass_over_fresh_changes_one_pass_converges(lab, case, stale):
    case.before(lab)
    moment = lab.take_moment()
    case.since(lab)
    archives = lab.archived()

    run_stale(lab, moment, stale)

    assert lab.archived() == archives
    # A namespace may have been made for a TeamSpace that is gone: its owner is dead, and the garbage collector knows.
    lab.wait_until_no_orphan()
    lab.end_terminating_namespaces()
    assert_one_pass_converges(lab)


# ---------------------------------------------------------------------------------------------------------------------
# Made anew under the same name


@EACH_SUBSET
def test_the_finalizer_of_the_new_one_stays_while_the_old_one_is_listed_as_being_deleted(lab, stale):
    being_deleted(lab)
    moment = lab.take_moment()
    finalized_and_made_anew(lab)
    lab.set_finalizers("one", [FINALIZER])
    new = lab.team_space("one")["metadata"]["uid"]

    run_stale(lab, moment, stale)

    assert lab.team_space("one")["metadata"]["finalizers"] == [FINALIZER]
    assert lab.team_space("one")["metadata"]["uid"] == new
    assert [archive["uid"] for archive in lab.archived().values() if archive["uid"] == new] == []


@EACH_SUBSET
def test_an_old_list_does_not_put_an_old_archive_in_place_of_a_newer_one(lab, stale):
    being_deleted(lab)
    moment = lab.take_moment()
    finalized_and_made_anew(lab)
    lab.run_clean()
    lab.let_go("one")
    archives = lab.archived()
    assert len(archives) == 2

    run_stale(lab, moment, stale)

    assert lab.archived() == archives


@EACH_SUBSET
def test_a_second_deletion_is_archived_under_its_own_uid_while_the_first_is_listed(lab, stale):
    being_deleted(lab)
    moment = lab.take_moment()
    finalized_and_made_anew(lab)
    lab.run_clean()
    new = lab.team_space("one")["metadata"]["uid"]
    lab.delete("one")

    run_stale(lab, moment, stale)
    assert lab.team_space("one") or new in [archive["uid"] for archive in lab.archived().values()]

    lab.converge(most=1)
    assert lab.team_space("one") is None
    assert lab.archived()["one.json"]["uid"] == new and lab.archived()["one.json"]["pods"] == 9
    assert len(lab.archived()) == 2


def test_a_namespace_is_not_given_back_to_a_team_space_that_was_replaced(lab):
    one(lab)
    moment = lab.take_moment()
    made_anew(lab)
    lab.run_clean()
    new, space = lab.team_space("one")["metadata"]["uid"], lab.space("one")["metadata"]["uid"]

    run_stale(lab, moment, ["teamspaces"])

    assert [owner["uid"] for owner in lab.space("one")["metadata"]["ownerReferences"]] == [new]
    lab.converge(most=1)
    found = lab.space("one")["metadata"]
    assert found["uid"] == space and "deletionTimestamp" not in found, "the garbage collector takes the namespace"


# ---------------------------------------------------------------------------------------------------------------------
# Gone


@EACH_SUBSET
def test_a_team_space_that_is_gone_is_not_resurrected(lab, stale):
    one(lab)
    moment = lab.take_moment()
    lab.let_go("one")
    archives = lab.archived()

    run_stale(lab, moment, stale)

    assert lab.team_space("one") is None
    assert lab.archived() == archives
    lab.wait_until_no_orphan()
    lab.end_terminating_namespaces()
    assert lab.space("one") is None
    lab.converge(most=0)


@EACH_SUBSET
def test_a_namespace_that_is_terminating_is_made_anew_once_it_is_gone(lab, stale):
    drifted(lab)
    moment = lab.take_moment()
    lab.admin.merge(f"{NAMESPACES}/team-one", {"metadata": {"finalizers": ["holds.example/it"]}})
    lab.admin.delete(f"{NAMESPACES}/team-one")

    run_stale(lab, moment, stale)

    assert "deletionTimestamp" in lab.space("one")["metadata"]
    assert lab.run_clean().code == 1
    assert ready_of(lab.team_space("one"))["reason"] == "NamespaceTerminating"
    lab.admin.merge(f"{NAMESPACES}/team-one", {"metadata": {"finalizers": None}})
    lab.end_namespace("one")
    assert_one_pass_converges(lab)


@EACH_SUBSET
def test_a_namespace_that_is_gone_is_made_anew(lab, stale):
    drifted(lab)
    moment = lab.take_moment()
    lab.admin.delete(f"{NAMESPACES}/team-one")
    lab.end_namespace("one")

    run_stale(lab, moment, stale)

    assert_one_pass_converges(lab)


# ---------------------------------------------------------------------------------------------------------------------
# Finalizers of others

FINALIZER_CHANGES = [
    ("others came before ours", [FINALIZER], [FIRST, LAST, FINALIZER]),
    ("others came behind ours", [FINALIZER], [FINALIZER, FIRST, LAST]),
    ("others went", [FIRST, FINALIZER, LAST], [FINALIZER]),
    ("the order changed", [FIRST, FINALIZER, LAST], [LAST, FIRST, FINALIZER]),
    ("ours went by hand", [FIRST, FINALIZER], [FIRST]),
    ("ours is to be put on, others came", [], [FIRST, LAST]),
    ("ours is to be put on, others changed", [FIRST], [LAST]),
    ("ours is to be put on, it was", [FIRST], [FIRST, FINALIZER]),
]
EACH_CHANGE = pytest.mark.parametrize("listed, there", [case[1:] for case in FINALIZER_CHANGES],
                                      ids=[case[0].replace(" ", "-").replace(",", "") for case in FINALIZER_CHANGES])


def others(finalizers):
    return [finalizer for finalizer in finalizers or [] if finalizer != FINALIZER]


@EACH_CHANGE
def test_a_stale_list_of_finalizers_costs_others_none_of_theirs(lab, listed, there):
    one(lab)
    lab.set_finalizers("one", listed)
    moment = lab.take_moment()
    lab.set_finalizers("one", there)

    run_stale(lab, moment, ["teamspaces"])

    found = lab.team_space("one")["metadata"]["finalizers"]
    assert others(found) == others(there) and found.count(FINALIZER) <= 1
    assert_one_pass_converges(lab)
    assert others(lab.team_space("one")["metadata"]["finalizers"]) == others(there)


@pytest.mark.parametrize("listed, there", [
    ([FIRST, FINALIZER], [FINALIZER]),
    ([FINALIZER, FIRST], [FINALIZER]),
    ([FIRST, FINALIZER, LAST], [LAST, FIRST, FINALIZER]),
    ([FIRST, FINALIZER, LAST], [FIRST, LAST]),
], ids=["one-before-ours-went", "one-behind-ours-went", "the-order-changed", "ours-went-by-hand"])
def test_a_stale_list_costs_others_no_finalizer_of_a_deleted_team_space(lab, listed, there):
    one(lab)
    lab.set_finalizers("one", [*listed, "holds.example/it"])
    lab.delete("one")
    moment = lab.take_moment()
    lab.set_finalizers("one", [*there, "holds.example/it"])

    run_stale(lab, moment, ["teamspaces"])

    kept = [*others(there), "holds.example/it"]
    assert others(lab.team_space("one")["metadata"]["finalizers"]) == kept
    lab.converge(most=1)
    assert lab.team_space("one")["metadata"]["finalizers"] == kept


# ---------------------------------------------------------------------------------------------------------------------
# Two passes that saw the same


@pytest.mark.parametrize("conditions", [[], ["Quiet"]], ids=["no-condition", "a-condition-of-another"])
def test_a_refusal_that_another_pass_wrote_already_is_no_failure(lab, conditions):
    lab.admin.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-one"}})
    lab.make("one")
    lab.admin.merge("/apis/platform.labhub.io/v1alpha1/teamspaces/one/status", {"status": {"conditions": [
        {"type": kind, "status": "True", "reason": "Test", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for kind in conditions]}})
    lab.set_finalizers("one", [FINALIZER])
    moment = lab.take_moment()
    lab.run_clean()

    done = run_stale(lab, moment, ["teamspaces"])

    assert "WriteFailed" not in done.output and "duplicate" not in done.output.lower(), done
    assert ready_of(lab.team_space("one"))["reason"] == "NamespaceConflict"
    assert [condition["type"] for condition in lab.team_space("one")["status"]["conditions"]] == [*conditions, "Ready"]


# ---------------------------------------------------------------------------------------------------------------------
# Within one run


def test_a_pass_that_lost_a_race_to_the_present_runs_again_at_once(lab):
    drifted(lab)
    moment = lab.take_moment()
    lab.set_hard("one", {"pods": "77", "requests.cpu": "1"})
    lab.proxy.reset()
    lab.proxy.add(Replay(moment, ["resourcequotas"], times=1))

    done = lab.run()

    assert done.code == 0, done
    assert [exchange.answer.code for exchange in lab.proxy.writes("quota")] == [422, 200]
    assert breaches(lab) == []


def test_a_pass_that_loses_every_race_ends_after_three_tries_and_leaves_it_to_the_next(lab):
    drifted(lab)
    moment = lab.take_moment()
    lab.set_hard("one", {"pods": "77", "requests.cpu": "1"})

    lab.proxy.reset()
    lab.proxy.add(Replay(moment, ["resourcequotas"]))
    done = lab.run()

    assert done.code == 1 and "left for the next pass" in done.output, done
    assert [exchange.answer.code for exchange in lab.proxy.writes("quota")] == [422, 422, 422]
    lab.proxy.reset()
    assert_one_pass_converges(lab)


def test_a_pass_that_wrote_and_cannot_read_again_after_a_lost_race_says_what_it_wrote(lab):
    drifted(lab)
    lab.make("two")
    moment = lab.take_moment()
    lab.set_hard("one", {"pods": "77", "requests.cpu": "1"})
    lab.proxy.reset()
    lab.proxy.add(Cut(Stage.ARRIVED, collection=frozenset(LISTS), when=lambda exchange: lab.proxy.writes()),
                  Replay(moment, ["resourcequotas"], times=1))

    done = lab.run("--timeout=5s")

    # Code 3 would say that nothing was written.
    assert done.code == 1 and re.search(r"^2 team spaces: .*\b\d+ writes in ", done.output, re.M), done
