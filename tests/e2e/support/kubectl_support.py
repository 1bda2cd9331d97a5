# SPDX-License-Identifier: Apache-2.0
"""What the table of test_kubeconfig_kubectl.py needs: servers and proxies that record, kubectl and cnpa-op on one file.

A row is plain data. In its files, flags and variables @words@ stand for what is known only when it runs: see World.
"""

import base64
import contextlib
import http.server
import json
import re
import socket
import ssl
import subprocess
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path

import binaries
from authority import Authority
from harness import environment, run_binary
from raw_support import sane_answer

NAMES = ("127.0.0.1", "localhost", "kubernetes.test", "::1", "0.0.0.0")  # 0.0.0.0 leads here too, and is not loopback
EMPTY = {"teamspaces": [], "namespaces": [], "resourcequotas": []}
PATHS = ("/version", "/apis/platform.labhub.io/v1alpha1/teamspaces", "/api/v1/namespaces", "/api/v1/resourcequotas",
         "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/teamspaces.platform.labhub.io")
PLUGIN = """\
#!/bin/sh
printf %s "$KUBERNETES_EXEC_INFO" > "$HOME/info"
printf '%s|' "$@" "$COLOUR" > "$HOME/told"
cat "@folder@/answer"
"""


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers each request as an empty cluster does; has its server remember it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        if self.server.tls:
            self.request = self.server.tls.wrap_socket(self.request, server_side=True)
        super().setup()

    def do_GET(self):
        path = self.path.partition("?")[0]
        known = next((known for known in PATHS if path.endswith(known)), path)
        # Without the blanks at its end, as every server reads it.
        headers = {name: [value.rstrip() for value in self.headers.get_all(name)]
                   for name in sorted(set(map(str.lower, self.headers)))}
        peer = dict(pair for part in self.connection.getpeercert()["subject"] for pair in part) if (
            self.server.tls and self.connection.getpeercert()) else {}
        self.server.remember({
            "server": self.server.name, "prefix": path.removesuffix(known),
            "host": headers["host"][0], "sni": getattr(self.connection, "asked_for", None), "subject": peer.get("commonName"),
            "authorization": headers.get("authorization", [None])[0],
            "impersonate": {name: values for name, values in headers.items() if name.startswith("impersonate-")}})
        name = known.rpartition("/")[2]
        body = {"gitVersion": "v1.0"} if known == "/version" else sane_answer(
            "crd" if name.startswith("teamspaces.") else name, EMPTY)
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class Recorder(http.server.ThreadingHTTPServer):
    """A server that remembers what each request says of its sender. It asks for a client certificate if it has TLS."""

    daemon_threads = True

    def __init__(self, name, authority=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.name, self.seen, self.tls, self._lock = name, [], None, threading.Lock()
        self.port = self.server_address[1]
        if authority:
            self.tls = server_context(authority)
            self.tls.verify_mode = ssl.CERT_OPTIONAL
            self.tls.load_verify_locations(authority.certificate)
            self.tls.sni_callback = lambda connection, name, _: setattr(connection, "asked_for", name)
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def remember(self, request):
        with self._lock:
            self.seen.append(request)

    def handle_error(self, *_):
        """Says nothing: clients go away as they like."""


class Proxy:
    """An HTTP and SOCKS5 proxy that leads to one address, whatever it is asked for, and remembers what that was."""

    def __init__(self, port, tls=None):
        self._target, self._tls = ("127.0.0.1", port), tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        self.seen = []
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=self._listener.accept()[:1], daemon=True).start()

    def _serve(self, client):
        with contextlib.suppress(OSError, ValueError):
            client = self._tls.wrap_socket(client, server_side=True) if self._tls else client
            first = client.recv(1)
            self.seen.append(self._socks(client) if first == b"\5" else self._connect(client, first))
            with socket.create_connection(self._target) as server:
                threading.Thread(target=pump, args=(server, client), daemon=True).start()
                pump(client, server)

    @staticmethod
    def _connect(client, head):
        while b"\r\n\r\n" not in head:
            head += received(client, 1)
        first, *lines = head.decode().rstrip().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        return {"asked": first.removesuffix(" HTTP/1.1"), "as": headers.get("proxy-authorization"),
                "token": headers.get("authorization")}

    @staticmethod
    def _socks(client):
        methods = received(client, received(client, 1)[0])
        user = None
        client.sendall(b"\5\2" if b"\2" in methods else b"\5\0")
        if b"\2" in methods:
            received(client, 1)
            user = ":".join(received(client, received(client, 1)[0]).decode() for _ in range(2))
            client.sendall(b"\1\0")
        kind = received(client, 4)[3]
        host = received(client, received(client, 1)[0]).decode() if kind == 3 else (
            socket.inet_ntop(socket.AF_INET, received(client, 4)))
        port = int.from_bytes(received(client, 2), "big")
        client.sendall(b"\5\0\0\1\0\0\0\0\0\0")
        return {"asked": f"SOCKS {host}:{port}", "as": user, "token": None}


