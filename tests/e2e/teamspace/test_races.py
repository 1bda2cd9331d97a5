# SPDX-License-Identifier: Apache-2.0
"""Others write at the same time: a second pass, a busy controller, people who edit by hand.

A lost race is no failure, nothing that another was told is stored gets lost, and once the others are quiet one pass
converges. CNPA_OP_TEST_LONG=1 runs all of it longer.
"""

import http.client
import json
import os
import random
import shutil
import ssl
import subprocess
import threading
import time

import pytest

from fault_support import (CNPA_OP, FINALIZER, LABEL, LABEL_POINTER, LINGER, LONG, NAMESPACES,  # noqa: F401
                           NOBODY, STALE_ARCHIVE, TEAM_SPACES, ApiError, assert_same, breaches, fault_plane, lab, op,
                           prepare, ready_of, settle, state, usable_by_nobody)
from proxy import Call, Hold, Stage

ROUNDS = 40 if LONG else 4
SEED = int(os.environ.get("CNPA_OP_TEST_SEED", "1"))


# ---------------------------------------------------------------------------------------------------------------------
# Two passes at once


@pytest.fixture
def reference(lab):
    """The state that one pass alone leaves."""
    gone = prepare(lab, "ref")
    lab.run_clean()
    final = settle(lab, "ref", gone)
    begin_afresh(lab)
    return final


def begin_afresh(lab):
    lab.proxy.reset()
    lab.clear()
    shutil.rmtree(lab.archive)


def let_two_see_the_same(lab):
    """Holds the answers of the first six lists, three of each of two passes, until all of them are there."""
    barrier = threading.Barrier(6)
    lab.proxy.add(Call(Stage.APPLIED, lambda exchange: barrier.wait(20.0), times=6,
                       when=lambda exchange: exchange.collection))


def assert_no_failure(done):
    """A pass over the scenario has one refused TeamSpace and, beside it, at most work that is left for the next one."""
    assert done.code == 1, done
    assert " failed" not in done.output and "Failed" not in done.output, done


@pytest.mark.parametrize("arguments", [[], ["--concurrency", "1"]], ids=["concurrency-8", "concurrency-1"])
def test_two_passes_that_saw_the_same_end_in_the_state_of_one(lab, reference, arguments):
    for number in range(ROUNDS):
        prefix = f"two{number}"
        gone = prepare(lab, prefix)
        let_two_see_the_same(lab)
        processes = [lab.start(*arguments), lab.start(*arguments)]
        for done in map(lab.finish, processes):
            assert_no_failure(done)
        assert_same(state(lab, prefix, gone), reference, "after both")
        assert_same(settle(lab, prefix, gone), reference, "in the end")
        begin_afresh(lab)


def test_passes_that_start_one_after_the_other_in_short_order_end_in_the_state_of_one(lab, reference):
    for number in range(ROUNDS):
        prefix = f"row{number}"
        gone = prepare(lab, prefix)
        processes = []
        for _ in range(4):
            processes.append(lab.start(proxied=False))
            time.sleep(0.01 * number)
        for done in map(lab.finish, processes):
            assert_no_failure(done)
        assert_same(settle(lab, prefix, gone), reference, "in the end")
        begin_afresh(lab)


def test_two_hosts_with_users_and_archives_of_their_own_end_in_the_state_of_one(lab, reference):
    prefix = "hosts"
    gone = prepare(lab, prefix)
    second = lab.archive.parent / "second"
    second.mkdir()
    processes = [lab.start(proxied=False),
                 lab.start(proxied=False, kubeconfig=lab.second_kubeconfig, archive=second)]
    for done in map(lab.finish, processes):
        assert_no_failure(done)
    final = settle(lab, prefix, gone)
    uids = {archive["uid"] for folder in (lab.archive, second) for archive in lab.archived(folder).values()}
    assert uids == {*gone.values(), STALE_ARCHIVE["uid"]}
    for found in (final, reference):
        found.pop("archives")
    assert_same(final, reference, "in the end")


