# SPDX-License-Identifier: Apache-2.0
"""What the tests of a faulty server share: a small sane world, what a server may do instead, and runs against it.

The server is a RawServer. In its world TeamSpace alpha is new and needs four writes, and beta is converged. A row of a
table replaces the answer to one request; the rows of a file run some at a time, since they mostly wait.
"""

import contextlib
import copy
import gzip
import json
import re
import subprocess
import tempfile
import time
import weakref
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness import BINARY, CRD, FINALIZER, LABEL, NAMESPACES, TEAMS, Result, environment, run_binary
from authority import Authority
from raw_server import RawServer, Request

SECRET = "token-that-nobody-else-may-see"
LISTS = ("teamspaces", "namespaces", "resourcequotas")
TRIES = 4  # of a list

# The limits of a pass, and in seconds how long a row may take. The spare time is for a busy machine.
TIMEOUT, REQUEST_TIMEOUT = 5, 4
SPARE = 4.0
AT_ONCE = SPARE  # without a second try
RETRIED = 1.75 + SPARE  # with the pauses between four tries
STALLED = REQUEST_TIMEOUT + SPARE
TO_THE_END = TIMEOUT + SPARE
GRACE = 2.0  # for what is in flight when a signal comes

# A line is about a server, by its address or by the kubeconfig that leads to it, or about a list.
ABOUT = re.compile(r"https://[a-z0-9.-]+:\d+|\(context \"raw\", |TeamSpace CRD|" + "|".join(LISTS))

# What only developers of cnpa-op and of its libraries understand.
JARGON = re.compile(r"curl|errno|HTTP/0\.9|SSL_|OpenSSL|error:[0-9A-F]{8}|Traceback|std::|\b0x[0-9a-f]+"
                    r"|[\x00-\x1f\x7f]", re.I)


# ---------------------------------------------------------------------------------------------------------------------
# A sane world


def team(name, **status):
    return {"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace",
            "metadata": {"name": name, "uid": f"uid-{name}", "generation": 1, "resourceVersion": "5"},
            "spec": {"pods": 4, "cpu": "1"}} | ({"status": status} if status else {})


def converged_team(name):
    ready = {"type": "Ready", "status": "True", "reason": "Reconciled", "observedGeneration": 1,
             "message": f"namespace team-{name} and its quota are as specified",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}
    made = team(name, observedGeneration=1, namespace=f"team-{name}", namespaceUID=f"uid-team-{name}",
                conditions=[ready])
    made["metadata"]["finalizers"] = [FINALIZER]
    return made


def space(name):
    owner = {"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "name": name, "uid": f"uid-{name}"}
    return {"metadata": {"name": f"team-{name}", "uid": f"uid-team-{name}", "labels": {LABEL: name},
                         "ownerReferences": [owner]}, "status": {"phase": "Active"}}


def quota(name):
    return {"metadata": {"name": "team-quota", "namespace": f"team-{name}", "uid": f"uid-quota-{name}"},
            "spec": {"hard": {"pods": "4", "requests.cpu": "1"}}}


ITEMS = {"teamspaces": [team("alpha"), converged_team("beta")], "namespaces": [space("beta")],
         "resourcequotas": [quota("beta")]}
NEW = {"teamspaces": [team("alpha"), team("gamma")], "namespaces": [], "resourcequotas": []}  # another world
KINDS = {"teamspaces": ("TeamSpaceList", "platform.labhub.io/v1alpha1"), "namespaces": ("NamespaceList", "v1"),
         "resourcequotas": ("ResourceQuotaList", "v1")}
FIELDS = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
DEFINITION = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
              "metadata": {"name": "teamspaces.platform.labhub.io", "uid": "uid-crd"},
              "spec": {"scope": "Cluster",
                       "versions": [{"name": "v1alpha1", "served": True, "storage": True,
                                     "subresources": {"status": {}}, "schema": {"openAPIV3Schema": FIELDS}}]},
              "status": {"conditions": [{"type": name, "status": "True"} for name in ("NamesAccepted", "Established")]}}


def listed(request):
    """Returns which list a request asks for, "crd" for the CRD, or None.

    A TeamSpace or a namespace that is read by its name is no list.
    """
    if request.path == CRD:
        return "crd"
    name = request.path.rpartition("/")[2]
    by_name = name in ("teamspaces", "namespaces") and "fieldSelector" in request.target
    return name if request.verb == "GET" and name in LISTS and not by_name else None


def list_of(collection, items, **metadata):
    kind, version = KINDS[collection]
    return {"kind": kind, "apiVersion": version, "metadata": {"resourceVersion": "7"} | metadata, "items": items}


def sane_answer(asked, items=None):
    return DEFINITION if asked == "crd" else list_of(asked, (items or ITEMS)[asked])


_written = weakref.WeakKeyDictionary()  # by server: what was written of each object, by its path