def received(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ValueError("gone")
        data += piece
    return data


def pump(source, target):
    with contextlib.suppress(OSError, ValueError):
        while piece := source.recv(65536):
            target.sendall(piece)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)


def server_context(authority):
    certificate = authority.server("127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.certificate, certificate.key)
    return context


@dataclass
class Run:
    """How one of the two programs ended, what it printed on stderr, and what was seen of it."""

    code: int
    stderr: str
    seen: dict = field(default_factory=dict)  # empty: no request


class World:
    """Two servers, a plain one, a proxy without and one with TLS, and the credentials that the rows name.

        @one@ @two@ @plain@    addresses of servers; @port@ and @plainport@: ports of the first and of the plain one
        @proxy@ @tlsproxy@     ports of proxies to the first server
        @nameless@             address of a server whose certificate has a common name, and no name of a host beside it
        @ca@ @cert@ @key@      files; in capitals their content in base64, @CA_PEM@ as it is, @CA_JSON@ in a JSON string
        @cert2@ ...            of another user, bob; the first one is alice
        @ca2@                  of another authority of the same name, without key identifiers as all are here
        @namelessca@           of the authority of @nameless@
        @folder@               of the row
    """

    def __init__(self, folder):
        self._folder = folder
        self._kubectl = binaries.build() / "kubectl"
        authority, namesake = (Authority(new_folder(folder, "pki"), NAMES, key_identifiers=False) for _ in range(2))
        nobody = Authority(new_folder(folder, "pki"), ("ann@example.com",), key_identifiers=False)
        self.servers = [Recorder("one", authority), Recorder("two", authority), Recorder("plain"),
                        Recorder("nameless", nobody)]
        one, two, plain, nameless = self.servers
        self.proxies = [Proxy(one.port), Proxy(one.port, server_context(authority))]
        self._words = {"one": f"https://127.0.0.1:{one.port}", "two": f"https://127.0.0.1:{two.port}",
                       "plain": f"http://127.0.0.1:{plain.port}",
                       "nameless": f"https://127.0.0.1:{nameless.port}", "port": one.port, "plainport": plain.port,
                       "proxy": self.proxies[0].port, "tlsproxy": self.proxies[1].port}
        alice, bob = (authority.client(user, ["staff"]) for user in ("alice", "bob"))
        files = {"ca": authority.certificate, "cert": alice.certificate, "key": alice.key, "cert2": bob.certificate,
                 "key2": bob.key, "ca2": namesake.certificate, "namelessca": nobody.certificate}
        for word, file in files.items():
            self._words |= {word: file, word.upper(): base64.b64encode(file.read_bytes()).decode(),
                            word.upper() + "_PEM": file.read_text(),
                            word.upper() + "_JSON": json.dumps(file.read_text())[1:-1]}

    def close(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()
        for proxy in self.proxies:
            proxy.close()

    def filled(self, value):
        """Returns a text, or a dict with texts, with what its @words@ stand for."""
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if not isinstance(value, str):
            return value
        return re.sub(r"@(\w+)@", lambda found: str(self._words.get(found[1], found[0])), value)

    def run(self, row):
        """Returns the Runs of kubectl and of cnpa-op with the files, flags and variables of a row."""
        folder = self._words["folder"] = new_folder(self._folder, "row")
        homes = [new_folder(folder, "home") for _ in range(2)]
        for name, text in row.files.items():
            for path in [home / name[2:] for home in homes] if name.startswith("~/") else [folder / name]:
                path.parent.mkdir(exist_ok=True, parents=True)
                path.write_text(self.filled(text))
                path.chmod(0o700 if name.endswith((".sh", ".py")) else 0o600)
        flags = [self.filled(flag) for flag in row.flags]
        if "config" in row.files and "--kubeconfig" not in flags:
            flags += ["--kubeconfig", str(folder / "config")]
        variables = {name: self.filled(value) for name, value in row.env.items()}
        return (self._run(homes[0], variables, lambda home, env: kubectl(self._kubectl, flags, home, env)),
                self._run(homes[1], variables, lambda home, env: ours(flags, home, env)))

    def _run(self, home, variables, run):
        for recorder in [*self.servers, *self.proxies]:
            recorder.seen.clear()
        code, stderr = run(home, environment(home, variables))
        seen = {}
        for key, recorders in (("request", self.servers), ("proxy", self.proxies)):
            requests = [request for recorder in recorders for request in recorder.seen]
            assert all(request == requests[0] for request in requests), requests
            if requests:
                seen |= requests[0] if key == "request" else {key: requests[0]}
        for name, read in (("info", json.loads), ("told", str)):
            if (home / name).exists():
                seen[name] = read((home / name).read_text())
        return Run(code, stderr, seen)


def kubectl(program, flags, home, env):
    done = subprocess.run([program, *flags, "get", "--raw", "/version", "--request-timeout=5s"], cwd=home,
                          env=env | {"KUBECACHEDIR": str(home)}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=60)
    return done.returncode, done.stderr


def ours(flags, home, env):
    result = run_binary(["reconcile", "--once", *flags, "--archive", home / "archive", "--timeout=5s",
                         "--request-timeout=4s"], home, env=env)
    return result.code, result.stderr


def new_folder(parent, name):
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=parent))


