# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the real binary, run against a real control plane, and what it did there."""

import contextlib
import copy
import http.client
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests" / "cluster"))

from controlplane import ControlPlane  # noqa: E402  (the path has to be set first)

BINARY = Path(os.environ.get("CNPA_OP", REPOSITORY / "build" / "cnpa-op")).resolve()

TEAMS = "/apis/platform.labhub.io/v1alpha1/teamspaces"
NAMESPACES = "/api/v1/namespaces"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRD = f"{CRDS}/teamspaces.platform.labhub.io"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
ROLE = f"{ROLES}/cnpa-op"
FINALIZER = "platform.labhub.io/cleanup"
LABEL = "platform.labhub.io/teamspace"
OWN_USERS = ("cnpa-op", "cnpa-op-token")
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
WRITING_VERBS = ("create", "update", "patch", "delete", "deletecollection")

# The CRD as one types it who has only the field list at hand: no rules, no conditions, no printer columns.
PLAIN_CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "teamspaces.platform.labhub.io"},
    "spec": {
        "group": "platform.labhub.io",
        "scope": "Cluster",
        "names": {"kind": "TeamSpace", "plural": "teamspaces"},
        "versions": [{
            "name": "v1alpha1",
            "served": True,
            "storage": True,
            "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {
                    "spec": {
                        "type": "object",
                        "required": ["pods"],
                        "properties": {
                            "pods": {"type": "integer", "minimum": 1, "maximum": 50},
                            "cpu": {"type": "string", "default": "1"},
                        },
                    },
                    "status": {
                        "type": "object",
                        "properties": {
                            "observedGeneration": {"type": "integer"},
                            "namespace": {"type": "string"},
                        },
                    },
                },
            }},
        }],
    },
}


class ApiError(AssertionError):
    """The API server refused a request of a test, not of the binary."""