def written(request, items):
    """Returns an object as an API server has it after a write, which it takes as it is."""
    kept, path = _written.setdefault(request.closing, {}), request.path.removesuffix("/status")
    body = json.loads(request.body) if request.body else {}
    if request.verb == "POST":
        name = body.get("metadata", {}).get("name")
        inside = re.search("/namespaces/([^/]+)/", path)
        given = {"uid": f"uid-{name}"} | ({"namespace": inside[1]} if inside else {})
        path = f"{path}/{name}"
        kept[path] = body | {"metadata": body.get("metadata", {}) | given}
    elif request.verb == "PATCH":
        kept[path] = patched(kept.get(path) or found(path, items), body)
    return kept.get(path, {"kind": "Status", "apiVersion": "v1", "status": "Success"})


def found(path, items):
    """Returns a copy of the object at a path in the world before any write."""
    parts = path.split("/")
    kinds = {"teamspaces": {}, "namespaces": {"kind": "Namespace", "apiVersion": "v1"},
             "resourcequotas": {"kind": "ResourceQuota", "apiVersion": "v1"}}
    for item in items.get(parts[-2], []):
        metadata = item["metadata"]
        if metadata["name"] == parts[-1] and metadata.get("namespace") in (None, parts[-3]):
            return kinds[parts[-2]] | copy.deepcopy(item)
    return {"kind": "Any", "apiVersion": "v1"}


def patched(value, patch):
    """Returns a JSON value after a JSON Patch whose tests hold."""
    for step in patch if isinstance(patch, list) else []:
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
        parent = value
        for part in parents:
            parent = parent[int(part)] if isinstance(parent, list) else parent.setdefault(part, {})
        if isinstance(parent, list):
            place = len(parent) if last == "-" else int(last)
            if step["op"] != "test":
                parent[place:place + (step["op"] != "add")] = [] if step["op"] == "remove" else [step["value"]]
        elif step["op"] == "remove":
            parent.pop(last, None)
        elif step["op"] != "test":
            parent[last] = step["value"]
    return value


def named(request):
    """Returns the name of the one object that a list is to have."""
    return re.search("metadata.name%3D([^&]+)", request.target)[1]


def answer_sanely(request, items=None):
    """Answers as an API server does that has `items` and takes every write."""
    if request.is_write:
        request.answer(201 if request.verb == "POST" else 200, written(request, items or ITEMS))
    elif asked := listed(request):
        request.answer(200, sane_answer(asked, items))
    elif request.path == TEAMS:
        name = named(request)
        request.answer(200, list_of("teamspaces", [i for i in (items or ITEMS)["teamspaces"]
                                                  if i["metadata"]["name"] == name]))
    elif request.path == NAMESPACES:
        # Asked for once it has been made.
        request.answer(200, list_of("namespaces", [space(named(request).removeprefix("team-"))]))
    else:
        request.answer(200, "ok")


def writes_for(name):
    """Returns the writes that a new TeamSpace needs."""
    return [f"PATCH {TEAMS}/{name}", f"POST {NAMESPACES} team-{name}",
            f"POST {NAMESPACES}/team-{name}/resourcequotas", f"PATCH {TEAMS}/{name}/status"]


def described(request):
    """Returns a write as text, as `writes_for` does."""
    name = " " + json.loads(request.body)["metadata"]["name"] if request.path == NAMESPACES else ""
    return f"{request.verb} {request.path}{name}"


# ---------------------------------------------------------------------------------------------------------------------
# What a server does with a request; `good` is the whole sane answer's body, where it is a list


def wire(body, *headers, status="HTTP/1.1 200 OK"):
    """Returns the bytes of an answer with just these headers."""
    return "\r\n".join([status, "Content-Type: application/json", *headers, "", ""]).encode() + body


def sized(body, more=0):
    """Returns an answer that says how long it is; `more` makes that a lie."""
    return wire(body, f"Content-Length: {len(body) + more}")


def half(body):
    return sized(body)[:len(sized(body)) // 2]


def chunk(body):
    return b"%x\r\n%b\r\n" % (len(body), body)


def sends(make, then=Request.close):
    """Puts what `make` makes of the good body on the wire, and goes on as `then` says."""
    def does(request, good):
        request.send(make(good) if callable(make) else make)
        then(request)
    return does


def answers(code, body=b"", **headers):
    """Answers well-formed; a header's name has underscores for its dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request, good: request.answer(code, body, named)


def body(make):
    """Answers 200 with another body: bytes, or what `make` makes of the decoded list."""
    def does(request, good):
        request.answer(200, make(json.loads(good)) if callable(make) else make)
    return does


def text(old, new):
    """Answers with the list in which a text is another one."""
    def does(request, good):
        assert good.count(old) >= 1, f"{old} is not in {good}"
        request.answer(200, good.replace(old, new))
    return does


def item(old, new):
    """Answers with the list in which a text of its last item, which is beta's, is another one."""
    def does(request, good):
        head, brace, last = good.rpartition(b'{"apiVersion": "platform' if b"TeamSpaceList" in good else b'{"metadata"')
        assert last.count(old) >= 1, f"{old} is not in {last}"
        request.answer(200, head + brace + last.replace(old, new, 1))
    return does


def status(code, message, reason="", **details):
    """Answers with a Status, as an API server refuses; `details` say what it is about."""
    return answers(code, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message,
                          "reason": reason, "code": code} | ({"details": details} if details else {}))


