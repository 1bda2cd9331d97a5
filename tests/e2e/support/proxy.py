# SPDX-License-Identifier: Apache-2.0
"""A proxy that breaks things: HTTPS, between cnpa-op and a real kube-apiserver, on 127.0.0.1.

    with FaultProxy(server, authority, client_certificate) as proxy:
        proxy.add(Cut(Stage.APPLIED, verb="PATCH", path="/status$"))
        ... run a program against proxy.address ...
        print(proxy.log)

Each request is an Exchange that goes through the stages ARRIVED, APPLIED and DELIVERED. A rule takes the exchanges that
it matches and has a say at each stage; what no rule takes is passed on unchanged. A new kind of fault is a new subclass
of Rule; a plain function of an exchange is a rule too, called on arrival.

The proxy has the client certificate, so a client needs nothing but the CA and the address. Its answers keep the
server's framing: with a length, or chunked.
"""

import enum
import gzip
import http.client
import itertools
import json
import re
import socket
import ssl
import threading
import time
import urllib.parse
from dataclasses import dataclass, field

IDLE_SECONDS = 20.0  # a spare connection to the server that is older may be closed by now
LARGEST_HEAD = 65536
READ_BYTES = 65536


class Stage(enum.IntEnum):
    """Where an exchange stands."""

    ARRIVED = 1  # read from the client; the server knows nothing of it
    APPLIED = 2  # the server has done it and answered; the client has not a byte of the answer
    DELIVERED = 3  # the client was sent the whole answer


class Closed(Exception):
    """The client's connection is to be closed without another word."""


@dataclass
class Answer:
    """An HTTP answer. `headers` are without those of the framing."""

    code: int
    headers: list = field(default_factory=list)
    body: bytes = b""
    chunked: bool = False
    reason: str = ""

    def head(self):
        """Returns the answer's bytes up to the body."""
        framing = ("Transfer-Encoding", "chunked") if self.chunked else ("Content-Length", str(len(self.body)))
        reason = self.reason or http.client.responses.get(self.code, "")
        lines = [f"HTTP/1.1 {self.code} {reason}", *(f"{name}: {value}" for name, value in [*self.headers, framing])]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")

    def wire(self):
        """Returns the answer's bytes as they are sent."""
        if not self.chunked:
            return self.head() + self.body
        chunk = b"%x\r\n%b\r\n" % (len(self.body), self.body) if self.body else b""
        return self.head() + chunk + b"0\r\n\r\n"

    def json(self):
        return json.loads(self.body)

    @staticmethod
    def of(code, body=b"", headers=(), chunked=False):
        """Returns an answer with `body`: bytes, a text, or anything else as JSON."""
        kind = "application/json"
        if isinstance(body, str):
            body, kind = body.encode(), "text/plain"
        elif not isinstance(body, bytes):
            body = json.dumps(body).encode()
        given = list(headers.items() if isinstance(headers, dict) else headers)
        if not any(name.lower() == "content-type" for name, _ in given):
            given.insert(0, ("Content-Type", kind))
        return Answer(code, given, body, chunked)

    def gzipped(self):
        """Returns the same answer, compressed, whether the client asked for it or not."""
        return Answer(self.code, [*self.headers, ("Content-Encoding", "gzip")], gzip.compress(self.body), self.chunked)


@dataclass
class Exchange:
    """One request, and what became of it. `stage` is the last one that it reached, 0 before the first."""

    ordinal: int  # counts all requests of a proxy, from 1
    verb: str
    target: str  # path and query, as sent
    headers: dict  # names in lower case
    body: bytes
    at: float  # time.monotonic() of the arrival
    connection: socket.socket = field(repr=False)
    stage: int = 0
    answer: Answer = None
    own: bool = False  # the answer is a rule's, not the server's
    cut: bool = False  # the client was not sent the whole answer

    @property
    def path(self):
        return self.target.partition("?")[0]

    @property
    def query(self):
        return urllib.parse.parse_qs(self.target.partition("?")[2])

    @property
    def is_write(self):
        return self.verb in ("POST", "PUT", "PATCH", "DELETE")

    @property
    def collection(self):
        """The last part of the path of a list, such as "teamspaces"; None for any other request.

        One TeamSpace that is read by its name is no list, though it comes as one.
        """
        name = self.path.rpartition("/")[2]
        if self.verb != "GET" or (name == "teamspaces" and "fieldSelector" in self.query):
            return None
        return name if name in ("teamspaces", "namespaces", "resourcequotas") else None

    def json(self):
        return json.loads(self.body)

    def __str__(self):
        code = self.answer.code if self.answer else "-"
        return f"{self.ordinal} {self.verb} {self.target} -> {code}{' cut' if self.cut else ''}"


