# SPDX-License-Identifier: Apache-2.0
"""A real server's bad days: it is killed, stopped, frozen, or shows a certificate of somebody else.

Passes run in a loop, as in production, and somebody makes, changes and deletes TeamSpaces by hand all the while. Then
comes a fault of DAYS, and goes. Whatever happened, each pass ends in time, with a code and words that are known; soon
after the end of the fault all is as specified, a further pass writes nothing, and by the audit log nothing was made
twice. What the passes said is printed (pytest -s).

By default each fault comes once; CNPA_OP_TEST_LONG=1 repeats it.
"""

import collections
import http.client
import json
import random
import re
import subprocess
import threading
import time
from dataclasses import dataclass

import pytest

from authority import Authority
from controlplane import SERVER_NAMES
from fault_support import API_VERSION, CNPA_OP, FINALIZER, LONG, NAMESPACES, TEAM_SPACES, Bench, Lab, breaches

ROUNDS = 5 if LONG else 1
PASS_FLAGS = ("--timeout", "5s", "--request-timeout", "2s")
PASS_SECONDS = 15.0  # the pass's own limit, and what a busy machine may add
PASSES_UNTIL_RIGHT = 5
RECOVERY_SECONDS = 120.0
CALM_SECONDS = 1.5  # of passes and changes by hand before and after a fault
FAULT_SECONDS = 3.0
# A line a request says all but the name of what is created.
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Request", "users": ["cnpa-op"], "verbs": ["create"]}, {"level": "Metadata"}],
}


@pytest.fixture(scope="module")
def bench():
    bench = Bench(audit_policy=AUDIT_POLICY)
    yield bench
    bench.stop()


@pytest.fixture
def lab(bench):
    lab = Lab(bench)
    yield lab
    lab.close()


# ---------------------------------------------------------------------------------------------------------------------
# What goes on meanwhile


class Worker(threading.Thread):
    """Does `step` again and again until it is left; what failed there fails the test then."""

    def __init__(self, pause_seconds):
        super().__init__(daemon=True)
        self._pause_seconds = pause_seconds
        self._done = threading.Event()
        self._failure = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *failure):
        self.end()

    def end(self):
        """Lets the step at hand come to its end, and no other begin."""
        self._done.set()
        self.join()
        if self._failure:
            raise self._failure

    def run(self):
        try:
            while not self._done.wait(self._pause_seconds):
                self.step()
        except BaseException as failure:
            self._failure = failure


@dataclass(frozen=True)
class Pass:
    """A pass of the loop: when it began and ended, by time.monotonic(), how, and what it said."""

    began: float
    ended: float
    code: int
    output: str

    @property
    def seconds(self):
        return self.ended - self.began

    @property
    def complaints(self):
        """What it said but for changes that it did, their sum, and that the tests' hand undoes them again and again."""
        expected = r"[-+~] |\d+ team spaces?: |! \S+ +Contested: "
        return [line for line in self.output.splitlines() if not re.match(expected, line)]


class Loop(Worker):
    """`while true; do cnpa-op reconcile --once; sleep 0.1; done`"""

    def __init__(self, lab):
        super().__init__(pause_seconds=0.1)
        self.turn = threading.Lock()  # who holds it lets no pass begin
        self._command = [CNPA_OP, "reconcile", "--once", "--kubeconfig", lab.plane.user_kubeconfig, "--archive",
                         lab.archive, *PASS_FLAGS]
        self.passes = []

    def step(self):
        with self.turn:
            began = time.monotonic()
        done = subprocess.run(self._command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=2 * PASS_SECONDS)
        self.passes.append(Pass(began, time.monotonic(), done.returncode, done.stdout))

    def since(self, moment):
        """Returns the passes that began after `moment`."""
        return [each for each in self.passes if each.began >= moment]

    def wait_for(self, condition, what, seconds=60.0):
        """Waits until a pass that begins from now on fulfils `condition`."""
        now = deadline = time.monotonic()
        deadline += seconds
        while not any(map(condition, self.since(now))):
            assert time.monotonic() < deadline and self.is_alive(), f"not in {seconds} s: {what}: {self.passes[-3:]}"
            time.sleep(0.02)


