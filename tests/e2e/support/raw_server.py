# SPDX-License-Identifier: Apache-2.0
"""A TLS server on 127.0.0.1 whose answers are whatever a test puts on the wire: malformed, cut short, or none at all.

    with RawServer(authority.server("raw"), respond) as server:
        ... run a program against server.address ...
        print(server.requests)

`respond` is a function of a Request. It is called once for each, in the thread of the connection, and answers by the
request's own methods. The connection is kept for a next request unless it was closed or reset.
"""

import contextlib
import socket
import ssl
import struct
import threading
import time
from dataclasses import dataclass, field

from proxy import Answer, abort, read_request


@dataclass
class Request:
    """A request as it was received, and the means to answer it."""

    verb: str
    target: str  # path and query, as sent
    headers: dict  # names in lower case
    body: bytes
    at: float  # time.monotonic() of the arrival
    connection: socket.socket = field(repr=False)
    closing: threading.Event = field(repr=False)  # set when the server ends

    @property
    def path(self):
        return self.target.partition("?")[0]

    @property
    def is_write(self):
        return self.verb in ("POST", "PUT", "PATCH", "DELETE")

    def send(self, data):
        """Puts bytes on the wire as they are."""
        self.connection.sendall(data)

    def answer(self, code, body=b"", headers=()):
        """Sends a well-formed answer; `body` and `headers` are as those of Answer.of."""
        self.send(Answer.of(code, body, headers).wire())

    def keep(self):
        """Leaves the connection open for a next request."""

    def close(self):
        """Ends the connection as one does who has said all: with TLS's farewell."""
        with contextlib.suppress(OSError):
            self.connection.settimeout(0.05)  # the farewell is sent at once; nobody waits for the other one
            self.connection.unwrap()
        abort(self.connection)

    def cut(self):
        """Ends the connection without that farewell, as a killed server does."""
        abort(self.connection)

    def reset(self):
        """Ends the connection with a TCP reset."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()

    def hold(self):
        """Says nothing more until the client gives up, or the server ends."""
        self.connection.settimeout(0.1)
        while not self.closing.is_set():
            try:
                if not self.connection.recv(1024):
                    break
            except TimeoutError:
                continue
        self.cut()

    def trickle(self, data, seconds=1.0):
        """Sends a byte, waits, sends the next one."""
        for place in range(len(data)):
            self.send(data[place:place + 1])
            if self.closing.wait(seconds):
                return


class RawServer:
    """A server that runs for the length of a `with`.

    Attributes:

        address   its URL, such as "https://127.0.0.1:20443"
        port      its port
        requests  the Requests in the order of their arrival
    """

    def __init__(self, certificate, respond):
        """Presents `certificate`, a Certificate, and answers by `respond`."""
        self._respond = respond
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(certificate.certificate, certificate.key)
        self._lock = threading.Lock()
        self._open = set()
        self._closing = threading.Event()
        self.requests = []

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.address = f"https://127.0.0.1:{self.port}"
        self._acceptor = threading.Thread(target=self._accept, daemon=True)
        self._acceptor.start()
        return self

    def __exit__(self, *failure):
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            abort(connection)
        self._acceptor.join(5.0)

    def _accept(self):
        while not self._closing.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = self._tls.wrap_socket(connection, server_side=True)
            with self._lock:
                self._open.add(connection)
            self._exchange(connection)
        except (OSError, ValueError):  # the client has gone, or there was never one that speaks TLS
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _exchange(self, connection):
        buffer = b""
        while not self._closing.is_set() and connection.fileno() >= 0:
            received, buffer = read_request(connection, buffer)
            if received is None:
                return
            request = Request(*received, time.monotonic(), connection, self._closing)
            with self._lock:
                self.requests.append(request)
            self._respond(request)