class Rule:
    """Takes the requests that match all of what is given; each of the methods below does nothing by default.

    `path` is a regular expression, searched for in path and query; `nth` picks one of those that match, from 1, and
    `times` bounds how many are taken; `when` is a function of an exchange.
    """

    def __init__(self, *, verb=None, path=None, collection=None, ordinal=None, nth=None, times=None, when=None):
        self._verb, self._path, self._collection = verb, path and re.compile(path), collection
        self._ordinal, self._nth, self._times, self._when = ordinal, nth, times, when
        self._matched = 0
        self.taken = 0

    def takes(self, exchange):
        """Returns whether this rule takes `exchange`. Called once for each, on arrival."""
        fits = (
            (self._verb is None or exchange.verb == self._verb)
            and (self._path is None or self._path.search(exchange.target))
            and (self._collection is None or exchange.collection in self._collection)
            and (self._ordinal is None or exchange.ordinal == self._ordinal)
            and (self._when is None or self._when(exchange))
        )
        if not fits:
            return False
        self._matched += 1
        if (self._nth is not None and self._matched != self._nth) or (
                self._times is not None and self.taken >= self._times):
            return False
        self.taken += 1
        return True

    def at(self, stage, exchange, proxy):
        """Is told that `exchange` has come to `stage`. Raises Closed to end it there."""

    def deliver(self, exchange, proxy):
        """Sends the answer and returns True, or returns False to leave that to the next rule."""
        return False


class Call(Rule):
    """Calls a function of the exchange at a stage."""

    def __init__(self, stage, function, **match):
        super().__init__(**match)
        self._stage, self._function = stage, function

    def at(self, stage, exchange, proxy):
        if stage == self._stage:
            self._function(exchange)


class Cut(Rule):
    """Closes the connection at a stage."""

    def __init__(self, stage, **match):
        super().__init__(**match)
        self._stage = stage

    def at(self, stage, exchange, proxy):
        if stage == self._stage:
            raise Closed


class CutAnswer(Rule):
    """Sends the first `count` bytes of the body, or of the whole answer, and closes the connection.

    A negative count is that of the bytes at the end that are kept back.
    """

    def __init__(self, count, *, of_body=True, **match):
        super().__init__(**match)
        self._count, self._of_body = count, of_body

    def deliver(self, exchange, proxy):
        head = len(exchange.answer.head()) if self._of_body and self._count >= 0 else 0
        exchange.connection.sendall(exchange.answer.wire()[:head + self._count])
        raise Closed


class Hold(Rule):
    """Holds the exchange at a stage until `event` is set; `reached` is set as soon as one is held."""

    def __init__(self, stage, event, *, seconds=60.0, **match):
        super().__init__(**match)
        self._stage, self._event, self._seconds = stage, event, seconds
        self.reached = threading.Event()

    def at(self, stage, exchange, proxy):
        if stage == self._stage:
            self.reached.set()
            self._event.wait(self._seconds)


class Kill(Rule):
    """Kills a process at a stage: nothing that it asks for later is passed on, and at DELIVERED the answer was sent.

    `victim` is a Victim.
    """

    def __init__(self, stage, victim, **match):
        super().__init__(times=1, **match)
        self._stage, self._victim = stage, victim

    def at(self, stage, exchange, proxy):
        if stage == Stage.ARRIVED:
            proxy.close_gate()
        if stage == self._stage:
            self._victim.kill()
            raise Closed


class Respond(Rule):
    """Answers by itself. The server never hears of the request."""

    def __init__(self, answer, **match):
        super().__init__(**match)
        self._answer = answer

    def at(self, stage, exchange, proxy):
        if stage == Stage.ARRIVED:
            exchange.answer, exchange.own = self._answer, True


class Replay(Rule):
    """Answers a list as it was at a `moment` of FaultProxy.take_moment."""

    def __init__(self, moment, collections, **match):
        super().__init__(collection=frozenset(collections), **match)
        self._moment = moment

    def at(self, stage, exchange, proxy):
        if stage == Stage.ARRIVED:
            exchange.answer, exchange.own = self._moment[exchange.collection], True


class Rewrite(Rule):
    """Sends the server's answer through a function that returns another one."""

    def __init__(self, function, **match):
        super().__init__(**match)
        self._function = function

    def at(self, stage, exchange, proxy):
        if stage == Stage.APPLIED:
            exchange.answer = self._function(exchange.answer)


class Delay(Rule):
    """Lets the exchange wait at a stage."""

    def __init__(self, stage, seconds, **match):
        super().__init__(**match)
        self._stage, self._seconds = stage, seconds

    def at(self, stage, exchange, proxy):
        if stage == self._stage:
            time.sleep(self._seconds)