class Hand(Worker):
    """Makes, changes and deletes TeamSpaces; each act is done until the server says that it is done.

    Attributes: `alive`, the specs by name; `gone`, name, uid and spec of those that were deleted, by name, all of which
    had been finalized; `dropped`, how often the quota of a TeamSpace was deleted, at most.
    """

    def __init__(self, plane, prefix):
        super().__init__(pause_seconds=0.02)
        self._plane = plane
        self.prefix = prefix
        self._random = random.Random(prefix)
        self._count = 0
        self.alive, self.gone = {}, {}
        self.dropped = collections.Counter()

    def step(self):
        self._count += 1
        act = self._count % 5
        if act in (1, 3):
            self.make()
        elif act == 4 and len(self.alive) > 6:
            self.delete(self._random.choice(list(self.alive)))
        else:
            self.spoil(self._random.choice(list(self.alive)))

    def make(self):
        name = f"{self.prefix}-{self._count}"
        spec = {"pods": 1 + self._count % 50, "cpu": f"{1 + self._count}m"}
        self.send("POST", TEAM_SPACES, {"apiVersion": API_VERSION, "kind": "TeamSpace", "metadata": {"name": name},
                                        "spec": spec}, allow=(409,))
        self.alive[name] = spec

    def spoil(self, name):
        """Changes what the TeamSpace asks for, or what a pass made of it."""
        kind = self._random.choice(("spec", "hard", "label", "quota"))
        if kind == "spec":
            self.alive[name] = {"pods": self._random.randint(1, 50), "cpu": "2"}
            self.merge(f"{TEAM_SPACES}/{name}", {"spec": self.alive[name]})
        elif kind == "hard":
            self.merge(Lab.quota_path(name), {"spec": {"hard": {"pods": "99"}}})
        elif kind == "label":
            self.merge(f"{NAMESPACES}/team-{name}", {"metadata": {"labels": {"platform.labhub.io/teamspace": None}}})
        else:
            self.dropped[name] += 1  # a DELETE whose answer is lost, and its repetition, may find one quota each
            self.send("DELETE", Lab.quota_path(name), allow=(404,), on_retry=lambda: self.dropped.update([name]))

    def delete(self, name):
        """One that no pass has seen yet is left alone: it would go without an archive, and rightly so."""
        metadata = self.send("GET", f"{TEAM_SPACES}/{name}").json()["metadata"]
        if FINALIZER in metadata.get("finalizers", []):
            self.send("DELETE", f"{TEAM_SPACES}/{name}", allow=(404,))
            self.gone[name] = {"name": name, "uid": metadata["uid"], **self.alive.pop(name)}

    def merge(self, path, body):
        """What is not there yet can't be changed, and needs not."""
        self.send("PATCH", path, body, "application/merge-patch+json", allow=(404,))

    def send(self, method, path, body=None, content_type="application/json", allow=(), on_retry=lambda: None):
        """Returns the first answer of the server that is none of a bad day."""
        deadline = time.monotonic() + RECOVERY_SECONDS
        while True:
            try:
                response = self._plane.request(method, path, body, content_type=content_type, timeout_seconds=3.0)
                if response.status < 300 or response.status in allow:
                    return response
                last = response
                assert response.status in (409, 429) or response.status >= 500, (method, path, response)
            except (OSError, http.client.HTTPException) as error:
                last = error
            assert time.monotonic() < deadline, f"{method} {path}: {last}"
            on_retry()
            time.sleep(0.05)


# ---------------------------------------------------------------------------------------------------------------------
# The faults


def kill_the_server(day):
    """The API server is killed while a pass has writes in flight, stays away a while, and is started again."""
    server = day.plane.component("kube-apiserver")
    day.begin_writes()
    server.kill()
    day.hold()
    server.start(wait=False)


def stop_the_server(day):
    """The API server is asked to end while a pass has writes in flight, and is started again once it has ended."""
    server = day.plane.component("kube-apiserver")
    day.manager.kill()  # for its watches the server would live on for up to a minute
    day.begin_writes()
    server.stop(timeout_seconds=70.0)
    server.start(wait=False)


def kill_the_storage(day):
    """etcd, or kine, is killed and started again; the API server lives."""
    day.begin_writes()
    day.plane.storage.kill()
    day.hold()
    day.plane.storage.start()


def freeze_the_storage(day):
    """etcd, or kine, stands still, its connections open, for longer than a pass may take; then it goes on."""
    day.begin_writes()
    day.plane.storage.pause()
    day.hold(6.0)
    day.plane.storage.resume()


def replace_the_authority(day):
    """The server shows a certificate of an authority that the kubeconfig does not know; then the old one again."""
    plane, server = day.plane, day.plane.component("kube-apiserver")
    folder = plane.folder / f"other-authority-{time.monotonic_ns()}"
    folder.mkdir()
    ours, plane.server_certificate = plane.server_certificate, Authority(folder, SERVER_NAMES).server("kube-apiserver")
    server.kill()
    server.start(wait=False)
    day.loop.wait_for(distrusts, "a pass that does not trust the server")
    position, distrusted = plane.audit_position(), time.monotonic()
    day.hold()
    before = [each for each in day.loop.since(distrusted)]
    server.kill()
    plane.server_certificate = ours
    assert len(before) >= 3 and all(map(distrusts, before)), before
    assert day.own_events(position) == [], "something was asked of a server that is not trusted"
    server.start(wait=False)


