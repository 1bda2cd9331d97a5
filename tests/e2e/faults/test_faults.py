# SPDX-License-Identifier: Apache-2.0
"""What a server may do wrong when it is asked for a list, a row each, and what a pass makes of it.

Whatever it does: a pass that cannot read a list, or the CRD, ends in time, with one line that names server or list,
with exit code 3, and without a write. There is never a plan from a part of a list. One odd item costs its own team
space only.
"""

import gzip
import json
import re
from dataclasses import dataclass

import pytest

from harness import TEAMS, said
from raw_server import RawServer, Request
from raw_support import (AT_ONCE, ENDS_EARLY, HTML, JARGON, LATE, LISTS, RETRIED, SECRET, SPARE, STALLED, TO_THE_END,
                         TRIES, answer_sanely, answers, body, check_one_line, chunk, compressed, converged_team, half,
                         item, list_of, listed, sends, sized, status, table, team, text, trickles, wire, without_end,
                         writes_for)

# Lists that can't be read ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Unread:
    """A list that can't be read.

    `does` is what the server does with it, `says` what the line must say; `tries` bounds how often the list was asked
    for.
    """

    name: str
    does: object
    says: str
    within: float = RETRIED
    tries: int = TRIES
    on: str = "teamspaces"

    def run(self, bench):
        return bench.run_row(self)


def once(name, does, says, on="teamspaces"):
    """A row of what no second try can mend."""
    return Unread(name, does, says, AT_ONCE, 1, on)


def check_unread(row, outcome):
    assert outcome.result.code == 3, outcome
    check_one_line(outcome, row.says)
    assert outcome.seconds < row.within, outcome
    assert outcome.writes == [], outcome
    assert 1 <= len(outcome.lists(row.on)) <= row.tries, outcome
    assert all(len(outcome.lists(other)) <= 1 for other in LISTS if other != row.on), outcome


@table(
    # libcurl asks again for each connection that it kept, of which the other lists have left two.
    Unread("reset before an answer", sends(b"", Request.reset), "reset|closed", tries=TRIES + 2),
    Unread("closed before an answer", sends(b""), "closed the connection without an answer", tries=TRIES + 2),
    Unread("reset in the middle of the head", sends(b"HTTP/1.1 200 OK\r\nContent-", Request.reset), ENDS_EARLY),
    Unread("reset in the middle of an answer", sends(half, Request.reset), ENDS_EARLY),
    Unread("killed in the middle of an answer", sends(half, Request.cut), ENDS_EARLY),
    Unread("an answer cut short", sends(half), ENDS_EARLY),
    Unread("a length larger than what is sent", sends(lambda good: sized(good, 100)), ENDS_EARLY),
    once("a length smaller than what is sent", sends(lambda good: sized(good, -100)), "ends in the middle"),
    Unread("a length that is no number", sends(wire(b"{}", "Content-Length: many")), "Content-Length|length"),
    Unread("chunked without end, closed",
           sends(lambda good: wire(chunk(good), "Transfer-Encoding: chunked")), ENDS_EARLY),
    Unread("chunked without end, kept open",
           sends(lambda good: wire(chunk(good), "Transfer-Encoding: chunked"), Request.hold), LATE, TO_THE_END),
    Unread("a chunk of no length",
           sends(wire(b"huge\r\n{}\r\n", "Transfer-Encoding: chunked")), "chunk|ends in the middle"),
    once("HTTP/1.0 cut short",
         sends(lambda good: wire(good[:-100], status="HTTP/1.0 200 OK")), "ends in the middle"),
    Unread("no answer at all", sends(b"", Request.hold), LATE, TO_THE_END),
    Unread("no answer, in words of our own",
           sends(b"", Request.hold), LATE, TO_THE_END),
    Unread("stalled after the head", sends(lambda good: sized(good)[:60], Request.hold), LATE, TO_THE_END),
    Unread("stalled in the middle of the body", sends(half, Request.hold), LATE, TO_THE_END),
    Unread("a byte a second", trickles, LATE, TO_THE_END),
    Unread("continue without end", without_end(b"HTTP/1.1 100 Continue\r\n\r\n"), LATE, TO_THE_END),
    once("a head without end",
         without_end(b"X: " + b"x" * 60000 + b"\r\n", b"HTTP/1.1 200 OK\r\n"), "the head of the answer is too large"),
    once("a body without end",
         without_end(b" " * 60000, b"HTTP/1.1 200 OK\r\n\r\n"), "too much beside its items|too large"),
    Unread("another protocol", sends(b"SSH-2.0-OtherServer\r\n"), "HTTP"),
    once("gzip unasked", compressed(lambda good: good), "gzip|compressed"),
    # From 8.8 on libcurl takes it for a connection that broke, so the list is asked for again.
    Unread("gzip for the transfer", sends(
        lambda good: wire(chunk(gzip.compress(good)) + chunk(b""), "Transfer-Encoding: gzip, chunked"), Request.keep),
           "compressed|unsolicited Transfer-Encoding"),
    once("a gzip bomb", compressed(lambda good: b" " * (32 << 20)), "gzip|compressed"),
    once("a redirect", answers(302, Location="https://elsewhere.example/"), "redirect"),
    once("a proxy's page with code 200", answers(200, HTML, Content_Type="text/html"), "not JSON"),
    once("a proxy's page that is told as such", answers(200, HTML, Content_Type="text/html"), "text/html|HTML"),
    once("an empty 200", body(b""), "empty answer"),
    once("a 204", sends(b"HTTP/1.1 204 No Content\r\n\r\n", Request.keep), "204"),
)
def test_transport_failure_of_a_list(row, outcomes):
    check_unread(row, outcomes[row.name].result())