class Trickle(Rule):
    """Sends the answer in small pieces with a pause after each."""

    def __init__(self, size, seconds, **match):
        super().__init__(**match)
        self._size, self._seconds = size, seconds

    def deliver(self, exchange, proxy):
        wire = exchange.answer.wire()
        for start in range(0, len(wire), self._size):
            exchange.connection.sendall(wire[start:start + self._size])
            time.sleep(self._seconds)
        return True


class Events(Rule):
    """Sends the events of a watch through a function that takes one, as bytes, and returns those to send."""

    def __init__(self, function, **match):
        super().__init__(**match, when=lambda exchange: "watch" in exchange.query)
        self.function = function


class Victim:
    """A process that is to be killed; it may start after the rule that kills it was made.

    `killed` is an Event: it is set once the signal was sent and the process has ended.
    """

    def __init__(self):
        self._known = threading.Event()
        self._process = None
        self.killed = threading.Event()

    def set(self, process):
        """Names the process, a subprocess.Popen."""
        self._process = process
        self._known.set()

    def kill(self):
        """Kills it with SIGKILL and returns once it has ended."""
        self._known.wait(10.0)
        self._process.kill()
        self._process.wait(10.0)
        self.killed.set()


class FaultProxy:
    """A proxy that runs for the length of a `with`.

    Attributes:

        address  its URL, such as "https://127.0.0.1:20443"
        port     its port
        log      the Exchanges in the order of their arrival
    """

    def __init__(self, server, authority, client_certificate, *, server_certificate=None):
        """Takes the server's URL, the Authority of both sides' certificates, and the client Certificate for the server.

        `server_certificate` is the one to present, if not a good one.
        """
        self._server = urllib.parse.urlsplit(server)
        self._upstream_tls = ssl.create_default_context(cafile=authority.certificate)
        self._upstream_tls.load_cert_chain(client_certificate.certificate, client_certificate.key)
        shown = server_certificate or authority.server("fault-proxy")
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(shown.certificate, shown.key)
        self._tls.set_alpn_protocols(["http/1.1"])
        self._lock = threading.Lock()
        self._ordinals = itertools.count(1)
        self._rules = []
        self._spare = []  # connections to the server that nobody uses, with the time since when
        self._open = set()  # connections of clients
        self._gate = threading.Event()
        self._gate.set()
        self._keeper_of_gate = None
        self._lists = {}  # how each collection was asked for last
        self.log = []

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.address = f"https://127.0.0.1:{self.port}"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def __exit__(self, *failure):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.drop_connections()
        self._gate.set()
        self._acceptor.join(5.0)
        for connection, _ in self._spare:
            connection.close()

    def add(self, *rules):
        """Adds rules behind those that there are. A function of an exchange is a rule that is called on arrival."""
        with self._lock:
            self._rules += [rule if isinstance(rule, Rule) else Call(Stage.ARRIVED, rule) for rule in rules]

    def reset(self):
        """Drops all rules, the log, and what is left of clients' connections; opens the gate of a Kill."""
        with self._lock:
            self._rules, self.log, self._ordinals = [], [], itertools.count(1)
            self._keeper_of_gate = None
        self.drop_connections()
        self._gate.set()

    def drop_connections(self):
        """Closes every connection of a client."""
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            abort(connection)

    def close_gate(self):
        """Holds, and then drops, every request that comes from now on, until `reset`."""
        with self._lock:
            self._keeper_of_gate = threading.get_ident()
            self._gate.clear()

    def knows_lists(self, collections):
        """Returns whether a client has read each of `collections` through this proxy."""
        return set(collections) <= set(self._lists)

    def take_moment(self):
        """Returns what each list says now, asked in the words of the last client that listed.

        Requires: a client has read each list through this proxy.
        """
        return {collection: self._ask("GET", target, headers, b"")
                for collection, (target, headers) in sorted(self._lists.items())}

    def writes(self, path=""):
        """Returns the logged writes that reached the server, those whose path matches the regular expression `path`."""
        return [exchange for exchange in self.log if exchange.is_write and exchange.stage >= Stage.APPLIED
                and not exchange.own and re.search(path, exchange.path)]

    def _accept(self):
        while True:
            try:
                raw, _ = self._listener.accept()
            except OSError:
                return
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(raw,), daemon=True).start()

    def _serve(self, raw):
        """Serves one client connection until it ends."""
        try:
            connection = self._tls.wrap_socket(raw, server_side=True)
        except (OSError, ssl.SSLError):
            raw.close()
            return
        with self._lock:
            self._open.add(connection)
        try:
            buffer = b""
            while True:
                request, buffer = read_request(connection, buffer)
                if request is None:
                    return
                self._exchange(connection, *request)
        except (Closed, OSError, ValueError, http.client.HTTPException):
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            abort(connection)
            connection.close()

    def _exchange(self, connection, verb, target, headers, body):
        if not self._gate.is_set() and self._keeper_of_gate != threading.get_ident():
            self._gate.wait()
            raise Closed
        with self._lock:
            exchange = Exchange(next(self._ordinals), verb, target, headers, body, time.monotonic(), connection)
            self.log.append(exchange)
            rules = [rule for rule in self._rules if rule.takes(exchange)]
            if exchange.collection and "watch" not in exchange.query:
                self._lists[exchange.collection] = (target, headers)
        try:
            self._tell(Stage.ARRIVED, exchange, rules)
            if exchange.answer is None and "watch" in exchange.query:
                return self._stream(exchange, rules)
            if exchange.answer is None:
                exchange.answer = self._ask(verb, target, headers, body)
            self._tell(Stage.APPLIED, exchange, rules)
            if not any(rule.deliver(exchange, self) for rule in rules):
                connection.sendall(exchange.answer.wire())
        except (Closed, OSError):
            exchange.cut = True
            raise
        self._tell(Stage.DELIVERED, exchange, rules)

    def _tell(self, stage, exchange, rules):
        exchange.stage = stage
        for rule in rules:
            rule.at(stage, exchange, self)

    def _ask(self, verb, target, headers, body):
        """Sends a request to the server and returns its Answer."""
        upstream = self._take_upstream()
        try:
            response = self._send(upstream, verb, target, headers, body)
            content = response.read()
        except BaseException:
            upstream.close()
            raise
        answer = answer_of(response, content)
        if response.will_close:
            upstream.close()
        else:
            with self._lock:
                self._spare.append((upstream, time.monotonic()))
        return answer

    def _stream(self, exchange, rules):
        """Passes a watch on, event by event."""
        functions = [rule.function for rule in rules if isinstance(rule, Events)]
        upstream = self._connect()
        try:
            response = self._send(upstream, exchange.verb, exchange.target, exchange.headers, exchange.body)
            exchange.stage = Stage.APPLIED
            exchange.answer = answer_of(response, b"")
            exchange.answer.chunked = True
            exchange.connection.sendall(exchange.answer.head())
            rest = b""
            while piece := response.read1(READ_BYTES):
                *events, rest = (rest + piece).split(b"\n")
                for function in functions:
                    events = [sent for event in events for sent in function(event)]
                for event in events:
                    exchange.connection.sendall(b"%x\r\n%b\n\r\n" % (len(event) + 1, event))
            exchange.connection.sendall(b"0\r\n\r\n")
        finally:
            upstream.close()
        exchange.stage = Stage.DELIVERED

    @staticmethod
    def _send(upstream, verb, target, headers, body):
        upstream.putrequest(verb, target, skip_accept_encoding=True)
        for name, value in headers.items():
            if name not in ("host", "connection", "content-length"):
                upstream.putheader(name, value)
        if body:
            upstream.putheader("Content-Length", str(len(body)))
        upstream.endheaders(body or None)
        return upstream.getresponse()

    def _take_upstream(self):
        with self._lock:
            while self._spare:
                upstream, since = self._spare.pop()
                if time.monotonic() - since < IDLE_SECONDS:
                    return upstream
                upstream.close()
        return self._connect()

    def _connect(self):
        upstream = http.client.HTTPSConnection(self._server.hostname, self._server.port, timeout=70.0,
                                               context=self._upstream_tls)
        upstream.connect()
        upstream.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return upstream


