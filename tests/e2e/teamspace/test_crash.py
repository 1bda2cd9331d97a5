# SPDX-License-Identifier: Apache-2.0
"""A crash anywhere is harmless: a pass is killed at each of its requests, and later passes make up for it.

One scenario has all kinds of change at once. It is run once undisturbed, for the requests and the state in the end;
then again for each request and each of three cut points, with new names: the process gets SIGKILL before the server
hears of the request, when the server has done it and nobody knows, or when the answer was just sent.

By default some of the moments are left out; CNPA_OP_TEST_LONG=1 takes them all.
"""

import json
import re
import shutil
import subprocess

import pytest

from fault_support import (FINALIZER, FOREIGN, LABEL, LISTS, LONG, STALE_ARCHIVE, Lab, assert_same,  # noqa: F401
                           fault_plane, lab, prepare, settle)
from proxy import Kill, Stage, Victim

# ---------------------------------------------------------------------------------------------------------------------
# The runs


class Scenario:
    """Runs the scenario again and again, each time with new names."""

    runs = 0

    def __init__(self, lab):
        self.lab = lab

    def begin(self):
        """Makes a fresh one; returns its prefix and the uids that go."""
        Scenario.runs += 1
        prefix = f"r{Scenario.runs}"
        self.lab.proxy.reset()
        self.lab.clear()
        if self.lab.archive.exists():
            shutil.rmtree(self.lab.archive)
        return prefix, prepare(self.lab, prefix)

    def undisturbed(self, *arguments):
        """Returns the requests of a pass that nothing disturbs, in a form without names, and the state in the end."""
        prefix, gone = self.begin()
        done = self.lab.run(*arguments)
        assert done.code == 1, f"the refused one must count: {done}"
        assert " 1 refused" in done.output, done
        requests = [label(exchange, prefix) for exchange in self.lab.proxy.log]
        assert len(set(requests)) == len(requests), f"a pass sends nothing twice: {requests}"
        return requests, settle(self.lab, prefix, gone)

    def killed_at(self, request, stage, *arguments):
        """Kills a pass at a request of `undisturbed` and returns the state that later passes come to."""
        prefix, gone = self.begin()
        victim = Victim()
        self.lab.proxy.add(Kill(stage, victim, when=lambda exchange: label(exchange, prefix) == request))
        process = self.lab.start(*arguments)
        victim.set(process)
        done = self.lab.finish(process)
        # With the last answer in its hands a pass may be faster at its own end than the signal, even than its sending.
        ended = stage == Stage.DELIVERED and label(self.lab.proxy.log[-1], prefix) == request
        assert victim.killed.wait(20.0) and (done.code == -9 or ended), f"was not killed: {done}"
        assert self.lab.proxy.log[-1].stage <= stage, "something was passed on after the kill"
        return settle(self.lab, prefix, gone)


def label(exchange, prefix):
    """Returns a request's verb and path without the run's prefix. The lists come side by side, so there is no order.

    What is read by its name before or after a change is told by its query, an event by its words.
    """
    if exchange.verb == "POST" and exchange.path.endswith("/events"):
        words = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "UID", exchange.json()["note"])
        return f"{exchange.verb} event {words}".replace(f"{prefix}-", "PREFIX-")
    by_name = exchange.path.endswith(("/teamspaces", "/namespaces")) and "fieldSelector" in exchange.query
    target = re.sub(r"&timeout=\d+s", "", exchange.target) if by_name else exchange.path
    return f"{exchange.verb} {target.replace(f'{prefix}-', 'PREFIX-')}"


@pytest.fixture
def scenario(lab):
    return Scenario(lab)


@pytest.fixture(scope="module")
def reference(fault_plane):
    """The requests and the final state of an undisturbed run at concurrency 1."""
    lab = Lab(fault_plane)
    try:
        return Scenario(lab).undisturbed("--concurrency", "1")
    finally:
        lab.close()


# ---------------------------------------------------------------------------------------------------------------------
# The tests