TWICE = "twice|duplicate"
LIST_STATUS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


@table(
    once("null", body(b"null"), "not a JSON object"),
    once("an empty array", body(b"[]"), "not a JSON object"),
    once("another kind", text(b"TeamSpaceList", b"PodList"), "expected a TeamSpaceList .* got 'PodList'"),
    once("a Status", body(LIST_STATUS), "expected a TeamSpaceList .* got 'Status'|is missing"),
    once("another apiVersion", text(b'labhub.io/v1alpha1", "metadata": {"resourceVersion": "7"',
                                    b'labhub.io/v1", "metadata": {"resourceVersion": "7"'), "got .*labhub.io/v1'"),
    once("no metadata", body(lambda good: {**good, "metadata": None}), "metadata"),
    once("no resourceVersion", body(lambda good: {**good, "metadata": {}}), "metadata.resourceVersion"),
    once("no items", body(lambda good: {key: good[key] for key in good if key != "items"}), "'items'"),
    once("items of null, and some behind", text(b'"items":', b'"items": null, "items":'), "'items'"),
    Unread("more objects than anybody has", body(lambda good: {**good, "items": [
        {"metadata": {"name": f"n{i}", "uid": f"u{i}"}} for i in range(50001)]}), "the list is too large", TO_THE_END,
           1, "namespaces"),
    once("items that are an object", body(lambda good: {**good, "items": {"a": 1}}), "'items'"),
    once("an item that is a number", body(lambda good: {**good, "items": [*good["items"], 1]}), "'items'"),
    once("two lists of items", text(b'"items":', b'"items": [], "items":'), "'items'"),
    once("an item without name", item(b'"name": "beta"', b'"other": "beta"'), "'metadata.name' is missing"),
    once("an item without uid", item(b'"uid": "uid-beta"', b'"other": "beta"'), "'metadata.uid' is missing"),
    once("an item without metadata", item(b'"metadata"', b'"other"'), "'metadata.name' is missing"),
    once("an item with a name for no path", item(b'"name": "beta"', b'"name": "../beta"'), "'metadata.name'"),
    once("an item of another kind", item(b'"kind": "TeamSpace"', b'"kind": "Pod"'), "'kind' is 'Pod'"),
    once("an item twice", body(lambda good: {**good, "items": good["items"] * 2}), "'alpha' is in it twice"),
    once("a kind twice", text(b'"kind": "TeamSpaceList"', b'"kind": "TeamSpaceList", "kind": "PodList"'), TWICE),
    once("an item with a name twice", item(b'"name": "beta"', b'"name": "beta", "name": "gamma"'), TWICE),
    once("an item with a uid twice", item(b'"uid": "uid-beta"', b'"uid": "uid-beta", "uid": "uid-gamma"'), TWICE),
    once("a hundred lists in each other", text(b'"cpu": "1"', b'"cpu": ' + b"[" * 100 + b"]" * 100), "nested too deep"),
    once("a million brackets", body(b'{"items": [' + b"[" * 1000000), "nested too deep"),
    once("a bracket too many", text(b'"cpu": "1"', b'"cpu": "1"}}}}}}'), "a bracket too many|not JSON"),
    once("an item that is too large", text(b'"cpu": "1"', b'"cpu": "%b"' % (b"1" * (9 << 20))), "too large"),
    once("too much beside the items", text(b'"items"', b'"x": "%b", "items"' % (b"1" * (9 << 20))), "too much beside"),
    once("invalid UTF-8", text(b'"cpu": "1"', b'"cpu": "\xff\xfe"'), "not JSON|encoding"),
    once("a number of a thousand digits", item(b'"pods": 4', b'"pods": ' + b"9" * 1000), "not JSON"),
    once("a NUL", text(b'"cpu": "1"', b'"cpu": "1\0"'), "NUL"),
    once("bytes behind the list", sends(lambda good: sized(good + b" {}"), Request.keep), "not JSON"),
    once("an answer that ends in the middle of an item",
         sends(lambda good: sized(good[:-100]), Request.keep), "ends in the middle"),
)
def test_list_that_is_broken_as_a_whole(row, outcomes):
    check_unread(row, outcomes[row.name].result())