def distrusts(done):
    return done.code == 3 and re.search("the server's certificate is not trusted", done.output) is not None


DAYS = (kill_the_server, stop_the_server, kill_the_storage, freeze_the_storage, replace_the_authority)

# What a pass may say, each with the codes with which it may.
NO_CONNECTION = "cannot reach https://127.0.0.1:[0-9]+: "
KINDS = (
    ((1, 3), NO_CONNECTION + "connection (refused|reset by peer)"),
    ((1, 3), NO_CONNECTION + "the server closed the connection without an answer"),
    ((1, 3), NO_CONNECTION + r"the answer ends in the middle \("),
    ((1, 3), NO_CONNECTION + "no TLS with the server: "),
    ((1, 3), NO_CONNECTION + "no (connection|answer|whole answer)( within |: --timeout is over)"),
    ((1, 3), NO_CONNECTION + "the server's certificate is not trusted .*: check 'certificate-authority'"),
    ((3,), "^cnpa-op: the API server is not ready yet(, or does not let user .*)?$"),
    ((1, 3), "503 ServiceUnavailable: apiserver is shutting down"),
    ((1, 3), "503 ServiceUnavailable: the request has been made before all known HTTP paths have been installed"),
    ((1,), "^! TeamSpace/[^ ]+ +changed during this pass, the next one tries again "),
    ((1, 3), r"429 TooManyRequests: storage is \(re\)initializing"),
    ((1,), "429: Too many requests, please try again later"),
    ((1, 3), "500 InternalError: Internal error occurred: .*connect: connection refused"),
    ((1, 3), "500: (rpc error: code = Unavailable|etcdserver: |database is locked)"),
    ((1, 3), "504 Timeout: Timeout: request did not complete within the allotted timeout"),
    ((1,), r"^! and \d+ more like these$"),
    ((1,), "the server fails too often: nothing more was begun, the rest is left for the next pass$"),
    ((1,), "after a lost race: the API server is not ready yet$"),
)


class Day:
    """A fault with all that goes on around it."""

    def __init__(self, lab, prefix):
        self.lab, self.plane = lab, lab.plane
        self.manager = self.plane.component("kube-controller-manager")
        self.loop = Loop(lab)
        self.burst = {}  # specs of TeamSpaces that were made at once, by name
        self.struck = None  # when the fault came, if that was in the midst of a pass
        self.hand = Hand(lab.plane, prefix)

    def hold(self, seconds=FAULT_SECONDS):
        time.sleep(seconds)

    def begin_writes(self, count=40):
        """Makes many TeamSpaces at once, and returns in the midst of the pass that writes for them."""
        names = [f"{self.hand.prefix}-burst-{number}" for number in range(count)]
        spec = {"pods": 7, "cpu": "3"}
        items = [{"apiVersion": API_VERSION, "kind": "TeamSpace", "metadata": {"name": name}, "spec": spec}
                 for name in names]
        with self.loop.turn:
            self.plane.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List",
                                                                      "items": items}))
            end = self.plane.audit_log.stat().st_size
        self.burst = dict.fromkeys(names, spec)

        def quotas_are_made():
            with open(self.plane.audit_log, "rb") as log:
                log.seek(end)
                return log.read().count(b"-burst-") > 2 * count
        self.lab.wait_until(quotas_are_made, "a pass in the midst of its writes")
        self.struck = time.monotonic()

    def own_events(self, position):
        """Returns what the audit log has of the passes."""
        return self.plane.audit_since(position, user="cnpa-op")

    def live_through(self, fault):
        """Has the fault come and go; returns how it was."""
        position = self.plane.audit_position()
        with self.loop:
            with self.hand:
                time.sleep(CALM_SECONDS)
                began = time.monotonic()
                fault(self)
                back = time.monotonic()
                self.plane.component("kube-apiserver").wait_until_ready()
                ready = time.monotonic()
                if not self.manager.running:
                    self.manager.start()
                time.sleep(CALM_SECONDS)
            quiet = time.monotonic()
            self.lab.wait_until(lambda: breaches(self.lab) == [], "the right state", RECOVERY_SECONDS)
            right = time.monotonic()
        return Outcome(self, position, began, back, ready, quiet, right)