# ---------------------------------------------------------------------------------------------------------------------
# Rows


def entry(kind, name, fields):
    """Returns the YAML of an entry of one of the three lists; a field that is None is left out."""
    present = {key: value for key, value in fields.items() if value is not None}
    lines = [f"    {key}: {json.dumps(value)}" for key, value in present.items()]
    return "\n".join([f"- name: {name}", f"  {kind}:" + ("" if lines else " {}"), *lines]) + "\n"


def config(user=None, cluster=None, context=None, *, current="a", names=("a", "a", "a"), more=""):
    """Returns a kubeconfig with a cluster, user and context called a; fields are added, or taken away by None."""
    return (f"apiVersion: v1\nkind: Config\ncurrent-context: {current}\n{more}clusters:\n"
            + entry("cluster", names[0], {"server": "@one@", "certificate-authority-data": "@CA@"} | (cluster or {}))
            + "contexts:\n" + entry("context", names[2], {"cluster": names[0], "user": names[1]} | (context or {}))
            + "users:\n" + entry("user", names[1], user or {}))


def plugin(version="v1", mode="Never", command="./plugin.sh", **fields):
    """Returns the user of a kubeconfig whose credentials a plugin gets."""
    return {"exec": {"apiVersion": f"client.authentication.k8s.io/{version}", "command": command}
            | ({"interactiveMode": mode} if mode else {}) | fields}


def answer(version="v1", **status):
    return json.dumps({"kind": "ExecCredential", "apiVersion": f"client.authentication.k8s.io/{version}",
                       "status": status})


@dataclass
class Row:
    """A kubeconfig, given to both programs. Made by `same`, `refused` or `differs`."""

    name: str
    files: dict  # by their names in the folder of the row, or after ~/ in the home folder of each program
    kubectl: dict | str  # what the server sees of it; or a regular expression: what it says when it refuses
    cnpa_op: dict | str
    code: int  # of cnpa-op, where it refuses
    why: str  # it is not the same
    flags: tuple
    env: dict


def row(name, files, kubectl, cnpa_op, code=2, why="", flags=(), **env):
    return Row(name, {"config": files} if isinstance(files, str) else files, kubectl, cnpa_op, code, why, flags, env)


def sees(server="one", prefix="", sni=None, subject=None, authorization=None, impersonate=None, **more):
    """Returns what a server sees. Of a plugin and a proxy only what is named is compared with it."""
    return {"server": server, "prefix": prefix, "sni": sni, "subject": subject, "authorization": authorization,
            "impersonate": impersonate or {}} | more


def same(name, files, *, flags=(), env=None, **seen):
    """A Row that leads both programs to the same server as the same user."""
    return row(name, files, sees(**seen), sees(**seen), flags=flags, **env or {})


def refused(name, files, kubectl, cnpa_op, *, code=2, flags=(), env=None):
    """A Row that both refuse. The code is 3 where no file is wrong: a plugin fails, a name is not known."""
    return row(name, files, kubectl, cnpa_op, code, flags=flags, **env or {})


def differs(name, why, files, kubectl, cnpa_op, *, code=2, flags=(), env=None):
    """A Row with another outcome for a reason."""
    return row(name, files, kubectl, cnpa_op, code, why, flags, **env or {})