def test_two_users_of_one_host_share_a_folder_that_belongs_to_one_of_them(lab, reference):
    if reason := usable_by_nobody():
        pytest.skip(reason)
    gone = prepare(lab, "users")
    let_two_see_the_same(lab)
    shared = lab.archive.parent
    shared.chmod(0o755)
    for path in (lab.archive, *lab.archive.iterdir()):
        os.chown(path, NOBODY, NOBODY)
    own = lab.archive.parent / "kubeconfig"
    own.write_text(lab.proxy_kubeconfig.read_text())
    processes = [lab.start(), lab.start(kubeconfig=own, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/")]
    for done in map(lab.finish, processes):
        assert_no_failure(done)
    assert {path.stat().st_uid for path in lab.archive.iterdir()} == {NOBODY}
    assert_same(settle(lab, "users", gone), reference, "in the end")


# ---------------------------------------------------------------------------------------------------------------------
# A race that is lost for sure


def test_a_pass_that_lost_a_race_runs_again_at_once(lab):
    lab.make("one")
    lab.run_clean()
    lab.set_hard("one", {"pods": "99"})
    event = threading.Event()
    hold = Hold(Stage.APPLIED, event, collection=["resourcequotas"], times=1)
    lab.proxy.add(hold)
    process = lab.start()
    assert hold.reached.wait(10.0)
    lab.set_hard("one", {"pods": "77"})
    event.set()
    done = lab.finish(process)
    assert done.code == 0, done
    assert [exchange.answer.code for exchange in lab.proxy.writes("quota")] == [422, 200]
    assert breaches(lab) == []


def test_a_pass_loses_three_races_at_most_and_leaves_the_rest_to_the_next(lab):
    lab.make("one")
    lab.run_clean()
    lab.set_hard("one", {"pods": "99"})
    numbers = iter(range(60, 90))
    lab.proxy.add(Call(Stage.ARRIVED, lambda exchange: lab.set_hard("one", {"pods": str(next(numbers))}), verb="PATCH",
                       path="resourcequotas"))
    done = lab.run()
    assert done.code == 1 and "left for the next pass" in done.output and "ailed" not in done.output, done
    assert [exchange.answer.code for exchange in lab.proxy.writes("quota")] == [422, 422, 422]
    lab.converge(most=1)


def test_a_lost_race_of_one_team_space_stops_no_other(lab):
    for name in ("calm", "raced"):
        lab.make(name)
    lab.run_clean()
    for name in ("calm", "raced"):
        lab.set_hard(name, {"pods": "99"})
    numbers = iter(range(60, 90))
    lab.proxy.add(Call(Stage.ARRIVED, lambda exchange: lab.set_hard("raced", {"pods": str(next(numbers))}),
                       verb="PATCH", path="team-raced/resourcequotas"))
    assert lab.run().code == 1
    assert {text.partition(":")[0] for text in breaches(lab)} == {"raced"}


def test_a_deletion_between_list_and_write_is_no_failure(lab):
    lab.make("one")
    event = threading.Event()
    hold = Hold(Stage.APPLIED, event, collection=["teamspaces"], times=1)
    lab.proxy.add(hold)
    process = lab.start()
    assert hold.reached.wait(10.0)
    lab.delete("one")
    event.set()
    done = lab.finish(process)
    assert done.code == 0, done
    assert lab.team_space("one") is None and lab.space("one") is None


def held_at(lab, **match):
    """Begins a pass and holds its first such request before the server hears of it; returns the pass and the release."""
    event = threading.Event()
    hold = Hold(Stage.ARRIVED, event, times=1, **match)
    lab.proxy.add(hold)
    process = lab.start()
    assert hold.reached.wait(10.0)
    return process, event


def test_a_handing_over_that_is_withdrawn_is_respected(lab):
    lab.admin.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace",
                                  "metadata": {"name": "team-gift", "labels": {LABEL: "gift"}}})
    lab.make("gift")
    process, event = held_at(lab, verb="PATCH", path="/namespaces/team-gift")
    lab.admin.patch(f"{NAMESPACES}/team-gift", op("remove", LABEL_POINTER))
    event.set()
    done = lab.finish(process)
    assert done.code == 1 and "NamespaceConflict" in done.output, done
    assert "ownerReferences" not in lab.space("gift")["metadata"]
    assert lab.quota("gift") is None