NO_RIGHT = 'namespaces is forbidden: User "raw" cannot list resource "namespaces" in API group "" at the cluster scope'


@table(
    Unread("429", answers(429, "slow down"), "429.*slow down"),
    Unread("429, Retry-After: 0", answers(429, "slow down", Retry_After="0"), "429", AT_ONCE),
    Unread("429, Retry-After: 1", answers(429, "slow down", Retry_After="1"), "429", TO_THE_END),
    once("429, Retry-After: 3600", answers(429, "slow down", Retry_After="3600"), "429"),
    Unread("429, Retry-After: a date", answers(429, "slow down", Retry_After="Wed, 21 Oct 2099 07:28:00 GMT"), "429"),
    Unread("429, Retry-After: nonsense", answers(429, "slow down", Retry_After="-soon; 9"), "429"),
    Unread("500 with a Status", status(500, "it broke", "Unknown"), "500.*it broke"),
    Unread("500 with an internal error", status(500, "a nil pointer", "InternalError"), "500.*a nil pointer"),
    Unread("500 of a webhook", status(500, "failed calling webhook", "InternalError"), "500.*failed calling webhook"),
    Unread("500 database is locked", status(500, "database is locked", "InternalError"), "database is locked"),
    Unread("500 etcdserver: leader changed", status(500, "etcdserver: leader changed"), "leader changed"),
    Unread("502 with a page", answers(502, HTML), "502"),
    Unread("503 without a word", answers(503), "503"),
    Unread("504 with a page", answers(504, HTML), "504"),
    Unread("504 without a kind", answers(504, {"status": "Failure", "reason": "Timeout", "message": "too late"}),
           "504.*too late"),
    once("401", status(401, "Unauthorized", "Unauthorized"), "unauthorized: the server refuses our credentials"),
    once("403 of one list", status(403, NO_RIGHT, "Forbidden"), 'user "raw" cannot list namespaces', "namespaces"),
    once("403 of a gateway", answers(403, HTML), "403"),
    once("404 of the TeamSpaces", answers(404, "404 page not found"), "the TeamSpace CRD is established"),
    once("404 of another list", answers(404, "404 page not found"), "404", "namespaces"),
    once("405", status(405, "not here", "MethodNotAllowed"), "405.*not here"),
    Unread("410", status(410, "too old", "Expired"), "410.*too old"),
    once("413", status(413, "too much", "RequestEntityTooLarge"), "413.*too much"),
    once("415", status(415, "not this", "UnsupportedMediaType"), "415.*not this"),
    once("a body with escape sequences", answers(405, b"\x1b[2J\x1b]0;mine\x07"), "405"),
    once("an error without end", without_end(b" " * 60000, b"HTTP/1.1 500 Oh\r\n\r\n"), "too large"),
)
def test_code_instead_of_a_list(row, outcomes):
    check_unread(row, outcomes[row.name].result())


