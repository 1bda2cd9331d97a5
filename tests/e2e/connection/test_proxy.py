# SPDX-License-Identifier: Apache-2.0
"""Tests of the fault proxy itself, with Python's own client before it and a real API server behind it."""

import http.client
import itertools
import json
import ssl
import subprocess
import sys
import threading
import time

import pytest

from fault_support import NAMESPACES, TEAM_SPACES, fault_plane, lab  # noqa: F401
from proxy import (Answer, Call, Cut, CutAnswer, Delay, Hold, Kill, Replay, Respond, Rewrite, Rule, Stage, Trickle,
                   Victim)


class Client:
    """One kept connection to the proxy, without credentials."""

    def __init__(self, lab):
        tls = ssl.create_default_context(cafile=lab.plane.authority.certificate)
        self._connection = http.client.HTTPSConnection("127.0.0.1", lab.proxy.port, timeout=10.0, context=tls)

    def send(self, method, path, body=None, content_type="application/json"):
        headers = {"Content-Type": content_type} if body else {}
        self._connection.request(method, path, body and json.dumps(body), headers)
        response = self._connection.getresponse()
        return response.status, response.read(), response

    def close(self):
        self._connection.close()

    @property
    def socket(self):
        return self._connection.sock


@pytest.fixture
def client(lab):
    client = Client(lab)
    yield client
    client.close()


BROKEN = (http.client.HTTPException, OSError)


class NewNamespace:
    """A namespace to be made, of a name that no test had before."""

    numbers = itertools.count(1)

    def __init__(self, lab):
        name = f"team-new-{next(self.numbers)}"
        self.body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        self.exists = lambda: lab.admin.find(f"{NAMESPACES}/{name}") is not None


@pytest.fixture
def new(lab):
    return NewNamespace(lab)


def test_a_request_that_no_rule_takes_is_passed_on_as_the_limited_user(client):
    code, body, _ = client.send("GET", TEAM_SPACES)
    assert code == 200 and json.loads(body)["kind"] == "TeamSpaceList"
    code, body, _ = client.send("GET", "/api/v1/secrets")
    assert code == 403 and 'User \\"cnpa-op\\"' in body.decode()


def test_one_connection_serves_many_requests(lab, client):
    client.send("GET", TEAM_SPACES)
    first = client.socket
    client.send("GET", NAMESPACES)
    assert client.socket is first
    assert lab.proxy.log[0].connection is lab.proxy.log[1].connection


def test_the_log_has_ordinal_verb_path_body_and_answer_of_each_request(lab, client, new):
    client.send("GET", f"{TEAM_SPACES}?limit=1")
    client.send("POST", NAMESPACES, new.body)
    lab.wait_until(lambda: lab.proxy.log[-1].stage == Stage.DELIVERED, "the end of the exchange")
    assert [(e.ordinal, e.verb, e.path, e.answer.code, e.stage) for e in lab.proxy.log] == [
        (1, "GET", TEAM_SPACES, 200, Stage.DELIVERED), (2, "POST", NAMESPACES, 201, Stage.DELIVERED)]
    assert lab.proxy.log[0].query == {"limit": ["1"]}
    assert lab.proxy.log[1].json() == new.body
    assert lab.proxy.writes() == [lab.proxy.log[1]]


def test_the_framing_of_the_server_is_kept(lab, client):
    assert client.send("GET", TEAM_SPACES)[2].getheader("Content-Length")
    lab.make("large", annotations={"large": "x" * 250000})
    _, body, response = client.send("GET", TEAM_SPACES)
    assert response.getheader("Transfer-Encoding") == "chunked" and json.loads(body)


def test_a_cut_on_arrival_keeps_the_request_from_the_server(lab, client, new):
    lab.proxy.add(Cut(Stage.ARRIVED, verb="POST"))
    with pytest.raises(BROKEN):
        client.send("POST", NAMESPACES, new.body)
    assert not new.exists()
    assert lab.proxy.writes() == [] and lab.proxy.log[0].cut