def test_an_owner_reference_that_is_removed_with_the_label_gone_is_no_licence_to_put_the_label_on(lab):
    lab.make("one")
    lab.run_clean()
    lab.admin.patch(f"{NAMESPACES}/team-one", op("remove", LABEL_POINTER))
    process, event = held_at(lab, verb="PATCH", path="/namespaces/team-one")
    lab.admin.merge(f"{NAMESPACES}/team-one", {"metadata": {"ownerReferences": None}})
    event.set()
    done = lab.finish(process)
    # It is ours all the same, by its uid: that is what the second round goes by.
    assert [exchange.answer.code for exchange in lab.proxy.writes("namespaces/team-one")] == [422, 200]
    assert done.code == 0 and breaches(lab) == [], done


def test_a_quota_that_got_into_somebody_elses_namespace_is_taken_back(lab):
    lab.make("inn")
    lab.run_clean()
    lab.admin.delete(lab.quota_path("inn"))
    process, event = held_at(lab, verb="POST", path="/resourcequotas")
    lab.admin.delete(f"{NAMESPACES}/team-inn")
    lab.finalize_namespace("team-inn")
    lab.admin.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-inn"}})
    event.set()
    done = lab.finish(process)
    assert done.code == 1 and "NamespaceConflict" in done.output, done
    assert lab.quota("inn") is None
    assert [(exchange.verb, exchange.answer.code) for exchange in lab.proxy.writes("resourcequotas")] == [
        ("POST", 201), ("DELETE", 200)]
    assert "namespaceUID" not in lab.team_space("inn")["status"]


def test_a_status_that_another_has_written_meanwhile_is_not_overwritten(lab):
    lab.make("one")
    lab.run_clean()
    lab.admin.merge(f"{TEAM_SPACES}/one", {"spec": {"cpu": "1000m"}})  # Equal: only the status is to be written.
    process, event = held_at(lab, verb="PATCH", path="/status")
    newer = ready_of(lab.team_space("one")) | {"message": "words of a pass that saw more"}
    lab.admin.merge(f"{TEAM_SPACES}/one/status", {"status": {"conditions": [newer]}})
    event.set()
    done = lab.finish(process)
    assert [exchange.answer.code for exchange in lab.proxy.writes("/status")] == [422, 200]
    assert done.code == 0 and breaches(lab) == [], done


# ---------------------------------------------------------------------------------------------------------------------
# A busy writer


class Busy(threading.Thread):
    """Patches the same objects all the time, and remembers what it was told is stored."""

    def __init__(self, lab, names, seed):
        super().__init__(daemon=True)
        self._lab, self._names, self._random = lab, names, random.Random(seed)
        self._end = threading.Event()
        self.finalizers = {name: [] for name in names}
        self.edits = 0
        self.error = None

    def stop(self):
        self._end.set()
        self.join(20.0)
        assert self.error is None, self.error

    def run(self):
        try:
            while not self._end.is_set():
                self._edit(self._random.choice(self._names))
                self.edits += 1
        except Exception as error:
            self.error = error

    def _edit(self, name):
        if self._random.random() < 0.5:
            self._edit_finalizers(name)
        elif self._random.random() < 0.6:
            self._ignoring(lambda: self._lab.set_hard(name, {"pods": str(self._random.randint(51, 99))}))
        else:
            label = op("add", LABEL_POINTER, "edited")
            self._ignoring(lambda: self._lab.admin.patch(f"{NAMESPACES}/team-{name}", label))

    def _edit_finalizers(self, name):
        held, path = self.finalizers[name], f"{TEAM_SPACES}/{name}"
        there = self._lab.team_space(name)["metadata"].get("finalizers", [])
        lost = set(held) - set(there)
        assert not lost, f"{name} lost the finalizers {lost} of another"
        if held and self._random.random() < 0.5:
            victim = self._random.choice(held)
            index = f"/metadata/finalizers/{there.index(victim)}"
            if self._ignoring(lambda: self._lab.admin.patch(path, op("test", index, victim), op("remove", index))):
                held.remove(victim)
        else:
            new = f"busy.example/n{self.edits}"
            # In front of ours or behind it; a cleverer writer than this one would test the list.
            place = "/metadata/finalizers/" + self._random.choice(["0", "-"])
            if there and self._ignoring(lambda: self._lab.admin.patch(path, op("add", place, new))):
                held.append(new)

    @staticmethod
    def _ignoring(edit):
        """Returns whether the edit went through; that a race is lost, or nothing is there, is normal."""
        try:
            edit()
            return True
        except ApiError as error:
            if error.code not in (404, 409, 422):
                raise
            return False