def answer_of(response, body):
    """Returns an http.client response as an Answer."""
    framing = ("content-length", "transfer-encoding", "connection")
    headers = [(name, value) for name, value in response.getheaders() if name.lower() not in framing]
    chunked = "chunked" in (response.getheader("Transfer-Encoding") or "")
    return Answer(response.status, headers, body, chunked, response.reason)


def read_request(connection, buffer):
    """Returns ((verb, target, headers, body), rest) of the next request, or (None, b"") where the client has gone.

    Errors: ValueError for what is no HTTP request with a length.
    """
    while b"\r\n\r\n" not in buffer:
        piece = connection.recv(READ_BYTES)
        if not piece or len(buffer) > LARGEST_HEAD:
            return None, b""
        buffer += piece
    head, _, rest = buffer.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    verb, target, _ = first.split(" ")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if "transfer-encoding" in headers:
        raise ValueError("a chunked request")
    length = int(headers.get("content-length", 0))
    while len(rest) < length:
        piece = connection.recv(READ_BYTES)
        if not piece:
            return None, b""
        rest += piece
    return (verb, target, headers, rest[:length]), rest[length:]


def abort(connection):
    """Ends a connection for both sides, without a TLS farewell."""
    try:
        socket.socket.shutdown(connection, socket.SHUT_RDWR)  # SSLSocket's own would pull the rug from under a reader
    except OSError:
        pass