def test_a_cut_once_applied_loses_the_answer_only(lab, client, new):
    lab.proxy.add(Cut(Stage.APPLIED, verb="POST"))
    with pytest.raises(BROKEN):
        client.send("POST", NAMESPACES, new.body)
    assert new.exists()
    assert [exchange.answer.code for exchange in lab.proxy.writes()] == [201]


def test_an_answer_can_be_cut_after_some_bytes_of_its_body(lab, client):
    lab.proxy.add(CutAnswer(10))
    with pytest.raises(http.client.IncompleteRead) as cut:
        client.send("GET", TEAM_SPACES)
    assert len(cut.value.partial) == 10


def test_an_answer_can_be_cut_within_its_head(lab, client):
    lab.proxy.add(CutAnswer(10, of_body=False))
    with pytest.raises(BROKEN):
        client.send("GET", TEAM_SPACES)


def test_a_chunked_answer_can_be_cut_before_its_last_chunk(lab, client):
    lab.proxy.add(Rewrite(lambda answer: Answer(answer.code, answer.headers, answer.body, chunked=True)), CutAnswer(-5))
    with pytest.raises(http.client.IncompleteRead):
        client.send("GET", TEAM_SPACES)


@pytest.mark.parametrize("stage, applied", [(Stage.ARRIVED, False), (Stage.APPLIED, True)])
def test_a_request_can_be_held_until_an_event(lab, client, new, stage, applied):
    event = threading.Event()
    hold = Hold(stage, event, verb="POST")
    lab.proxy.add(hold)
    codes = []
    thread = threading.Thread(target=lambda: codes.append(client.send("POST", NAMESPACES, new.body)[0]))
    thread.start()
    assert hold.reached.wait(10.0)
    assert new.exists() == applied and codes == []
    event.set()
    thread.join()
    assert codes == [201]


def test_an_answer_can_be_made_up(lab, client):
    lab.proxy.add(Respond(Answer.of(503, {"kind": "Status"}, {"Retry-After": "7"})))
    code, body, response = client.send("GET", TEAM_SPACES)
    assert (code, json.loads(body), response.getheader("Retry-After")) == (503, {"kind": "Status"}, "7")
    assert lab.proxy.log[0].own


def test_an_answer_can_be_compressed(lab, client):
    lab.proxy.add(Rewrite(Answer.gzipped))
    _, body, response = client.send("GET", TEAM_SPACES)
    assert response.getheader("Content-Encoding") == "gzip" and body.startswith(b"\x1f\x8b")


def test_a_list_can_be_answered_as_it_was_at_an_earlier_moment(lab, client):
    client.send("GET", TEAM_SPACES)
    client.send("GET", NAMESPACES)
    empty = lab.proxy.take_moment()
    lab.make("one")
    lab.proxy.add(Replay(empty, ["teamspaces"]))
    assert json.loads(client.send("GET", TEAM_SPACES)[1])["items"] == []
    lab.proxy.reset()
    fresh = Client(lab)
    assert len(json.loads(fresh.send("GET", TEAM_SPACES)[1])["items"]) == 1
    fresh.close()


def test_an_exchange_can_be_delayed(lab, client):
    lab.proxy.add(Delay(Stage.APPLIED, 0.3))
    began = time.monotonic()
    client.send("GET", TEAM_SPACES)
    assert time.monotonic() - began >= 0.3


def test_an_answer_can_trickle(lab, client):
    lab.proxy.add(Respond(Answer.of(200, "x" * 40)), Trickle(50, 0.05))
    began = time.monotonic()
    assert client.send("GET", TEAM_SPACES)[1] == b"x" * 40
    assert time.monotonic() - began >= 0.1


def test_a_function_is_a_rule_too(lab, client):
    seen = []
    lab.proxy.add(lambda exchange: seen.append(exchange.path))
    client.send("GET", TEAM_SPACES)
    assert seen == [TEAM_SPACES]