def test_a_busy_writer_loses_nothing_and_causes_no_failure(lab):
    names = ["busy-a", "busy-b", "busy-c"]
    for name in names:
        lab.make(name)
    lab.run_clean()
    writers = [Busy(lab, names[:2], seed=SEED), Busy(lab, names[2:], seed=SEED + 1)]
    for writer in writers:
        writer.start()
    passes = []
    end = time.monotonic() + (60.0 if LONG else 4.0)
    while time.monotonic() < end:
        passes.append(lab.run_clean())
    for writer in writers:
        writer.stop()

    for done in passes:
        # Three passes within half a second may all be outrun, and say so.
        if "WriteFailed: the same write fails in every pass, as if somebody else were always faster" in done.output:
            continue
        assert done.code in (0, 1) and "ailed" not in done.output and " refused" not in done.output, done
        assert done.code == 0 or "left for the next pass" in done.output, done
    assert len(passes) >= (2 if LINGER else 5) and all(writer.edits >= 20 for writer in writers)
    lab.converge(most=1)
    assert breaches(lab) == []
    for writer in writers:
        for name, held in writer.finalizers.items():
            assert sorted(lab.team_space(name)["metadata"]["finalizers"]) == sorted([*held, FINALIZER])


def test_others_take_their_finalizers_off_while_ours_is_taken_off(lab):
    """The index of ours moves under the patch; whatever it hits must be ours."""
    for number in range(ROUNDS):
        name = f"crowd{number}"
        crowd = [f"crowd.example/n{index}" for index in range(12)]
        lab.make(name)
        lab.run_clean()
        lab.set_finalizers(name, [*crowd[:6], FINALIZER, *crowd[6:]])
        lab.delete(name)
        stays, taken = set(crowd[1::3]), []

        def leave():
            for finalizer in crowd:
                if finalizer in stays:
                    continue
                while True:
                    there = lab.team_space(name)["metadata"]["finalizers"]
                    index = f"/metadata/finalizers/{there.index(finalizer)}"
                    try:
                        lab.admin.patch(f"{TEAM_SPACES}/{name}", op("test", index, finalizer), op("remove", index))
                        break
                    except ApiError as error:
                        assert error.code == 422
                taken.append(finalizer)

        thread = threading.Thread(target=leave)
        thread.start()
        done = lab.run_clean()
        thread.join()
        assert len(taken) == 8 and done.code in (0, 1) and "ailed" not in done.output, done
        lab.converge(most=1)
        assert lab.team_space(name)["metadata"]["finalizers"] == [f for f in crowd if f in stays]


# ---------------------------------------------------------------------------------------------------------------------
# Edits by hand at random


class Monitor(threading.Thread):
    """Watches the TeamSpaces, and keeps what must never have been."""

    def __init__(self, lab):
        super().__init__(daemon=True)
        certificate = lab.plane.issue_client("monitor", ["system:masters"])
        tls = ssl.create_default_context(cafile=lab.plane.authority.certificate)
        tls.load_cert_chain(certificate.certificate, certificate.key)
        self._connection = http.client.HTTPSConnection("127.0.0.1", lab.plane.port, context=tls)
        version = lab.admin.get(TEAM_SPACES)["metadata"]["resourceVersion"]
        self._connection.request("GET", f"{TEAM_SPACES}?watch=1&resourceVersion={version}")
        self._response = self._connection.getresponse()
        self._observed = {}
        self.events = 0
        self.wrong = []

    def run(self):
        try:
            while line := self._response.readline():
                self._look(json.loads(line))
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass  # stop() closes the connection under us

    def stop(self):
        self._connection.sock.shutdown(2)
        self.join(5.0)

    def _look(self, event):
        self.events += 1
        item = event["object"]
        uid, name = item["metadata"]["uid"], item["metadata"]["name"]
        observed = item.get("status", {}).get("observedGeneration", 0)
        if observed > item["metadata"]["generation"]:
            self.wrong.append(f"{name}: observedGeneration {observed} of {item['metadata']['generation']}")
        if observed < self._observed.get(uid, 0):
            self.wrong.append(f"{name}: observedGeneration went back to {observed}")
        self._observed[uid] = observed


