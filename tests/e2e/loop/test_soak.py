# SPDX-License-Identifier: Apache-2.0
"""The loop over a long time: somebody undoes its work, a webhook breaks or refuses in ever new words, a policy changes
what it sends. Nothing grows: not the events, not the status writes of what is refused, not the memory, not the log.

CNPA_OP_TEST_SOAK says for how many seconds; best with CNPA_OP_TEST_BACKEND=sqlite. What was seen is printed (pytest -s).
"""

import itertools
import os
import random
import signal
import time
from pathlib import Path

import pytest

from admission import Webhook, mutating_policy
from harness import EVENTS, LABEL, TEAMS, spoken, wait_for

SECONDS = float(os.environ.get("CNPA_OP_TEST_SOAK", "0"))
CALM, HELD, CAPPED = ([f"soak-{kind}-{number}" for number in range(count)]
                      for kind, count in (("calm", 10), ("held", 10), ("capped", 5)))
CODES = (401, 403, 404, 409, 422, 429, 500, 503)
MINUTE = 60.0

pytestmark = pytest.mark.skipif(not SECONDS, reason="takes as long as one says: CNPA_OP_TEST_SOAK=7200")


def memory(pid):
    """Returns the peak and the present size of a process in KiB."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["VmHWM"].split()[0]), int(lines["VmRSS"].split()[0])


class Hostile:
    """Decides for the webhook: what is held is refused, each team space with a code of its own, or by a connection that
    breaks, in words that are never the same."""

    def __init__(self):
        self._count = itertools.count()
        self._codes = dict(zip((f"team-{name}" for name in HELD), CODES, strict=False))

    def __call__(self, review):
        space = review.get("namespace", "")
        if not space.startswith("team-soak-held"):
            return None
        if space not in self._codes:
            return Webhook.RESET
        return {"code": self._codes[space],
                "message": f"no budget, incident {review['uid']} at {time.time():.3f}, try {next(self._count)}"}


def undo(cluster, chance):
    """Undoes something of a team space that is served."""
    name = chance.choice(CALM)
    deeds = [
        lambda: cluster.patch_quota(name, {"pods": str(chance.randrange(60, 99))}),
        lambda: cluster.api("DELETE", cluster.quota_path(name), allow=(404,)),
        lambda: cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: None}}}),
        lambda: cluster.patch_team(name, {"spec": {"pods": chance.randrange(1, 50)}}),
    ]
    if cluster.quota(name):
        chance.choice(deeds)()


class Record:
    """What there is after each minute."""

    def __init__(self, cluster, loop):
        self._cluster, self._loop = cluster, loop
        self._seen = cluster.mark()
        self.status_writes = dict.fromkeys(HELD + CAPPED, 0)
        self.rows = []

    def add(self):
        seen, self._seen = self._seen, self._cluster.mark()
        requests = self._cluster.requests(seen)
        for name in self.status_writes:
            path = f"{TEAMS}/{name}/status"
            self.status_writes[name] += sum(request.is_write and request.path == path for request in requests)
        events = self._cluster.api("GET", EVENTS)["items"]
        _, resident = memory(self._loop.process.pid)
        row = {"events": len(events), "refused": sum(event["reason"] == "QuotaRefused" for event in events),
               "status": sum(self.status_writes.values()), "resident": resident, "lines": len(spoken(self._loop)),
               "requests": len(requests)}
        self.rows.append(row)
        print(row, flush=True)


def test_nothing_grows_over_a_long_time(cluster):
    chance = random.Random(7)
    cluster.create_teams(CALM + HELD, pods=4)
    cluster.converge()
    cluster.create_teams(CAPPED, pods=7)
    for name in HELD:
        cluster.patch_team(name, {"spec": {"pods": 9}})
    cap = ('request.resource.resource == "resourcequotas" && object.metadata.namespace.startsWith("team-soak-capped")'
           ' ? [JSONPatch{op: "add", path: "/spec/hard/pods", value: "2"}] : []')
    with (Webhook(cluster, ["resourcequotas"], Hostile()), mutating_policy(cluster, [cap]),
          cluster.started("reconcile", "--interval=1s") as loop):
        wait_for(lambda: all(cluster.ready(name).get("status") == "False" for name in HELD + CAPPED), "they are refused")
        record = Record(cluster, loop)
        record.add()
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            minute = time.monotonic() + min(MINUTE, end - time.monotonic())
            while time.monotonic() < minute:
                undo(cluster, chance)
                time.sleep(chance.random() * 2)
            record.add()
            assert not [name for name in HELD + CAPPED if cluster.ready(name)["status"] != "False"]
        loop.signal(signal.SIGTERM)
        assert loop.finish(30).code == 0

    early, late = record.rows[min(2, len(record.rows) - 1)], record.rows[-1]
    assert late["resident"] <= early["resident"] + 1024, record.rows
    assert max(record.status_writes.values()) <= 3, record.status_writes
    assert late["refused"] <= early["refused"] + 3, record.rows