def test_the_scenario_has_every_kind_of_request(reference):
    requests, _ = reference
    assert sorted({request.split(" ")[0] for request in requests}) == ["DELETE", "GET", "PATCH", "POST"]
    assert {request.rpartition("/")[2] for request in requests if request.startswith("GET")} >= set(LISTS)
    assert len(requests) >= 20, requests
    assert len([request for request in requests if request.startswith("POST event ")]) >= 10, "events are sent too"


def test_the_undisturbed_run_ends_as_the_contract_has_it(reference):
    _, final = reference
    assert final["teamspaces"]["PREFIX-held"]["finalizers"] == FOREIGN
    assert "PREFIX-released" not in final["teamspaces"] and "PREFIX-again" not in final["teamspaces"]
    assert set(final["archives"]) == {"PREFIX-released.json", "PREFIX-held.json", "PREFIX-again.json",
                                      "PREFIX-again.EARLIER.json"}
    for file, archive in final["archives"].items():
        name = file.partition(".")[0]
        wanted = "uid of an earlier one" if "EARLIER" in file else f"uid of {name}"
        assert (archive["name"], archive["uid"]) == (name, wanted)
    assert final["quotas"]["PREFIX-drifted"] == {"hard": {"pods": "4", "requests.cpu": "1"}}
    assert final["quotas"]["PREFIX-scoped"] == {"hard": {"pods": "4", "requests.cpu": "1"}}
    assert final["quotas"]["PREFIX-behind"] == {"hard": {"pods": "7", "requests.cpu": "500m"}}
    assert final["namespaces"]["PREFIX-refused"] == {"labels": {"kubernetes.io/metadata.name": "team-PREFIX-refused"},
                                                     "owners": []}
    for name in ("drifted", "unowned", "quotaless", "scoped", "unlabelled", "behind", "new"):
        name = f"PREFIX-{name}"
        assert final["teamspaces"][name]["status"]["observedGeneration"] == final["teamspaces"][name]["generation"]
        assert final["namespaces"][name]["labels"][LABEL] == name
        assert [owner["uid"] for owner in final["namespaces"][name]["owners"]] == [f"uid of {name}"]


def test_two_undisturbed_runs_send_the_same_requests_and_end_in_the_same_state(scenario, reference):
    requests, final = scenario.undisturbed("--concurrency", "1")
    assert sorted(requests) == sorted(reference[0])
    assert_same(final, reference[1], "undisturbed")


STAGES = pytest.mark.parametrize("stage", list(Stage), ids=["not-applied", "applied", "answered"])


def assert_made_up_for(scenario, final, stage, requests, *arguments):
    """Kills a pass at each of `requests` and asserts that the final state is `final` all the same."""
    failures = []
    for request in requests:
        try:
            assert_same(scenario.killed_at(request, stage, *arguments), final, "the end")
        except AssertionError as failure:
            failures.append(f"killed at {request}: {failure}")
    assert not failures, "\n".join(failures)


@STAGES
def test_a_pass_killed_at_any_request_is_made_up_for(scenario, reference, stage):
    requests, final = reference
    # "Answered" and "the next one has not been applied" are one moment, so every second one of each is all of them.
    sample = requests if LONG or stage == Stage.APPLIED else requests[::2]
    assert_made_up_for(scenario, final, stage, sample, "--concurrency", "1")


@STAGES
def test_a_pass_with_writes_side_by_side_killed_at_any_request_is_made_up_for(scenario, reference, stage):
    requests, final = reference
    assert_made_up_for(scenario, final, stage, requests if LONG else requests[4 + stage::7])


def test_a_pass_killed_three_times_over_at_its_first_write_is_made_up_for(lab, scenario, reference):
    prefix, gone = scenario.begin()
    for _ in range(3):
        victim = Victim()
        lab.proxy.reset()
        lab.proxy.add(Kill(Stage.APPLIED, victim, when=lambda exchange: exchange.is_write))
        process = lab.start("--concurrency", "1")
        victim.set(process)
        assert lab.finish(process).code == -9
    assert_same(settle(lab, prefix, gone), reference[1], "the end")