class Adversary:
    """Edits by hand, at random, whatever cnpa-op looks after; remembers what must not get lost."""

    NAMES = [f"hand-{letter}" for letter in "abcdef"]

    def __init__(self, lab, seed):
        self._lab, self._admin, self._random = lab, lab.admin, random.Random(seed)
        self._number = 0
        self.must_be_archived = {}  # uids that had our finalizer when they were deleted, with their names
        self.finalizers = {}  # by uid: those of others that were put on
        self.marks = {}  # by namespace uid: labels and annotations of others
        self.log = []
        self._owner = self._admin.find("/apis/rbac.authorization.k8s.io/v1/clusterroles/cnpa-op")
        self._edits = [self.make] * 6 + [self.delete] * 3 + [
            self.change_spec, self.change_spec, self.edit_quota, self.edit_quota, self.delete_quota, self.scope_quota,
            self.remove_label, self.wrong_label, self.remove_owner, self.add_owner, self.add_mark,
            self.delete_namespace, self.add_finalizer, self.add_finalizer, self.remove_finalizer,
            self.remove_finalizer, self.remove_ours]

    def edit(self):
        """Does one edit; whether there was anything to edit does not matter."""
        self._number += 1
        what, name = self._random.choice(self._edits), self._random.choice(self.NAMES)
        try:
            what(name)
            outcome = "done"
        except ApiError as error:
            if error.code not in (403, 404, 409, 422):
                raise
            outcome = error.code
        self.log.append(f"{what.__name__} {name}: {outcome}")

    def make(self, name):
        self._lab.make(name, pods=self._random.randint(1, 50), cpu=self._random.choice(["1", "0.5", "1500m", "0.0001"]))

    def change_spec(self, name):
        self._lab.set_spec(name, pods=self._random.randint(1, 50), cpu=self._random.choice(["2", "250m", "1.0"]))

    def delete(self, name):
        policy = self._random.choice(["Background", "Foreground", "Orphan"])
        deleted = self._lab.delete(name, propagationPolicy=policy)
        if deleted and FINALIZER in deleted.get("metadata", {}).get("finalizers", []):
            self.must_be_archived[deleted["metadata"]["uid"]] = name

    def edit_quota(self, name):
        self._lab.set_hard(name, self._random.choice([{"pods": "99"}, {"pods": "1", "requests.cpu": "9"},
                                                      {"requests.cpu": "1", "secrets": "3"}]))

    def delete_quota(self, name):
        self._admin.delete(self._lab.quota_path(name))

    def scope_quota(self, name):
        self._admin.delete(self._lab.quota_path(name))
        self._admin.create(f"{NAMESPACES}/team-{name}/resourcequotas", {
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
            "spec": {"hard": {"pods": "3"}, "scopes": ["NotTerminating"]}})

    def remove_label(self, name):
        self._admin.patch(f"{NAMESPACES}/team-{name}", op("remove", LABEL_POINTER))

    def wrong_label(self, name):
        self._admin.patch(f"{NAMESPACES}/team-{name}", op("add", LABEL_POINTER, self._random.choice(["", "other"])))

    def remove_owner(self, name):
        self._admin.merge(f"{NAMESPACES}/team-{name}", {"metadata": {"ownerReferences": None}})

    def add_owner(self, name):
        """Another living owner, before or behind ours."""
        place = f"/metadata/ownerReferences/{self._random.choice('0-')}"
        self._admin.patch(f"{NAMESPACES}/team-{name}", op("add", place, {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "cnpa-op",
            "uid": self._owner["metadata"]["uid"]}))

    def add_mark(self, name):
        kind, mark = self._random.choice(["labels", "annotations"]), f"hand.example/n{self._number}"
        done = self._admin.merge(f"{NAMESPACES}/team-{name}", {"metadata": {kind: {mark: "kept"}}})
        self.marks.setdefault(done["metadata"]["uid"], set()).add((kind, mark))

    def delete_namespace(self, name):
        self._admin.delete(f"{NAMESPACES}/team-{name}")

    def add_finalizer(self, name):
        new = f"hand.example/n{self._number}"
        done = self._admin.patch(f"{TEAM_SPACES}/{name}", op("add", "/metadata/finalizers/-", new))
        self.finalizers.setdefault(done["metadata"]["uid"], set()).add(new)

    def remove_finalizer(self, name):
        there = self._lab.team_space(name)
        ours = there and self.finalizers.get(there["metadata"]["uid"])
        if ours:
            self.take_off(there, self._random.choice(sorted(ours)))

    def take_off(self, team_space, finalizer):
        index = f"/metadata/finalizers/{team_space['metadata']['finalizers'].index(finalizer)}"
        self._admin.patch(f"{TEAM_SPACES}/{team_space['metadata']['name']}", op("test", index, finalizer),
                          op("remove", index))
        self.finalizers[team_space["metadata"]["uid"]].discard(finalizer)

    def remove_ours(self, name):
        metadata = (self._lab.team_space(name) or {"metadata": {}})["metadata"]
        if "deletionTimestamp" not in metadata and FINALIZER in metadata.get("finalizers", []):
            index = f"/metadata/finalizers/{metadata['finalizers'].index(FINALIZER)}"
            self._admin.patch(f"{TEAM_SPACES}/{name}", op("test", index, FINALIZER), op("remove", index))

    def lost(self):
        """Returns what was stored and is gone although nobody took it away."""
        team_spaces, spaces, _ = self._lab.everything()
        found = []
        for item in team_spaces.values():
            there = set(item["metadata"].get("finalizers", []))
            if gone := self.finalizers.get(item["metadata"]["uid"], set()) - there:
                found.append(f"finalizers of {item['metadata']['name']}: {gone}")
        for item in spaces.values():
            for kind, mark in self.marks.get(item["metadata"]["uid"], ()):
                if mark not in item["metadata"].get(kind, {}):
                    found.append(f"{kind} of {item['metadata']['name']}: {mark}")
        archived = {archive["uid"]: archive["name"] for archive in self._lab.archived().values()}
        for uid, name in self.must_be_archived.items():
            waits = any(item["metadata"]["uid"] == uid for item in team_spaces.values())
            if not waits and archived.get(uid) != name:
                found.append(f"the archive of {name}, {uid}")
        return found