@dataclass(frozen=True)
class Outcome:
    """A day in its end. The moments: the fault began, was over, the server was ready, the last change by hand was made,
    all was right."""

    day: Day
    position: int
    began: float
    back: float
    ready: float
    quiet: float
    right: float

    @property
    def passes_until_right(self):
        """How many passes began after the last change and before all was right."""
        return sum(self.quiet < each.began < self.right for each in self.day.loop.passes)

    def table(self):
        """Returns what the passes said, by code, with counts, and how long everything took."""
        passes, hand = self.day.loop.passes, self.day.hand
        counts = collections.Counter()
        for each in passes:
            counts.update((each.code, words) for words in {plain(line) for line in each.complaints} or {"-"})
        good = min(each.ended for each in passes if each.ended > self.back and each.code == 0)
        struck = [each for each in passes if self.day.struck and each.began < self.day.struck < each.ended]
        return "\n".join([
            *(f"{count:5}  exit {code}  {words}" for (code, words), count in sorted(counts.items())),
            f"{len(passes)} passes, the longest {max(each.seconds for each in passes):.1f} s; "
            f"{len(hand.alive) + len(self.day.burst)} team spaces alive, {len(hand.gone)} deleted",
            *(f"the pass that it struck: exit {each.code}, {len(each.output.splitlines())} lines, the last one: "
              f"{plain(each.output.splitlines()[-1])}" for each in struck),
            f"the fault took {self.back - self.began:.1f} s; after its end: server ready "
            f"{self.ready - self.back:.1f} s, first pass with exit 0 {good - self.back:.1f} s; after the last change "
            f"by hand: all right {self.right - self.quiet:.2f} s, passes {self.passes_until_right}",
        ])


def plain(line):
    """Returns a line without what differs from pass to pass."""
    line = re.sub(r"127\.0\.0\.1(:| port )\d+", "SERVER", line)
    line = re.sub(r"[\w-]+-(burst-)?\d+\b", "NAME", line)
    line = re.sub(r"\d+(\.\d+)? ?(ms|s|milliseconds)\b", "N s", line)
    line = re.sub(r' \(context "cnpa-op", \S+\)', "", line)
    return re.sub(r" {2,}", " ", line)


# ---------------------------------------------------------------------------------------------------------------------
# What must hold in the end


def check_passes(outcome):
    """Each pass ended in time, as it may, and with known words; the fault was felt."""
    assert any(each.code != 0 for each in outcome.day.loop.passes)
    for each in outcome.day.loop.passes:
        assert each.code in (0, 1, 3) and each.seconds < PASS_SECONDS, each
        assert not (each.code == 0 and each.complaints), each
        unknown = [line for line in each.complaints
                   if not any(each.code in codes and re.search(words, line) for codes, words in KINDS)]
        assert unknown == [], f"of a pass that ended with {each.code}"
        if each.code == 3:
            assert len(each.output.splitlines()) == 1, f"code 3 says that nothing was written: {each}"


def check_state(outcome):
    """What was asked for is there, and whatever was deleted is in the archive, once."""
    day = outcome.day
    found = {name: team_space["spec"] for name, team_space in day.lab.everything()[0].items()}
    assert found == day.hand.alive | day.burst
    archived = day.lab.archived()
    assert set(archived) == {f"{name}.json" for name in day.hand.gone}
    for name, wanted in day.hand.gone.items():
        assert wanted.items() <= archived[f"{name}.json"].items()


def check_writes(outcome):
    """By the audit log nothing was made twice, no finalizer was added or taken off twice.

    Of a write during which the server or its storage went away the log may have nothing.
    """
    day, made, finalized = outcome.day, collections.Counter(), collections.Counter()
    for event in day.own_events(outcome.position):
        reference, code = event.get("objectRef", {}), event["responseStatus"]["code"]
        if reference.get("resource") == "events":
            continue
        if event["verb"] == "create" and code == 201:
            name = event["requestObject"]["metadata"]["name"]
            made[reference["resource"], reference.get("namespace", name).removeprefix("team-")] += 1
        elif event["verb"] == "patch" and code == 200 and reference["resource"] == "teamspaces" and (
                "subresource" not in reference):
            finalized[reference["name"]] += 1
    assert made and finalized
    for (resource, name), count in made.items():
        assert count <= 1 + (day.hand.dropped[name] if resource == "resourcequotas" else 0), (resource, name, count)
    for name, count in finalized.items():
        assert count <= (2 if name in day.hand.gone else 1), (name, count)


@pytest.mark.parametrize("number", range(ROUNDS))
@pytest.mark.parametrize("fault", DAYS, ids=lambda fault: fault.__name__)
def test_after_a_bad_day_all_is_as_specified_and_nothing_was_made_twice(lab, fault, number):
    outcome = Day(lab, f"{fault.__name__.replace('_', '-')}-{number}").live_through(fault)
    print(f"\n{fault.__doc__}\n{outcome.table()}")
    check_passes(outcome)
    assert outcome.passes_until_right <= PASSES_UNTIL_RIGHT
    lab.converge(most=0)
    check_state(outcome)
    check_writes(outcome)