@table(*(
    Unread(f"{collection}: {name}", does, says, TO_THE_END, on=collection)
    for collection in ("namespaces", "resourcequotas")
    for name, does, says in (
        ("reset in the middle", sends(half, Request.reset), ENDS_EARLY),
        ("stalled in the middle", sends(half, Request.hold), LATE),
        ("an answer cut short", sends(half), ENDS_EARLY),
        ("an empty 200", body(b""), "empty answer"),
        ("no items", text(b'"items"', b'"other"'), "'items'"),
        ("another kind", text(b'List"', b'Lists"'), "expected a"),
        ("an item without uid", item(b'"uid"', b'"other"'), "'metadata.uid' is missing"),
        ("500 without a Status", answers(500, "no"), "500"),
    )
), *(
    Unread(f"the CRD: {name}", does, says, STALLED, TRIES, "crd")
    for name, does, says in (
        ("reset in the middle", sends(half, Request.reset), ENDS_EARLY),
        ("a proxy's page with code 200", answers(200, HTML), "not JSON"),
        ("an empty 200", body(b""), "not JSON"),
        ("no object of the API", body(b"{}"), "'metadata.uid' is missing"),
        ("500 without a Status", answers(500, "no"), "500"),
        ("no answer", sends(b"", Request.hold), LATE),
    )
))
def test_each_read_counts(row, outcomes):
    check_unread(row, outcomes[row.name].result())


def test_diff_of_a_part_of_a_list_is_none(bench):
    outcome = bench.run_row(Unread("", sends(lambda good: wire(good[:-100])), ""), "--diff")
    assert outcome.result.code == 3, outcome
    check_one_line(outcome, ENDS_EARLY)


# Odd items: their team space is unreadable, the others are served -----------------------------------------------------


@dataclass(frozen=True)
class Odd:
    """A list of which the last item, which belongs to beta, is odd; `says` is what is said of beta."""

    name: str
    does: object
    says: str
    on: str = "teamspaces"

    def run(self, bench):
        return bench.run_row(self)


def check_odd(row, outcome):
    assert outcome.result.code == 1, outcome
    assert outcome.writes == writes_for("alpha"), outcome
    refusal, = said("^! ", outcome.result.lines)
    assert re.search(r"^! TeamSpace/beta +Unreadable: cannot read .*(" + row.says + ")", refusal), refusal
    assert not JARGON.search(refusal), refusal
    assert outcome.seconds < AT_ONCE, outcome


@table(
    Odd("a float where an integer belongs", item(b'"pods": 4', b'"pods": 4.5'), "'spec.pods' is not"),
    Odd("a float that is whole", item(b'"pods": 4', b'"pods": 4.0'), "'spec.pods' is not"),
    Odd("an integer with an exponent", item(b'"pods": 4', b'"pods": 4e0'), "'spec.pods' is not"),
    Odd("an integer of 64 bits and one", item(b'"pods": 4', b'"pods": 9223372036854775808'), "'spec.pods' is not"),
    Odd("a text where an integer belongs", item(b'"pods": 4', b'"pods": "4"'), "'spec.pods' is not"),
    Odd("no integer where one belongs", item(b'"pods": 4', b'"pots": 4'), "'spec.pods' is missing"),
    Odd("an integer where a text belongs", item(b'"cpu": "1"', b'"cpu": 1'), "'spec.cpu' is not a string"),
    Odd("a float for a generation", item(b'"generation": 1', b'"generation": 1.0'), "'metadata.generation' is not"),
    Odd("a number twice", item(b'"pods": 4', b'"pods": 4, "pods": 9'), TWICE),
    Odd("a spec twice", item(b'"spec": {', b'"spec": {"pods": 9}, "spec": {'), TWICE),
    Odd("a hard limit twice", item(b'"pods": "4"', b'"pods": "4", "pods": "9"'), TWICE, "resourcequotas"),
    Odd("a spec that is a list", item(b'"spec": {', b'"spec": [], "other": {'), "'spec' is not an object"),
    Odd("finalizers that are a text", item(b'"finalizers": [', b'"finalizers": "x", "other": ['), "'metadata.fin"),
    Odd("conditions that are an object", item(b'"conditions": [', b'"conditions": {}, "other": ['), "conditions' is"),
    Odd("a label that is a number", item(b'teamspace": "beta"', b'teamspace": 5'), "labels.* is not a string",
        "namespaces"),
    Odd("owners that are an object", item(b'"ownerReferences": [', b'"ownerReferences": {}, "other": ['),
        "'metadata.ownerReferences' is not", "namespaces"),
    Odd("a quota of numbers", item(b'"pods": "4"', b'"pods": 4'), "spec.hard.pods' is not a string", "resourcequotas"),
    Odd("a quota's spec that is a list", item(b'"spec": {', b'"spec": [], "other": {'), "'spec' is not an",
        "resourcequotas"),
)
def test_odd_item_leaves_out_its_team_space_only(row, outcomes):
    check_odd(row, outcomes[row.name].result())