def test_a_watch_is_passed_on_as_it_comes(lab, client):
    version = json.loads(client.send("GET", NAMESPACES)[1])["metadata"]["resourceVersion"]
    lab.plane.kubectl("create", "clusterrole", "fault-watch", "--verb=get,watch", "--resource=namespaces")
    lab.plane.kubectl("create", "clusterrolebinding", "fault-watch", "--clusterrole=fault-watch", "--user=cnpa-op")
    try:
        lab.wait_until(lambda: client.send("GET", f"{NAMESPACES}/default")[0] == 200, "the right to watch")
        client._connection.request("GET", f"{NAMESPACES}?watch=1&resourceVersion={version}&timeoutSeconds=5")
        response = client._connection.getresponse()
        lab.admin.merge(f"{NAMESPACES}/default", {"metadata": {"labels": {"fault": version}}})
        event = json.loads(response.readline())
    finally:
        lab.plane.kubectl("delete", "clusterrolebinding,clusterrole", "fault-watch")
    assert event["type"] == "MODIFIED" and event["object"]["metadata"]["labels"]["fault"] == version


# What a rule takes

MATCHES = [
    ("verb", {"verb": "POST"}, []),
    ("path", {"path": "teamspaces$"}, [1, 3]),
    ("query", {"path": "limit=1"}, [4]),
    ("collection", {"collection": ["namespaces"]}, [2, 4]),
    ("ordinal", {"ordinal": 3}, [3]),
    ("nth of those that match", {"path": "teamspaces$", "nth": 2}, [3]),
    ("the first few", {"times": 2}, [1, 2]),
    ("a function", {"when": lambda exchange: exchange.ordinal > 3}, [4]),
]


@pytest.mark.parametrize("match, taken", [case[1:] for case in MATCHES], ids=[case[0] for case in MATCHES])
def test_a_rule_takes_what_it_matches(lab, client, match, taken):
    seen = []
    lab.proxy.add(Call(Stage.ARRIVED, lambda exchange: seen.append(exchange.ordinal), **match))
    for path in (TEAM_SPACES, NAMESPACES, TEAM_SPACES, f"{NAMESPACES}?limit=1"):
        client.send("GET", path)
    assert seen == taken


def test_reset_forgets_rules_and_log(lab, client):
    lab.proxy.add(Cut(Stage.ARRIVED))
    with pytest.raises(BROKEN):
        client.send("GET", TEAM_SPACES)
    lab.proxy.reset()
    client.close()
    assert client.send("GET", TEAM_SPACES)[0] == 200
    assert [exchange.ordinal for exchange in lab.proxy.log] == [1]


# Killing

ASKS_TWICE = """
import http.client, ssl, sys
tls = ssl.create_default_context(cafile=sys.argv[1])
for path in ("/version?first", "/version?second"):
    connection = http.client.HTTPSConnection("127.0.0.1", int(sys.argv[2]), context=tls)
    connection.request("GET", path)
    connection.getresponse().read()
"""


@pytest.mark.parametrize("stage", list(Stage))
def test_a_process_is_killed_at_a_stage_and_nothing_of_it_is_passed_on_later(lab, stage):
    victim = Victim()
    lab.proxy.add(Kill(stage, victim, path="first"))
    process = subprocess.Popen([sys.executable, "-c", ASKS_TWICE, str(lab.plane.authority.certificate),
                                str(lab.proxy.port)])
    victim.set(process)
    assert process.wait(10.0) == -9
    assert victim.killed.wait(20.0), "no end of the killing"
    assert [(exchange.target, exchange.stage) for exchange in lab.proxy.log] == [("/version?first", stage)]
    assert (lab.proxy.log[0].answer is None) == (stage == Stage.ARRIVED)


def test_a_rule_of_ones_own_needs_one_method(lab, client):
    class Teapot(Rule):
        def at(self, stage, exchange, proxy):
            if stage == Stage.APPLIED:
                exchange.answer = Answer.of(418, "short and stout")

    lab.proxy.add(Teapot(path="version"))
    assert client.send("GET", "/version")[:2] == (418, b"short and stout")
