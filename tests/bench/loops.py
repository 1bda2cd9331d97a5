# SPDX-License-Identifier: Apache-2.0
"""What goes on for ever, cnpa-op's loop and the operator: its cost while nothing happens, and how soon it repairs."""

import contextlib
import json
import random
import signal
import subprocess
import tempfile
import threading
import time

import metering
from figures import figure, percentile
from keeper import die_with_parent
from metering import MeasureError, Spending
from teams import PODS, QUOTAS

WRONG_PODS = 49
PATIENCE_SECONDS = 60
SEED = 1


@contextlib.contextmanager
def running(argv, env):
    """Runs a program for the length of a `with` and yields its process.

    Errors: MeasureError when it has ended before.
    """
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(list(map(str, argv)), env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   preexec_fn=die_with_parent(signal.SIGTERM))
        try:
            yield process
            if process.poll() is not None:
                said.seek(0)
                raise MeasureError(f"{argv[0]} ended with {process.returncode}: {said.read()[-2000:].strip()}")
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def idle(rig, program, process, background, seconds):
    """Returns the figures of a process for which nothing is to do: CPU per minute, its own and the API server's, and
    its memory."""
    own = Spending(process.pid, children=True)
    server = Spending(rig.server_pid(), background)
    resident = []
    for _ in range(seconds):
        time.sleep(1)
        resident.append(metering.resident_bytes(process.pid))
    per_minute = 60 / seconds
    return [figure("idle.cpu", program, rig.team_spaces, [own.seconds() * per_minute]),
            figure("idle.server_cpu", program, rig.team_spaces, [server.seconds() * per_minute]),
            figure("idle.memory", program, rig.team_spaces, resident)]


def repairs(rig, program, edits, interval):
    """Returns the figures of hand edits of quotas, each later than the one before by at least `interval` and a second,
    at no fixed moment of a loop's interval."""
    choice = random.Random(SEED)
    seconds = []
    with rig.wire() as wire, Watch(rig) as watch:
        for _ in range(edits):
            time.sleep(interval + 1 + choice.uniform(0, interval))
            namespace = f"team-bench-{choice.randrange(rig.team_spaces):05}"
            watch.forget()
            wire.ask("PATCH", f"/api/v1/namespaces/{namespace}/resourcequotas/team-quota",
                     {"spec": {"hard": {"pods": str(WRONG_PODS)}}}, content_type="application/merge-patch+json")
            edited = time.monotonic()
            seconds.append(watch.repaired(namespace) - edited)
    return [figure(kind, program, rig.team_spaces, seconds, value=percentile(seconds, share))
            for kind, share in (("repair.p50", 50), ("repair.p99", 99))]


class Watch:
    """A watch of all quotas, for the length of a `with`: it notes when each was seen as it should be."""

    def __init__(self, rig):
        self._wire = rig.wire()
        self._changed = threading.Condition()
        self._wrong, self._right = set(), {}

    def __enter__(self):
        listed = json.loads(self._wire.ask("GET", f"{QUOTAS}&limit=1"))
        version = listed["metadata"]["resourceVersion"]
        self._stream = self._wire.send("GET", f"{QUOTAS}&watch=1&timeoutSeconds=3600&resourceVersion={version}")
        threading.Thread(target=self._read, daemon=True).start()
        return self

    def __exit__(self, *failure):
        self._wire.shut()

    def forget(self):
        with self._changed:
            self._wrong, self._right = set(), {}

    def repaired(self, namespace):
        """Returns when the quota of `namespace` was right again, on the monotonic clock. Errors: MeasureError."""
        with self._changed:
            if not self._changed.wait_for(lambda: namespace in self._right, PATIENCE_SECONDS):
                raise MeasureError(f"the quota of {namespace} was not repaired within {PATIENCE_SECONDS} s")
            return self._right[namespace]

    def _read(self):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # the connection is shut under it in the end
            for line in self._stream:
                self._note(json.loads(line)["object"])

    def _note(self, quota):
        namespace, pods = quota["metadata"]["namespace"], quota["spec"]["hard"].get("pods")
        with self._changed:
            if pods == str(WRONG_PODS):
                self._wrong.add(namespace)
            elif namespace in self._wrong and pods == str(PODS):
                self._right.setdefault(namespace, time.monotonic())
                self._changed.notify_all()
