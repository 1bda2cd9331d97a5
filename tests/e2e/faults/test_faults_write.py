# SPDX-License-Identifier: Apache-2.0
"""Writes that fail, a row each: the chain of that TeamSpace ends, the others are served, exit code 1."""

import json
import re
from dataclasses import dataclass

from harness import NAMESPACES, TEAMS, said
from raw_server import Request
from raw_support import (AT_ONCE, ENDS_EARLY, HTML, JARGON, LATE, NEW, SECRET, SPARE, STALLED, answer_sanely,
                         answers, described, half, quota, sends, sized, status, table, trickles, writes_for)

ALPHAS_QUOTA = f"POST {NAMESPACES}/team-alpha/resourcequotas"
MISSING_RIGHT = 'resourcequotas is forbidden: User "raw" cannot create resource "resourcequotas" in API group ""'


@dataclass(frozen=True)
class Unwritten:
    """A write, that of alpha's quota, that fails; `says` is what is said of it."""

    name: str
    does: object
    says: str
    within: float = AT_ONCE
    tries: int = 1

    def run(self, bench):
        def respond(request):
            if request.is_write and described(request) == ALPHAS_QUOTA:
                return self.does(request, json.dumps(quota("alpha")).encode())
            return answer_sanely(request, NEW)
        return bench.run_against(respond)


def raises_observed_generation(request):
    changes = {change["path"]: change["value"] for change in json.loads(request.body) if change["op"] != "test"}
    return "/status/observedGeneration" in changes or "observedGeneration" in changes.get("/status", {})


def check_unwritten(row, outcome):
    """The failure ends alpha's chain, and is told of in one line; gamma is served."""
    assert outcome.result.code == 1, outcome
    failure, = said("^! ", outcome.result.lines)
    assert re.search(r"^! TeamSpace/alpha .*(" + row.says + ")", failure), failure
    assert not JARGON.search(failure) and SECRET not in outcome.result.stderr, failure
    assert outcome.seconds < row.within, outcome
    writes = {name: [write for write in outcome.writes if re.search(rf"\b{name}\b", write)]
              for name in ("alpha", "gamma")}
    tries = writes["alpha"].count(ALPHAS_QUOTA)
    assert 1 <= tries <= row.tries, outcome
    status_path = f"{TEAMS}/alpha/status"
    assert writes["alpha"] in ([*writes_for("alpha")[:2], *[ALPHAS_QUOTA] * tries, *told]
                               for told in ([], [f"PATCH {status_path}"]))
    assert not any(raises_observed_generation(request) for request in outcome.requests if request.path == status_path)
    assert writes["gamma"] == writes_for("gamma")
    assert said(r"^2 team spaces: 1 created, 1 (failed|refused); ", outcome.result.lines[-1:]), outcome


@table(
    # On a kept connection too, for which libcurl would send it again by itself.
    Unwritten("reset before the answer", sends(b"", Request.reset), "reset|closed|lost"),
    Unwritten("closed before the answer", sends(b""), "closed the connection without an answer"),
    Unwritten("reset in the middle of the answer", sends(half, Request.reset), ENDS_EARLY),
    Unwritten("an answer cut short", sends(half), ENDS_EARLY),
    Unwritten("no answer", sends(b"", Request.hold), LATE, STALLED),
    Unwritten("a byte a second", trickles, LATE, STALLED),
    Unwritten("429", answers(429, "slow down"), "429.*slow down", tries=3),
    Unwritten("429, Retry-After: 1", answers(429, "slow down", Retry_After="1"), "429", 2 + SPARE, 3),
    Unwritten("429, Retry-After: 3600", answers(429, "slow down", Retry_After="3600"), "429"),
    Unwritten("500 with a Status", status(500, "a webhook failed", "InternalError"), "500.*a webhook failed"),
    Unwritten("500 of a server that ends", status(500, "dial tcp: connection refused", "InternalError"),
              "500.*connection refused: it may still have been applied"),
    Unwritten("500 database is locked", status(500, "database is locked"), "500.*database is locked"),
    Unwritten("502 with a page", answers(502, HTML), "502"),
    Unwritten("503 without a word", answers(503), "503"),
    Unwritten("401", status(401, "Unauthorized", "Unauthorized"), "unauthorized"),
    Unwritten("403 of one verb", status(403, MISSING_RIGHT, "Forbidden"), "cannot create resourcequotas"),
    Unwritten("an answer cut short in its head", sends(lambda good: sized(good)[:60]), "not the API server's"),
    Unwritten("a proxy's page with code 200", answers(200, HTML, Content_Type="text/html"), "not the API server's"),
    Unwritten("an empty 200", answers(200), "not the API server's"),
    Unwritten("405", status(405, "not here", "MethodNotAllowed"), "405.*not here"),
    Unwritten("413", status(413, "too much", "RequestEntityTooLarge"), "413.*too much"),
    Unwritten("415", status(415, "not this", "UnsupportedMediaType"), "415.*not this"),
)
def test_write_that_fails_ends_its_chain_only(row, outcomes):
    check_unwritten(row, outcomes[row.name].result())