def children(pid):
    """Returns the processes that a process has started and not yet waited for."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


# With CNPA_OP_TEST_LINGER=1s, say, all passes linger so long.
LINGER = {"CNPA_OP_LINGER": os.environ["CNPA_OP_TEST_LINGER"]} if "CNPA_OP_TEST_LINGER" in os.environ else {}


def wait_for(condition, what, seconds=60.0, pause=0.02):
    """Returns what `condition()` returns once that is true; fails with `what` after `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(pause)


@dataclass(frozen=True)
class Request:
    """A request of the binary as the audit log has it; `verb` is Kubernetes' word, `path` has no query."""

    verb: str
    path: str
    code: int
    uri: str

    @property
    def is_write(self):
        """Whether it writes; what tells of a write, an event, is none itself."""
        return self.verb in WRITING_VERBS and not self.is_event

    @property
    def is_event(self):
        return self.path.startswith(EVENTS)

    def __str__(self):
        return f"{self.verb} {self.path}"


def own_requests(plane, position):
    """Returns the requests that the binary sent since `position` of the audit log, oldest first."""
    return select_own(plane.audit_since(position))


def select_own(events):
    requests = []
    for event in events:
        if event["user"].get("username") not in OWN_USERS and not event.get("userAgent", "").startswith("cnpa-op/"):
            continue
        uri = event["requestURI"]
        code = event.get("responseStatus", {}).get("code", 0)
        requests.append(Request(event["verb"], uri.partition("?")[0], code, uri))
    return requests


def watch_count(cluster, mark):
    """Returns how many watches were begun since `mark`."""
    return sum(event["verb"] == "watch" and event["stage"] == "ResponseStarted"
               for event in cluster.plane.audit_since(mark, user="cnpa-op"))


def words_of_writes(requests):
    """Returns the writes among `requests` as text. Events come with writes, and are left out; alone, they are there."""
    writes = [str(request) for request in requests if request.is_write]
    return writes or [str(request) for request in requests if request.verb in WRITING_VERBS]


@dataclass(frozen=True)
class Result:
    """How a run of the binary ended, what it printed, and what it asked of the server."""

    code: int
    stdout: str
    stderr: str
    requests: list = field(default_factory=list, repr=False)

    @property
    def writes(self):
        """The writing requests as text, such as "create /api/v1/namespaces", in the order of their answers."""
        return words_of_writes(self.requests)

    @property
    def lines(self):
        """The lines of standard error."""
        return self.stderr.splitlines()

    @property
    def only_line(self):
        """The one line of standard error, when nothing else was printed."""
        assert self.stdout == "" and len(self.lines) == 1, self
        return self.lines[0]


def runtime_folder(home):
    """Returns the folder for what outlives a pass, but no restart of a machine."""
    return home / "run"


def environment(home, extra=None):
    """Returns an environment in which nothing of the caller's reaches the binary.

    Not even the machine's own configuration file: it is replaced by an empty one.
    """
    empty = home / "empty.yaml"
    empty.touch()
    runtime_folder(home).mkdir(exist_ok=True)
    return {
        "PATH": os.defpath,
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "CNPA_OP_CONFIG": str(empty),
        "RUNTIME_DIRECTORY": str(runtime_folder(home)),
    } | LINGER | {name: str(value) for name, value in (extra or {}).items()}


def run_binary(arguments, home, *, env=None, timeout=60.0, **options):
    """Runs the binary in folder `home` and returns its Result, without its requests.

    `options` are those of subprocess.run; what goes elsewhere by them is "" in the Result.
    """
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    done = subprocess.run([BINARY, *map(str, arguments)], env=environment(home, env), cwd=home, text=True,
                          timeout=timeout, **pipes | options)
    return Result(done.returncode, done.stdout or "", done.stderr or "")


def print_manifest(*arguments):
    """Returns what the binary prints for `crd` or `rbac`."""
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, check=True,
                          env={"PATH": os.defpath, "CNPA_OP_CONFIG": os.devnull}).stdout


def api(plane, method, path, body=None, *, content_type="application/json", allow=()):
    """Sends a request as administrator and returns the decoded answer, or None for a code in `allow`.

    Errors: ApiError for any other code of 400 or more.
    """
    response = plane.request(method, path, body, content_type=content_type)
    if response.status in allow:
        return None
    if response.status >= 400:
        raise ApiError(f"{method} {path}: {response.status} {response.body.decode(errors='replace')}")
    return response.json()


def allowed(plane, user, verb, resource, group="", name="", subresource="", namespace=""):
    """Returns whether `user` may do that, in all namespaces unless in one, by the API server's own word."""
    attributes = {"verb": verb, "resource": resource, "group": group, "name": name, "subresource": subresource,
                  "namespace": namespace}
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
              "spec": {"user": user, "resourceAttributes": attributes}}
    return api(plane, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review)["status"]["allowed"]


def install(plane, *, crd=None, rbac=()):
    """Installs a CRD, by default the binary's, and the binary's RBAC, and waits until both are in force.

    The controller manager is started anew, since its garbage collector looks for new kinds every 30 seconds only.
    """
    plane.kubectl("apply", "-f", "-", input=crd or print_manifest("crd"))
    plane.kubectl("apply", "-f", "-", input=print_manifest("rbac", *rbac))
    wait_for(lambda: plane.request("GET", TEAMS).status == 200, "the CRD is served")
    wait_for(lambda: allowed(plane, "cnpa-op", "list", "teamspaces", "platform.labhub.io"), "RBAC is in force")
    wait_for(lambda: allowed(plane, "cnpa-op", "patch", "events", "events.k8s.io", namespace="default"),
             "RBAC is in force for events")
    plane.component("kube-controller-manager").kill()
    plane.component("kube-controller-manager").start()


def use_crd(cluster, manifest):
    """Makes `manifest`, a text or a map, the CRD, in place of any other, and waits until it is served."""
    remove_crd(cluster)
    text = manifest if isinstance(manifest, str) else json.dumps(manifest)
    install(cluster.plane, crd=text)


def remove_crd(cluster):
    cluster.clean()
    cluster.api("DELETE", CRD, allow=(404,))
    wait_for(lambda: cluster.api("GET", CRD, allow=(404,)) is None, "the CRD is gone")
    wait_for(lambda: cluster.plane.request("GET", TEAMS).status == 404, "the API is not served any more")


@contextlib.contextmanager
def refusing_policy(cluster, resource, expression, message, path, refused):
    """An admission policy of somebody else, in force while the block runs.

    It refuses each `resource` for which `expression` does not hold, such as `refused`, sent to `path`.
    """
    name = cluster.new_name("policy")
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": name}}
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    cluster.api("POST", f"{policies}ies", head | {"kind": "ValidatingAdmissionPolicy", "spec": {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": [resource],
                                                "operations": ["CREATE", "UPDATE"]}]},
        "validations": [{"expression": expression, "message": message}]}})
    cluster.api("POST", f"{policies}ybindings", head | {"kind": "ValidatingAdmissionPolicyBinding", "spec": {
        "policyName": name, "validationActions": ["Deny"]}})
    probe = f"{path}?dryRun=All"
    wait_for(lambda: cluster.plane.request("POST", probe, refused).status in (403, 422), "the policy is in force")
    try:
        yield
    finally:
        cluster.api("DELETE", f"{policies}ybindings/{name}")
        cluster.api("DELETE", f"{policies}ies/{name}")
        wait_for(lambda: cluster.plane.request("POST", probe, refused).status == 201, "the policy is gone")


def plain_crd(change):
    """Returns the plain CRD after `change(version)`, with its schema in reach as `version["schema"]`."""
    manifest = copy.deepcopy(PLAIN_CRD)
    change(manifest["spec"]["versions"][0])
    return manifest


class Started:
    """A run of the binary that goes on while a test does something else.

    `result` is its Result, once `finish` or `kill` has ended it.
    """

    def __init__(self, cluster, arguments):
        self._cluster = cluster
        self._seen = cluster.mark()  # how far the audit log was read
        self._position = self._seen
        self._writes = 0
        self._stdout, self._stderr = tempfile.TemporaryFile("w+"), tempfile.TemporaryFile("w+")
        self.result = None
        self.process = subprocess.Popen([BINARY, *map(str, arguments)], cwd=cluster.home,
                                        env=environment(cluster.home), stdin=subprocess.DEVNULL,
                                        stdout=self._stdout, stderr=self._stderr)

    def signal(self, number):
        self.process.send_signal(number)

    def finish(self, seconds=60):
        """Waits until it has ended and returns its Result."""
        self.process.wait(seconds)
        if not self.result:
            output = []
            for file in (self._stdout, self._stderr):
                file.seek(0)
                output.append(file.read())
                file.close()
            self.result = Result(self.process.returncode, *output, self._cluster.requests(self._position))
        return self.result

    def kill(self):
        """Ends it, if it runs, and returns its Result."""
        self.process.kill()
        return self.finish()

    def writes_so_far(self):
        """Returns how many writes the server has answered, without asking it for anything."""
        with open(self._cluster.plane.audit_log, "rb") as log:
            log.seek(self._seen)
            whole, newline, _ = log.read().rpartition(b"\n")
        self._seen += len(whole + newline)
        self._writes += sum(request.is_write for request in select_own(map(json.loads, whole.splitlines())))
        return self._writes

    def wait_for_writes(self, count):
        """Waits until the server has answered `count` writes; fails if the run is over before."""
        def enough():
            assert self.process.poll() is None, "the pass was over before"
            return self.writes_so_far() >= count

        wait_for(enough, f"{count} writes", 60, pause=0.001)

    def wait_for_connection(self):
        """Waits until it has a connection to the API server."""
        port = f"{self._cluster.plane.port:04X}"

        def connected():
            assert self.process.poll() is None, "it has ended"
            proc = Path(f"/proc/{self.process.pid}")
            try:
                sockets = {os.readlink(fd) for fd in proc.joinpath("fd").iterdir()}
            except PermissionError:
                import pytest  # what else uses this module may do without

                pytest.skip("needs root: nobody else is shown what a pass has open")
            rows = [row.split() for row in proc.joinpath("net", "tcp").read_text().splitlines()[1:]]
            return any(row[2].endswith(":" + port) and row[3] == "01" and f"socket:[{row[9]}]" in sockets
                       for row in rows)

        wait_for(connected, "a connection to the API server")


class Cluster:
    """A control plane as one test sees it, with an archive folder, a home folder and team names of its own."""

    def __init__(self, plane, folder):
        self.plane = plane
        self.home = folder
        self.archive = folder / "archive"
        self.runtime = runtime_folder(folder)
        self.kubectl = plane.kubectl

    # -- the binary ------------------------------------------------------------------------------------------------

    def run(self, *arguments, kubeconfig=None, archive=None, env=None, timeout=60.0, **options):
        """Runs the binary with `arguments` as user cnpa-op and returns its Result.

        `reconcile` and `check` are told the kubeconfig and the archive folder, unless that is False.
        """
        position = self.plane.audit_position()
        done = run_binary(self.arguments(*arguments, kubeconfig=kubeconfig, archive=archive), self.home, env=env,
                          timeout=timeout, **options)
        return Result(done.code, done.stdout, done.stderr, own_requests(self.plane, position))

    def arguments(self, *arguments, kubeconfig=None, archive=None):
        """Returns `arguments` with the flags that `run` adds."""
        arguments = list(arguments)
        if arguments[:1] in (["reconcile"], ["check"]):
            if kubeconfig is not False:
                arguments += ["--kubeconfig", kubeconfig or self.plane.user_kubeconfig]
            if archive is not False:
                arguments += ["--archive", archive or self.archive]
        return arguments

    def once(self, *flags, **options):
        """Runs one pass."""
        return self.run("reconcile", "--once", *flags, **options)

    def diff(self, *flags, **options):
        return self.run("reconcile", "--diff", *flags, **options)

    def converge(self, *flags):
        """Runs one pass that must succeed."""
        result = self.once(*flags)
        assert result.code == 0, result
        return result

    @contextlib.contextmanager
    def started(self, *arguments, **options):
        """Starts the binary and yields it as Started; kills it if it still runs at the end."""
        started = Started(self, self.arguments(*arguments, **options))
        try:
            yield started
        finally:
            started.kill()

    @contextlib.contextmanager
    def paused_pass(self, *flags):
        """Starts a pass, one request at a time, and stops it from running once it has sent its first write.

        What the block does happens after the lists and before most of the writes. The pass goes on afterwards; what is
        yielded, a Started, has its Result as `result` then. It takes enough TeamSpaces for the pass not to be over at
        once.
        """
        with self.started("reconcile", "--once", "--concurrency=1", *flags) as started:
            started.wait_for_writes(1)
            started.signal(signal.SIGSTOP)
            try:
                yield started
            finally:
                started.signal(signal.SIGCONT)
            started.finish()

    def forget_passes(self):
        """Takes away what passes remember of those before them."""
        (self.runtime / "memory.json").unlink(missing_ok=True)

    def mark(self):
        """Returns the present end of the audit log, for `requests` and `writes`."""
        return self.plane.audit_position()

    def requests(self, since):
        return own_requests(self.plane, since)

    def writes(self, since):
        """Returns the writing requests of the binary since `mark()`, as Result.writes does."""
        return words_of_writes(self.requests(since))

    # -- objects ---------------------------------------------------------------------------------------------------

    def api(self, method, path, body=None, **options):
        return api(self.plane, method, path, body, **options)

    def new_name(self, stem="team"):
        """Returns a team's name that no other test has."""
        return f"{stem}-{secrets.token_hex(5)}"

    def create_team(self, name=None, pods=4, cpu=None, **metadata):
        """Creates a TeamSpace and returns its name, a new one if none is given."""
        name = name or self.new_name()
        spec = {"pods": pods} | ({"cpu": cpu} if cpu is not None else {})
        self.api("POST", TEAMS, {"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace",
                                 "metadata": {"name": name} | metadata, "spec": spec})
        return name

    def create_teams(self, names, **spec):
        """Creates many TeamSpaces with one kubectl, which is faster than one by one."""
        items = [{"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "metadata": {"name": name},
                  "spec": {"pods": 4} | spec} for name in names]
        self.kubectl("create", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": items}),
                     timeout_seconds=300)
        return list(names)

    def converged_team(self, name=None, **options):
        """Creates a TeamSpace, runs a pass and returns the name."""
        name = self.create_team(name, **options)
        self.converge()
        return name

    def team(self, name):
        """Returns the TeamSpace, or None."""
        return self.api("GET", f"{TEAMS}/{name}", allow=(404,))

    def namespace(self, name):
        """Returns the namespace of team `name`, or None."""
        return self.api("GET", f"{NAMESPACES}/team-{name}", allow=(404,))

    def is_terminating(self, name):
        """Returns whether the namespace of team `name` is Terminating, or gone already."""
        namespace = self.namespace(name)
        return namespace is None or "deletionTimestamp" in namespace["metadata"]

    def quota(self, name):
        """Returns the quota of team `name`, or None."""
        return self.api("GET", self.quota_path(name), allow=(404,))

    def hard(self, name):
        return self.quota(name)["spec"]["hard"]

    def ready(self, name):
        """Returns the condition Ready of team `name`; an empty map when it has none."""
        conditions = self.team(name).get("status", {}).get("conditions", [])
        return next((condition for condition in conditions if condition["type"] == "Ready"), {})

    def events(self, team):
        """Returns the events on a TeamSpace, the oldest first."""
        items = self.api("GET", EVENTS)["items"]
        return sorted((item for item in items if item["regarding"]["name"] == team), key=lambda item: item["eventTime"])

    def quota_path(self, name):
        return f"{NAMESPACES}/team-{name}/resourcequotas/team-quota"

    def patch(self, path, body, kind="merge", **options):
        """Patches an object: `kind` is "merge" or "json"."""
        return self.api("PATCH", path, body, content_type=f"application/{kind}-patch+json", **options)

    def patch_team(self, name, body, **options):
        return self.patch(f"{TEAMS}/{name}", body, **options)

    def patch_namespace(self, name, body, **options):
        return self.patch(f"{NAMESPACES}/team-{name}", body, **options)

    def patch_quota(self, name, hard):
        return self.patch(self.quota_path(name), {"spec": {"hard": hard}})

    def create_namespace(self, team, **metadata):
        """Creates namespace team-`team`, as somebody else would."""
        return self.api("POST", NAMESPACES, {"apiVersion": "v1", "kind": "Namespace",
                                             "metadata": {"name": f"team-{team}"} | metadata})

    def owner_reference(self, team, **other):
        """Returns an ownerReference to a TeamSpace, a live one unless `other` has its uid."""
        uid = other.get("uid") or self.team(team)["metadata"]["uid"]
        return {"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "name": team, "uid": uid} | other

    def delete_team(self, name, propagation=None):
        """Asks for the deletion of a TeamSpace, and does not wait for it."""
        options = {"propagationPolicy": propagation} if propagation else {}
        self.api("DELETE", f"{TEAMS}/{name}", {"apiVersion": "v1", "kind": "DeleteOptions"} | options)

    def archived(self, file):
        """Returns an archive file, decoded."""
        return json.loads((self.archive / file).read_text())

    def archives(self):
        """Returns the names of the archive files in order; the lock beside them is hidden."""
        return sorted(path.name for path in self.archive.iterdir() if not path.name.startswith("."))

    def wait_gone(self, team):
        """Waits until the namespace of `team` is gone: some five seconds, up to 45 if its CRD is new to the collector."""
        wait_for(lambda: self.namespace(team) is None, f"namespace team-{team} is gone", 120)

    def clean(self):
        """Removes all TeamSpaces, by force, and the namespaces of teams without waiting for their end."""
        teams = self.api("GET", TEAMS, allow=(404,))
        for item in teams["items"] if teams else []:
            path = f"{TEAMS}/{item['metadata']['name']}"
            self.api("DELETE", path, allow=(404,))
            if item["metadata"].get("finalizers"):
                self.patch(path, {"metadata": {"finalizers": None}}, allow=(404, 422))
        for item in self.api("GET", NAMESPACES)["items"]:
            metadata = item["metadata"]
            if not metadata["name"].startswith("team-"):
                continue
            path = f"{NAMESPACES}/{metadata['name']}"
            owners = metadata.get("ownerReferences", [])
            if owners and all(owner["kind"] == "TeamSpace" for owner in owners) and not metadata.get("finalizers"):
                continue  # the garbage collector takes it away
            if metadata.get("finalizers"):
                self.patch(path, {"metadata": {"finalizers": None}}, allow=(404,))
            if "deletionTimestamp" not in metadata:
                self.api("DELETE", path, allow=(404, 409))
        if teams:
            wait_for(lambda: not (self.api("GET", TEAMS, allow=(404,)) or {}).get("items"), "no TeamSpace is left")


def said(pattern, lines):
    """Returns the lines, of a list or a text, in which regular expression `pattern` is found."""
    lines = lines.splitlines() if isinstance(lines, str) else lines
    return [line for line in lines if re.search(pattern, line)]


def spoken(loop):
    """Returns the lines on standard error until now."""
    loop._stderr.flush()
    return Path(f"/proc/self/fd/{loop._stderr.fileno()}").read_text().splitlines()


def answers(plane):
    """Returns whether the API server of `plane` answers at all."""
    with contextlib.suppress(OSError, http.client.HTTPException):
        return plane.request("GET", "/readyz", timeout_seconds=2.0).status == 200
    return False


__all__ = [name for name in dir() if not name.startswith("_")]