def test_random_edits_by_hand_then_stillness_end_in_the_state_of_the_contract(lab):
    adversary, monitor = Adversary(lab, SEED), Monitor(lab)
    monitor.start()
    passes, end = [], time.monotonic() + (180.0 if LONG else 10.0)

    def run_passes():
        while time.monotonic() < end:
            passes.append(lab.run_clean())

    thread = threading.Thread(target=run_passes)
    thread.start()
    losses = set()
    while time.monotonic() < end and not losses:
        adversary.edit()
        if len(adversary.log) % 50 == 0:
            losses = set(adversary.lost()) & set(adversary.lost())  # twice: an archive may move while it is looked for
    thread.join()
    story = f"seed {SEED}, {len(adversary.log)} edits, {len(passes)} passes; the last: {adversary.log[-12:]}"
    assert not losses, f"{losses}; {story}"

    # Stillness: what is Terminating goes, and no more than three passes are needed.
    lab.end_terminating_namespaces()
    lab.run_clean()
    lab.wait_until_no_orphan()
    lab.end_terminating_namespaces()
    writes = None
    for _ in range(3):
        writes, done = lab.written_by_a_pass()
        if not writes:
            break
    monitor.stop()

    assert writes == [], f"{done}; {story}"
    assert breaches(lab) == [], story
    assert adversary.lost() == [], story
    assert monitor.wrong == [] and monitor.events > 50, story
    for done in passes:
        assert done.code in (0, 1), f"{done}; {story}"
        assert "WriteFailed" not in done.output and "ArchiveFailed" not in done.output, f"{done}; {story}"
    assert len(adversary.must_be_archived) >= 3 and len(passes) >= 10, story