# ---------------------------------------------------------------------------------------------------------------------
# Between the requests: the archive's way to the disk


def strace_inject():
    """Returns why system calls can't be made to kill, or None."""
    if not shutil.which("strace"):
        return "there is no strace"
    done = subprocess.run(["strace", "-o", "/dev/null", "-f", "-e", "inject=fsync:signal=KILL:when=1", "true"],
                          capture_output=True, text=True)
    return None if done.returncode == 0 else f"strace can't trace here: {done.stderr.strip()[:100]}"


NO_STRACE = strace_inject()

# Each call on the way of an archive to the disk, and whether a whole archive must be there when it is begun.
CALLS = [
    ("the folder above is synced", "fsync", 1, False),
    ("the file is synced", "fsync", 2, False),
    ("it is renamed", "renameat", 1, False),
    ("the folder is synced", "fsync", 3, True),
]


@pytest.mark.skipif(bool(NO_STRACE), reason=NO_STRACE or "")
@pytest.mark.parametrize("call, nth, whole", [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
@pytest.mark.parametrize("earlier", [False, True], ids=["first", "of-a-name-used-before"])
def test_a_pass_killed_before_a_step_of_the_archive_keeps_the_finalizer(lab, call, nth, whole, earlier):
    uid = lab.make("gone")["metadata"]["uid"]
    lab.run_clean()
    lab.delete("gone")
    lab.archive.mkdir(exist_ok=True)
    if earlier:
        (lab.archive / "gone.json").write_text(json.dumps(STALE_ARCHIVE | {"name": "gone"}))

    done = lab.run_clean(under=["strace", "-f", "-qq", "-o", "/dev/null", "-e",
                                f"inject={call}:signal=KILL:when={nth}"])
    assert done.code in (-9, 137), done

    assert lab.team_space("gone")["metadata"]["finalizers"] == [FINALIZER]
    files = {path.name: path.read_text() for path in lab.archive.iterdir() if not path.name.startswith(".")}
    assert uids_of(files).count(uid) == whole
    assert uids_of(files).count(STALE_ARCHIVE["uid"]) >= earlier, "the earlier archive is lost"

    assert lab.run_clean().code == 0
    assert lab.team_space("gone") is None
    archives = lab.archived()
    assert archives["gone.json"]["uid"] == uid
    assert len(archives) == 1 + earlier, sorted(archives)
    assert sorted(archive["uid"] for archive in archives.values()) == sorted(
        [uid] + [STALE_ARCHIVE["uid"]] * earlier)


@pytest.mark.skipif(bool(NO_STRACE), reason=NO_STRACE or "")
def test_a_pass_killed_while_it_keeps_an_earlier_archive_loses_neither(lab):
    uid = lab.make("gone")["metadata"]["uid"]
    lab.run_clean()
    lab.delete("gone")
    lab.archive.mkdir(exist_ok=True)
    (lab.archive / "gone.json").write_text(json.dumps(STALE_ARCHIVE | {"name": "gone"}))
    done = lab.run_clean(under=["strace", "-f", "-qq", "-o", "/dev/null", "-e", "inject=linkat:signal=KILL:when=1"])
    assert done.code in (-9, 137), done
    assert lab.team_space("gone")["metadata"]["finalizers"] == [FINALIZER]
    assert lab.run_clean().code == 0
    assert {file: archive["uid"] for file, archive in lab.archived().items()} == {
        "gone.json": uid, f"gone.{STALE_ARCHIVE['uid']}.json": STALE_ARCHIVE["uid"]}


def uids_of(files):
    """Returns the uids of whole archives among the texts of files."""
    found = []
    for text in files.values():
        try:
            found.append(json.loads(text)["uid"])
        except (ValueError, KeyError):
            pass  # half written: as good as not there
    return found