def compressed(make):
    """Answers with what `make` makes of the good body, compressed, though nobody has asked for that."""
    def does(request, good):
        request.answer(200, gzip.compress(make(good)), {"Content-Encoding": "gzip"})
    return does


def trickles(request, good):
    request.trickle(sized(good))


def without_end(piece, head=b""):
    """Sends the same again and again."""
    def does(request, good):
        request.send(head)
        while not request.closing.is_set():
            request.send(piece)
            time.sleep(0.001)
    return does


LATE = "no (connection|answer|whole answer)( within [0-9.]+ (ms|s)|: --timeout is over)"  # and not in libcurl's words
HTML = b"<html>\n<head><title>Sign in</title></head>\n<body>{Please} [sign] \"in\"</body>\n</html>\n"


# ---------------------------------------------------------------------------------------------------------------------
# Runs


@dataclass
class Outcome:
    """How a pass ended, after how many seconds, and what it asked of the server."""

    result: Result
    seconds: float
    requests: list = field(repr=False)

    @property
    def writes(self):
        return [described(request) for request in self.requests if request.is_write]

    def lists(self, collection):
        return [request for request in self.requests if listed(request) == collection]


class Bench:
    """What the rows share: two authorities, of which the second one issues for another name, and a folder."""

    def __init__(self, folder):
        self.folder = folder
        self.authority = Authority(self.new_folder())
        self.elsewhere = Authority(self.new_folder(), ("elsewhere.example",), "another test authority")
        self.certificate = self.authority.server("raw")

    def new_folder(self):
        return Path(tempfile.mkdtemp(dir=self.folder))

    def kubeconfig(self, address, authority=None):
        """Writes a kubeconfig and returns it; its user has the token SECRET."""
        ca = str((authority or self.authority).certificate)
        path = self.new_folder() / "kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "raw",
            "clusters": [{"name": "raw", "cluster": {"server": address, "certificate-authority": ca}}],
            "contexts": [{"name": "raw", "context": {"cluster": "raw", "user": "raw"}}],
            "users": [{"name": "raw", "user": {"token": SECRET}}]}))
        path.chmod(0o600)
        return path

    def arguments(self, kubeconfig, *flags, timeout=TIMEOUT, request_timeout=REQUEST_TIMEOUT):
        """Returns the command line of a pass; the limits are in seconds."""
        return ["reconcile", *(flags if "--diff" in flags else ["--once", *flags]), f"--timeout={timeout}s",
                f"--request-timeout={request_timeout}s", "--kubeconfig", kubeconfig, "--archive",
                self.folder / "archive"]

    def run(self, kubeconfig, *flags, requests=(), **limits):
        """Runs a pass to its end; `limits` are those of `arguments`."""
        began = time.monotonic()
        result = run_binary(self.arguments(kubeconfig, *flags, **limits), self.new_folder(), timeout=60)
        return Outcome(result, time.monotonic() - began, requests)

    def run_against(self, respond, *flags, **limits):
        """Runs a pass against a server that answers by `respond`."""
        with RawServer(self.certificate, respond) as server:
            return self.run(self.kubeconfig(server.address), *flags, requests=server.requests, **limits)

    def run_row(self, row, *flags):
        """Runs a pass against a server that does what the row says with one list, and is sane otherwise."""
        def respond(request):
            if listed(request) != row.on:
                return answer_sanely(request)
            return row.does(request, json.dumps(sane_answer(row.on)).encode())
        return self.run_against(respond, *flags)

    @contextlib.contextmanager
    def started(self, respond, *flags):
        """Starts a pass against a server that answers by `respond`; yields process and server."""
        with RawServer(self.certificate, respond) as server:
            home = self.new_folder()
            arguments = self.arguments(self.kubeconfig(server.address), *flags, timeout=30, request_timeout=30)
            process = subprocess.Popen([BINARY, *map(str, arguments)], env=environment(home), cwd=home, text=True,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            with process:
                try:
                    yield process, server
                finally:
                    process.kill()


ENDS_EARLY = "the answer ends in the middle|closed|reset"


def check_one_line(outcome, says):
    """One line that holds `says`, a regular expression, names what it is about, and is for people."""
    line = outcome.result.only_line
    assert line.startswith("cnpa-op: "), line
    assert re.search(says, line), line
    assert ABOUT.search(line), line
    assert not JARGON.search(line), line
    assert SECRET not in line


def table(*rows):
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows])