# What is no fault -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fine:
    """An answer that is unusual, but right: the pass does what there is to do."""

    name: str
    does: object
    on: str = "teamspaces"
    within: float = AT_ONCE

    def run(self, bench):
        return bench.run_row(self)


def first(count, does):
    """Does that with the first requests, and answers the later ones."""
    left = [does] * count
    return lambda request, good: left.pop()(request, good) if left else request.answer(200, good)


def with_alpha(fields):
    """Answers with the list in which alpha's metadata have more fields."""
    return text(b'"uid": "uid-alpha"', b'"uid": "uid-alpha", ' + fields)


@table(
    Fine("the sane world", lambda request, good: request.answer(200, good)),
    Fine("100 Continue before the answer",
         sends(lambda good: b"HTTP/1.1 100 Continue\r\n\r\n" + sized(good), Request.keep)),
    Fine("hints before the answer",
         sends(lambda good: b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + sized(good), Request.keep)),
    Fine("HTTP/1.0", sends(lambda good: wire(good, status="HTTP/1.0 200 OK"))),
    Fine("an answer that ends with its connection", sends(lambda good: wire(good, "Connection: close"))),
    Fine("chunks of a byte", sends(lambda good: wire(
        b"".join(chunk(good[i:i + 1]) for i in range(len(good))) + b"0\r\n\r\n", "Transfer-Encoding: chunked"),
        Request.keep)),
    Fine("pieces of a byte", lambda request, good: request.trickle(sized(good), 0)),
    Fine("another media type", lambda request, good: request.answer(200, good, {"Content-Type": "text/plain"})),
    Fine("spaces and lines", body(lambda good: json.dumps(good, indent=3).replace("\n", "\r\n\t").encode())),
    Fine("unknown fields", with_alpha(b'"new": {"deep": [1.5, {"a": null, "b": true}]}')),
    Fine("null for what is not there", with_alpha(b'"finalizers": null, "labels": null, "deletionTimestamp": null')),
    Fine("brackets in texts", with_alpha(b'"annotations": {"a": "}]{[\\\\\\"}]", "items": "\\"items\\":[{"}')),
    Fine("an annotation of a megabyte", with_alpha(b'"annotations": {"a": "%b"}' % (b"x" * (1 << 20)))),
    Fine("escapes in a name", item(b'"name": "beta"', b'"name": "\\u0062eta"')),
    Fine("a passing 429", first(2, answers(429, "wait", Retry_After="0"))),
    Fine("a passing 503", first(1, answers(503)), within=RETRIED),
    Fine("a passing reset", first(1, sends(half, Request.reset)), within=RETRIED),
    Fine("a passing reset of the quotas", first(1, sends(half, Request.reset)), "resourcequotas", RETRIED),
)
def test_what_is_no_fault(row, outcomes):
    outcome = outcomes[row.name].result()
    assert outcome.result.code == 0, outcome
    assert outcome.writes == writes_for("alpha"), outcome
    assert outcome.seconds < row.within, outcome
    assert not any("accept-encoding" in request.headers or "expect" in request.headers for request in outcome.requests)


def test_numbers_beyond_2_to_the_53_are_kept(bench):
    row = Fine("", item(b'"generation": 1,', b'"generation": 9007199254740993,'))
    outcome = bench.run_row(row)
    told, = (request for request in outcome.requests if request.path == f"{TEAMS}/beta/status")
    assert b'"value":9007199254740993' in told.body.replace(b" ", b""), told.body


# Pages ----------------------------------------------------------------------------------------------------------------

TOKEN, ESCAPED = "a+b/c=&d", "a%2Bb%2Fc%3D%26d"
FIRST = list_of("teamspaces", [team("alpha")], **{"continue": TOKEN})
SECOND = list_of("teamspaces", [converged_team("beta")])


def run_paged(bench, first_page, second_page, **limits):
    """Runs a pass; the pages are called with the request and the number of times that they were asked for."""
    counts = {True: 0, False: 0}

    def respond(request):
        if listed(request) != "teamspaces":
            return answer_sanely(request)
        later = "continue=" in request.target
        counts[later] += 1
        return (second_page if later else first_page)(request, counts[later])
    return bench.run_against(respond, **limits)


def page(content):
    return lambda request, count: request.answer(200, content)


def cut(request, count):
    sends(half)(request, json.dumps(SECOND).encode())


def expired(request, count):
    status(410, "the provided continue parameter is too old", "Expired")(request, b"")


def test_continue_is_honoured(bench):
    outcome = run_paged(bench, page(FIRST), page(SECOND))
    assert outcome.result.code == 0, outcome
    assert [re.sub(r"timeout=\d+s&?", "", request.target) for request in outcome.lists("teamspaces")] == [
        f"{TEAMS}?", f"{TEAMS}?continue={ESCAPED}"]
    assert outcome.writes == writes_for("alpha")  # and none for beta, which is converged


def test_410_in_the_middle_of_paging_begins_the_list_anew(bench):
    def second(request, count):
        return expired(request, count) if count == 1 else request.answer(200, SECOND)

    outcome = run_paged(bench, page(FIRST), second)
    assert outcome.result.code == 0, outcome
    assert ["continue=" in request.target for request in outcome.lists("teamspaces")] == [False, True, False, True]
    assert outcome.writes == writes_for("alpha")


@dataclass(frozen=True)
class Paged:
    """A list of which the first page is right, and `second` answers for the second one."""

    name: str
    second: object
    says: str

    def run(self, bench):
        return run_paged(bench, page(FIRST), self.second)


@table(
    Paged("410 each time", expired, "410 Expired"),
    Paged("a second page cut short", cut, ENDS_EARLY),
    Paged("a second page that is no list", page(b"{}"), "metadata|expected a TeamSpaceList"),
    Paged("a second page with the same item", page(list_of("teamspaces", [team("alpha")])), "'alpha' is in it twice"),
)
def test_first_page_alone_is_no_list(row, outcomes):
    outcome = outcomes[row.name].result()
    assert outcome.result.code == 3, outcome
    check_one_line(outcome, row.says)
    assert outcome.seconds < RETRIED, outcome
    assert outcome.writes == [] and len(outcome.lists("teamspaces")) <= 2 * TRIES, outcome


@pytest.mark.parametrize("token, says", [
    (lambda count: "the same", "round in circles: a continue token came twice"),
    (lambda count: f"page {count % 3}", "round in circles: a continue token came twice"),
    (lambda count: f"page {count}", f"{LATE}|--timeout")], ids=["same", "circle", "new"])
def test_pages_without_end_have_an_end(bench, token, says):
    def one_more(request, count):
        request.answer(200, list_of("teamspaces", [team(f"alpha-{count}")], **{"continue": token(count)}))

    outcome = run_paged(bench, page(FIRST), one_more, timeout=1)
    assert outcome.result.code == 3, outcome
    check_one_line(outcome, says)
    assert outcome.seconds < 1 + SPARE, outcome
    assert outcome.writes == []


# Redirects ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("on, code", [("list", code) for code in (301, 302, 303, 307, 308)] + [
    ("write", 302), ("write", 307)])
def test_redirect_is_not_followed(bench, on, code):
    with RawServer(bench.certificate, answer_sanely) as target:
        def respond(request):
            if request.is_write if on == "write" else listed(request) == "teamspaces":
                return request.answer(code, b"", {"Location": target.address + request.target})
            return answer_sanely(request)

        outcome = bench.run_against(respond)
        assert target.requests == []
    assert all(request.headers["authorization"] == f"Bearer {SECRET}" for request in outcome.requests)
    assert outcome.seconds < AT_ONCE
    assert str(code) in outcome.result.stderr and SECRET not in outcome.result.stderr
    if on == "list":
        check_one_line(outcome, str(code))
    assert outcome.result.code == (3 if on == "list" else 1), outcome
    assert len(outcome.writes) == len(set(outcome.writes)), outcome


# Warnings -------------------------------------------------------------------------------------------------------------


def test_warning_of_the_server_is_shown_once(bench):
    def respond(request):
        what = "writes" if request.is_write else "reads"
        send = request.send
        request.send = lambda data: send(data.replace(
            b"\r\n", f'\r\nWarning: 299 - "do not do {what}"\r\nWarning: 299 - "nor this"\r\n'.encode(), 1))
        answer_sanely(request)

    outcome = bench.run_against(respond)
    assert outcome.result.code == 0 and outcome.writes == writes_for("alpha"), outcome
    for words in ("do not do reads", "do not do writes", "nor this"):
        line, = said(words, outcome.result.stderr)
        assert line.startswith("cnpa-op: warning: ") and "299" not in line, line
