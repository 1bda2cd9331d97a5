# SPDX-License-Identifier: Apache-2.0
"""What the fault tests share: a control plane with cnpa-op's CRD and rights, a FaultProxy before it, and a Lab.

The Lab makes and breaks TeamSpaces as an administrator, runs passes, and says what is there. `breaches` is an
independent statement of what should be there.
"""

import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "cluster"))

from controlplane import CONTROLLERS, ControlPlane  # noqa: E402
from harness import LINGER  # noqa: E402
from proxy import FaultProxy  # noqa: E402

NOBODY = 65534
CNPA_OP = os.environ.get("CNPA_OP") or str(HERE.parents[2] / "build" / "cnpa-op")
LONG = os.environ.get("CNPA_OP_TEST_LONG") == "1"

TEAM_SPACES = "/apis/platform.labhub.io/v1alpha1/teamspaces"
NAMESPACES = "/api/v1/namespaces"
QUOTAS = "/api/v1/resourcequotas?fieldSelector=metadata.name%3Dteam-quota"
LISTS = ("teamspaces", "namespaces", "resourcequotas")

API_VERSION = "platform.labhub.io/v1alpha1"
FINALIZER = "platform.labhub.io/cleanup"
LABEL = "platform.labhub.io/teamspace"
LABEL_POINTER = "/metadata/labels/platform.labhub.io~1teamspace"

PASS_SECONDS = 30.0
SECOND_USER = "cnpa-op-second"


# ---------------------------------------------------------------------------------------------------------------------
# The control plane


class Bench:
    """A control plane that has the CRD and the rights, the FaultProxy before it, and an administrator."""

    def __init__(self, **options):
        """Takes the options of the ControlPlane.

        Without the namespace controller: Lab ends namespaces at once, and the controller, which takes some tenths of a
        second to remove what is in one, would go on in the namespace of that name that was made since.
        """
        controllers = [name for name in CONTROLLERS if name != "namespace-controller"]
        self.plane = ControlPlane(**{"controllers": controllers} | options)
        self.plane.start()
        try:
            self._prepare()
        except BaseException:
            self.plane.stop()
            raise

    def stop(self):
        self.proxy.__exit__()
        self.plane.stop()

    def _prepare(self):
        for command in (["crd"], ["rbac"], ["rbac", "--user", SECOND_USER]):
            manifest = subprocess.run([CNPA_OP, *command], check=True, capture_output=True, text=True).stdout
            if SECOND_USER in command:
                manifest = manifest.replace("name: cnpa-op\n", f"name: {SECOND_USER}\n")
            self.plane.kubectl("apply", "-f", "-", input=manifest)
        self.plane.kubectl("wait", "--for=condition=Established", "crd/teamspaces.platform.labhub.io")
        # The garbage collector looks for new kinds every 30 s only, but also when it starts.
        manager = self.plane.component("kube-controller-manager")
        manager.kill()
        manager.start()
        user = self.plane.issue_client("cnpa-op")
        self.proxy = FaultProxy(self.plane.server, self.plane.authority, user).__enter__()
        self.proxy_kubeconfig = self.plane.kubeconfig_for("fault-proxy", server=self.proxy.address)
        self.second_kubeconfig = self.plane.kubeconfig_for(
            "second", certificate=self.plane.issue_client(SECOND_USER))
        self.admin = Admin(self.plane)
        self._wait_until_it_works()

    def _wait_until_it_works(self):
        """The CRD's storage and the rights need some tenths of a second until a pass can read."""
        deadline = time.monotonic() + 20.0
        for kubeconfig in (self.plane.user_kubeconfig, self.second_kubeconfig):
            while True:
                done = subprocess.run([CNPA_OP, "reconcile", "--once", "--kubeconfig", kubeconfig, "--archive",
                                       "/nowhere"], capture_output=True, text=True)
                if done.returncode == 0:
                    break
                assert time.monotonic() < deadline, done.stderr
                time.sleep(0.1)


class Users:
    """Counts those who use the one Bench of this process: each test file has its own fixture of it."""

    bench = None
    count = 0


@pytest.fixture(scope="session")
def fault_plane():
    """The Bench, one for all test files."""
    if Users.bench is None:
        Users.bench = Bench()
    Users.count += 1
    yield Users.bench
    Users.count -= 1
    if not Users.count:
        bench, Users.bench = Users.bench, None
        bench.stop()


@pytest.fixture
def lab(fault_plane):
    """A Lab on an empty cluster; the proxy has no rules. What a test leaves there, the next one removes."""
    lab = Lab(fault_plane)
    yield lab
    lab.close()


# ---------------------------------------------------------------------------------------------------------------------
# The administrator


class ApiError(RuntimeError):
    """The server refused; `code` is the HTTP code."""

    def __init__(self, code, message):
        super().__init__(f"{code}: {message}")
        self.code = code


class Admin:
    """An administrator's API client: one kept connection for each thread."""

    def __init__(self, plane):
        self._port = plane.port
        self._local = threading.local()
        certificate = plane.issue_client("fault-admin", ["system:masters"])
        self._tls = ssl.create_default_context(cafile=plane.authority.certificate)
        self._tls.load_cert_chain(certificate.certificate, certificate.key)

    def send(self, method, path, body=None, content_type="application/json"):
        """Returns what the server answers, decoded. Errors: ApiError."""
        headers = {"Content-Type": content_type} if body is not None else {}
        text = None if body is None else json.dumps(body)
        for retry in (True, False):
            connection = getattr(self._local, "connection", None)
            fresh = connection is None
            if fresh:
                connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=20.0, context=self._tls)
                self._local.connection = connection
            try:
                connection.request(method, path, text, headers)
                response = connection.getresponse()
                content = response.read()
                break
            except (OSError, http.client.HTTPException):
                connection.close()
                self._local.connection = None
                if fresh or not retry:
                    raise
        answer = json.loads(content) if content.startswith(b"{") else {"message": content.decode(errors="replace")}
        if response.status >= 300:
            raise ApiError(response.status, answer.get("message", ""))
        return answer

    def get(self, path):
        return self.send("GET", path)

    def find(self, path):
        """Returns the object, or None where there is none."""
        try:
            return self.send("GET", path)
        except ApiError as error:
            if error.code != 404:
                raise
            return None

    def create(self, path, body):
        return self.send("POST", path, body)

    def merge(self, path, body):
        return self.send("PATCH", path, body, "application/merge-patch+json")

    def patch(self, path, *operations):
        return self.send("PATCH", path, list(operations), "application/json-patch+json")

    def delete(self, path, **options):
        """Deletes; where there is nothing, that is as good."""
        try:
            return self.send("DELETE", path, {"kind": "DeleteOptions", "apiVersion": "v1", **options})
        except ApiError as error:
            if error.code != 404:
                raise
            return None


def op(what, path, value=None):
    """Returns one operation of a JSON Patch."""
    return {"op": what, "path": path} | ({} if what == "remove" else {"value": value})


# ---------------------------------------------------------------------------------------------------------------------
# The lab


@dataclass(frozen=True)
class Pass:
    """How a pass ended."""

    code: int
    output: str

    def __str__(self):
        return f"exit {self.code}: {self.output.strip()}"


class Lab:
    """TeamSpaces in all conditions, and passes over them.

    Attributes: `admin`, `proxy`, `plane`; `archive`, the folder of archives.
    """

    def __init__(self, bench):
        self._bench = bench
        self.plane, self.proxy, self.admin = bench.plane, bench.proxy, bench.admin
        self._folder = Path(tempfile.mkdtemp(prefix="cnpa-op-fault."))
        self.archive = self._folder / "archive"
        self._processes = []
        self.proxy.reset()
        self.clear()

    def close(self):
        for process in self._processes:
            if process.poll() is None:
                process.kill()
            process.communicate()
        self.proxy.reset()
        shutil.rmtree(self._folder)

    def clear(self):
        """Removes every TeamSpace, namespace and quota of ours at once.

        The namespaces are finalized by hand: their controller takes 5 s for each, and a good part of a core.
        """
        for team_space in self.admin.get(TEAM_SPACES)["items"]:
            self.force_away(f"{TEAM_SPACES}/{team_space['metadata']['name']}",
                            team_space["metadata"].get("finalizers"))
        for quota in self.admin.get(QUOTAS)["items"]:
            self.admin.delete(f"{NAMESPACES}/{quota['metadata']['namespace']}/resourcequotas/team-quota")
        for space in self.admin.get(NAMESPACES)["items"]:
            name = space["metadata"]["name"]
            if name.startswith("team-"):
                self.force_away(f"{NAMESPACES}/{name}", space["metadata"].get("finalizers"))
                self.finalize_namespace(name)

    def force_away(self, path, finalizers=None):
        """Deletes an object whatever its finalizers."""
        try:
            if finalizers:
                self.admin.merge(path, {"metadata": {"finalizers": None}})
            self.admin.delete(path)
        except ApiError as error:
            if error.code != 404:
                raise

    def finalize_namespace(self, name):
        """Ends a namespace that is Terminating without its controller; what is in it is out of reach then."""
        try:
            self.admin.send("PUT", f"{NAMESPACES}/{name}/finalize", {
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}, "spec": {"finalizers": []}})
        except ApiError as error:
            if error.code not in (404, 409):
                raise

    # Passes

    def forget(self):
        """Takes away what passes remember of earlier ones."""
        (Path(self._folder) / "memory.json").unlink(missing_ok=True)

    def start(self, *arguments, proxied=True, kubeconfig=None, archive=None, under=(), once=True, **options):
        """Starts a pass, or the loop, and returns its process; `under` is a command to run it under."""
        kubeconfig = kubeconfig or (self._bench.proxy_kubeconfig if proxied else self.plane.user_kubeconfig)
        command = [*under, CNPA_OP, "reconcile", *(["--once"] if once else []), "--kubeconfig", kubeconfig,
                   "--archive", archive or self.archive, *arguments]
        options.setdefault("env", os.environ | {"RUNTIME_DIRECTORY": str(self._folder)} | LINGER)
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, **options)
        self._processes.append(process)
        return process

    def finish(self, process):
        """Waits for a pass and returns how it ended. Errors: AssertionError when it takes too long."""
        try:
            output = process.communicate(timeout=PASS_SECONDS)[0]
        except subprocess.TimeoutExpired:
            process.kill()
            output = process.communicate()[0]
            raise AssertionError(f"a pass took more than {PASS_SECONDS} s: {output}") from None
        finally:
            if process.poll() is not None and process in self._processes:
                self._processes.remove(process)
        return Pass(process.returncode, output)

    def run(self, *arguments, **options):
        """Runs a pass to its end, through the proxy by default."""
        return self.finish(self.start(*arguments, **options))

    def run_clean(self, *arguments, **options):
        """Runs a pass that nothing disturbs."""
        return self.run(*arguments, proxied=False, **options)

    @property
    def proxy_kubeconfig(self):
        """The kubeconfig that leads to the proxy; it holds no secret."""
        return self._bench.proxy_kubeconfig

    @property
    def second_kubeconfig(self):
        """The kubeconfig of another user with the same rights."""
        return self._bench.second_kubeconfig

    def written_by_a_pass(self, *arguments, **options):
        """Runs an undisturbed pass and returns the writes that the audit log has of it, as text, and its end."""
        position = self.plane.audit_position()
        done = self.run_clean(*arguments, **options)
        events = self.plane.audit_since(position, user="cnpa-op")
        writes = [f"{event['verb']} {event['requestURI']} {event['responseStatus']['code']}" for event in events
                  if event["verb"] not in ("get", "list", "watch")]
        return writes, done

    def converge(self, most=2):
        """Runs up to `most` passes, then one that must write nothing; returns how many passes wrote.

        Errors: AssertionError where the last one still writes.
        """
        for count in range(most + 1):
            writes, done = self.written_by_a_pass()
            if not writes:
                return count
        raise AssertionError(f"pass {most + 1} still writes: {writes}; {done}")

    # Objects

    def team_space(self, name):
        return self.admin.find(f"{TEAM_SPACES}/{name}")

    def space(self, name):
        """Returns the namespace of TeamSpace `name`, or None."""
        return self.admin.find(f"{NAMESPACES}/team-{name}")

    def quota(self, name):
        """Returns the quota of TeamSpace `name`, or None."""
        return self.admin.find(self.quota_path(name))

    @staticmethod
    def quota_path(name):
        return f"{NAMESPACES}/team-{name}/resourcequotas/team-quota"

    def make(self, name, pods=4, cpu="1", finalizers=None, **metadata):
        if finalizers:
            metadata["finalizers"] = list(finalizers)
        return self.admin.create(TEAM_SPACES, {
            "apiVersion": API_VERSION, "kind": "TeamSpace", "metadata": {"name": name, **metadata},
            "spec": {"pods": pods, "cpu": cpu}})

    def delete(self, name, **options):
        return self.admin.delete(f"{TEAM_SPACES}/{name}", **options)

    def set_spec(self, name, **fields):
        return self.admin.merge(f"{TEAM_SPACES}/{name}", {"spec": fields})

    def set_hard(self, name, hard):
        return self.admin.patch(self.quota_path(name), op("add", "/spec/hard", hard))

    def set_finalizers(self, name, finalizers):
        return self.admin.merge(f"{TEAM_SPACES}/{name}", {"metadata": {"finalizers": finalizers}})

    def end_namespace(self, name):
        """Waits until the namespace of TeamSpace `name` is Terminating, and ends it at once."""
        def ends():
            space = self.space(name)
            return space is None or "deletionTimestamp" in space["metadata"]
        self.wait_until(ends, f"the end of namespace team-{name}")
        self.admin.delete(self.quota_path(name))

        def ended():
            self.finalize_namespace(f"team-{name}")
            return self.space(name) is None
        self.wait_until(ended, f"the end of namespace team-{name}")

    def end_terminating_namespaces(self):
        """Ends each namespace that is Terminating at once."""
        for name, space in self.everything()[1].items():
            if "deletionTimestamp" in space["metadata"]:
                self.end_namespace(name)

    def let_go(self, name):
        """Deletes TeamSpace `name`, lets a pass archive it, and returns when it and its namespace are gone."""
        self.delete(name)
        done = self.run_clean()
        assert done.code == 0 and self.team_space(name) is None, done
        self.end_namespace(name)

    def take_moment(self):
        """Returns what the lists say now, for Replay."""
        if not self.proxy.knows_lists(LISTS):
            self.run("--diff")
        return self.proxy.take_moment()

    def archived(self, folder=None):
        """Returns the archives, decoded, by file name. Errors: AssertionError for a file that is no whole archive."""
        archives = {}
        folder = Path(folder or self.archive)
        for path in sorted(folder.glob("[!.]*")) if folder.exists() else ():
            try:
                archives[path.name] = json.loads(path.read_text())
            except (ValueError, OSError) as error:
                raise AssertionError(f"{path.name} is no whole archive: {error}") from None
        return archives

    def everything(self):
        """Returns the TeamSpaces, the namespaces and the quotas that concern us, each by its TeamSpace's name."""
        def strip(name):
            return name.removeprefix("team-")

        team_spaces = {item["metadata"]["name"]: item for item in self.admin.get(TEAM_SPACES)["items"]}
        spaces = {strip(item["metadata"]["name"]): item for item in self.admin.get(NAMESPACES)["items"]
                  if item["metadata"]["name"].startswith("team-")}
        quotas = {strip(item["metadata"]["namespace"]): item for item in self.admin.get(QUOTAS)["items"]}
        return team_spaces, spaces, quotas

    def wait_until(self, condition, what, seconds=60.0):
        """Returns what `condition()` returns once that is true. Errors: AssertionError when it stays false."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            assert time.monotonic() < deadline, f"after {seconds} s: {what} is still to come"
            time.sleep(0.02)
        return found

    def wait_until_no_orphan(self, seconds=60.0):
        """Waits until each namespace that TeamSpaces own has one that lives, or is on its way out."""
        def orphans():
            team_spaces, spaces, _ = self.everything()
            uids = {item["metadata"]["uid"] for item in team_spaces.values()}
            for space in spaces.values():
                owners = space["metadata"].get("ownerReferences", [])
                if owners and "deletionTimestamp" not in space["metadata"] and not any(
                        owner["kind"] != "TeamSpace" or owner["uid"] in uids for owner in owners):
                    return True
            return False
        self.wait_until(lambda: not orphans(), "the end of every orphaned namespace", seconds)


# ---------------------------------------------------------------------------------------------------------------------
# What should be there: an independent statement of the contract


def quantity(text):
    """Returns a quantity's value, rounded up to thousandths as the server does it."""
    number, suffix = re.fullmatch(r"([0-9.]+)(m|k|M|e[0-9]+)?", text).groups()
    scale = {None: 1, "m": Fraction(1, 1000), "k": 1000, "M": 1000000}
    value = Fraction(number) * (scale[suffix] if suffix in scale else 10 ** int(suffix[1:]))
    return Fraction(-(-value * 1000 // 1), 1000)


def hard_values(hard):
    return {key: quantity(value) for key, value in hard.items()}


def owner_of(team_space):
    """Returns the ownerReference that the namespace of `team_space` must bear."""
    metadata = team_space["metadata"]
    return {"apiVersion": API_VERSION, "kind": "TeamSpace", "name": metadata["name"], "uid": metadata["uid"]}


def ready_of(team_space):
    """Returns the Ready condition, or None."""
    conditions = team_space.get("status", {}).get("conditions", [])
    return next((condition for condition in conditions if condition["type"] == "Ready"), None)


def breaches(lab):
    """Returns what is not as the contract has it for a reconciled or a deleted TeamSpace: "NAME: ASPECT: DETAIL"."""
    team_spaces, spaces, quotas = lab.everything()
    found = []
    for name, team_space in team_spaces.items():
        if "deletionTimestamp" in team_space["metadata"]:
            if FINALIZER in team_space["metadata"].get("finalizers", []):
                found.append(f"{name}: deletion: our finalizer is still on")
        else:
            found += [f"{name}: {what}" for what in live_breaches(team_space, spaces.get(name), quotas.get(name))]
    return found


def live_breaches(team_space, space, quota):
    """Yields what is wrong with a TeamSpace that is not being deleted: "ASPECT: DETAIL"."""
    metadata, spec, status = team_space["metadata"], team_space["spec"], team_space.get("status", {})
    ready = ready_of(team_space) or {}
    told = ready.get("status"), ready.get("reason"), ready.get("observedGeneration")
    if metadata.get("finalizers", []).count(FINALIZER) != 1:
        yield f"finalizers: {metadata.get('finalizers')}"
    if space and "deletionTimestamp" not in space["metadata"] and not is_ours(space, team_space):
        if told != ("False", "NamespaceConflict", metadata["generation"]):
            yield f"Ready: {ready}, for a namespace of somebody else"
        if "namespace" in status:
            yield f"status.namespace: {status['namespace']}, which is not ours"
        return
    if status.get("observedGeneration") != metadata["generation"]:
        yield f"observedGeneration: {status.get('observedGeneration')} of {metadata['generation']}"
    if status.get("namespace") != f"team-{metadata['name']}":
        yield f"status.namespace: {status.get('namespace')}"
    if told != ("True", "Reconciled", metadata["generation"]):
        yield f"Ready: {ready}"
    if not space:
        yield "namespace: none"
        return
    if status.get("namespaceUID") != space["metadata"]["uid"]:
        yield f"status.namespaceUID: {status.get('namespaceUID')}"
    if "deletionTimestamp" in space["metadata"]:
        yield "namespace: Terminating"
    if space["metadata"].get("labels", {}).get(LABEL) != metadata["name"]:
        yield f"label: {space['metadata'].get('labels')}"
    owners = [owner for owner in space["metadata"].get("ownerReferences", []) if owner["kind"] == "TeamSpace"]
    if owners != [owner_of(team_space)]:
        yield f"ownerReferences: {owners}, not uid {metadata['uid']}"
    wanted = {"pods": str(spec["pods"]), "requests.cpu": spec.get("cpu", "1")}
    if not quota:
        yield "quota: none"
    elif set(quota["spec"]) != {"hard"} or hard_values(quota["spec"]["hard"]) != hard_values(wanted):
        yield f"quota: {quota['spec']}, not {wanted}"


def is_ours(space, team_space):
    """Returns whether an existing namespace belongs to `team_space`: by ownerReference, label, or the status's uid."""
    name, uid = team_space["metadata"]["name"], team_space["metadata"]["uid"]
    owners = [owner for owner in space["metadata"].get("ownerReferences", []) if owner["kind"] == "TeamSpace"]
    if uid in [owner["uid"] for owner in owners]:
        return True
    if any(owner["name"] != name for owner in owners):
        return False
    return (space["metadata"].get("labels", {}).get(LABEL) == name
            or space["metadata"]["uid"] == team_space.get("status", {}).get("namespaceUID"))


# ---------------------------------------------------------------------------------------------------------------------
# A scenario with all kinds of change at once

FOREIGN = ["alpha.example/first", "omega.example/last"]
STALE_ARCHIVE = {"name": "", "uid": "00000000-0000-4000-8000-000000000000", "pods": 9}


def prepare(lab, prefix):
    """Makes TeamSpaces of all conditions, named `prefix`-... One pass must then do every kind of write.

    Returns the uids of those that are being deleted, by name.
    """
    def name(short):
        return f"{prefix}-{short}"

    for short in ("drifted", "unowned", "quotaless", "scoped", "unlabelled"):
        lab.make(name(short))
    lab.make(name("behind"))
    gone = {name(short): lab.make(name(short), finalizers=finalizers)["metadata"]["uid"] for short, finalizers in (
        ("released", []), ("held", FOREIGN), ("again", []))}
    done = lab.run_clean()
    assert done.code == 0, done

    lab.set_hard(name("drifted"), {"pods": "99", "limits.cpu": "7"})
    lab.admin.patch(f"{NAMESPACES}/team-{name('unowned')}", op("remove", "/metadata/ownerReferences"))
    lab.admin.patch(f"{NAMESPACES}/team-{name('unlabelled')}", op("remove", LABEL_POINTER))
    lab.set_spec(name("behind"), pods=7, cpu="500m")
    lab.admin.delete(lab.quota_path(name("quotaless")))
    lab.admin.delete(lab.quota_path(name("scoped")))
    lab.admin.create(f"{NAMESPACES}/team-{name('scoped')}/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
        "spec": {"hard": {"pods": "4"}, "scopes": ["NotTerminating"]}})
    # Ours between those of others, in an order of their own.
    lab.set_finalizers(name("held"), [FOREIGN[0], FINALIZER, FOREIGN[1]])
    for doomed in gone:
        lab.delete(doomed)
    lab.archive.mkdir(mode=0o700, exist_ok=True)
    (lab.archive / f"{name('again')}.json").write_text(json.dumps(STALE_ARCHIVE | {"name": name("again")}))
    lab.make(name("new"), pods=2, cpu="0.5")
    lab.admin.create(NAMESPACES, {
        "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{name('refused')}"}})
    lab.make(name("refused"))
    return gone


def state(lab, prefix, gone):
    """Returns what is there, without what differs between two runs: uids, versions, times and the prefix."""
    team_spaces, spaces, quotas = lab.everything()
    names = {item["metadata"]["uid"]: f"uid of {name}" for name, item in team_spaces.items()}
    names |= {uid: f"uid of {name}" for name, uid in gone.items()}
    names |= {STALE_ARCHIVE["uid"]: "uid of an earlier one"}

    def conditions(status):
        return [condition | {"lastTransitionTime": "T"} for condition in status.get("conditions", [])]

    def team_space(item):
        metadata, status = item["metadata"], item.get("status", {})
        status = status | {"conditions": conditions(status)}
        if "namespaceUID" in status:
            there = spaces.get(metadata["name"])
            status["namespaceUID"] = "U" if there and there["metadata"]["uid"] == status["namespaceUID"] else "another"
        return {"finalizers": metadata.get("finalizers"), "generation": metadata["generation"],
                "deleted": "deletionTimestamp" in metadata, "spec": item["spec"], "status": status}

    def space(item):
        metadata = item["metadata"]
        owners = [owner | {"uid": names.get(owner["uid"], "unknown")} for owner in metadata.get("ownerReferences", [])]
        return {"labels": metadata["labels"], "owners": owners}

    def archive(content):
        return content | {"uid": names.get(content["uid"], "unknown")} | {
            key: "T" for key in ("deletedAt", "archivedAt") if key in content}

    found = {
        "teamspaces": {name: team_space(item) for name, item in team_spaces.items()},
        "namespaces": {name: space(item) for name, item in spaces.items()
                       if name.startswith(prefix) and "deletionTimestamp" not in item["metadata"]},
        "quotas": {name: item["spec"] for name, item in quotas.items() if name in team_spaces},
        "archives": {file: archive(content) for file, content in lab.archived().items()},
    }
    text = json.dumps(found, sort_keys=True).replace(STALE_ARCHIVE["uid"], "EARLIER")
    text = text.replace(f"{prefix}-", "PREFIX-")
    return json.loads(text)


def settle(lab, prefix, gone):
    """Lets clean passes run until one writes nothing, and returns the state then; two passes must be enough."""
    lab.converge(most=2)
    lab.wait_until_no_orphan(3.0)
    assert [path.name for path in lab.archive.glob(".*")] == [".cnpa-op.lock"], "a temporary file is left"
    return state(lab, prefix, gone)


def difference(found, wanted, place=""):
    """Yields the places in which two states differ."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        for key in sorted(set(found) | set(wanted)):
            yield from difference(found.get(key), wanted.get(key), f"{place}/{key}")
    elif found != wanted:
        yield f"{place}: {found}, not {wanted}"


def assert_same(found, wanted, what):
    differences = list(difference(found, wanted))
    assert not differences, f"{what}: " + "; ".join(differences)


# ---------------------------------------------------------------------------------------------------------------------
# How the writes must be guarded


def unguarded(exchange):
    """Returns why a logged write could hit an object that it was not meant for, or None."""
    if exchange.verb == "POST":
        return None  # the name is the guard: it fails where something is
    body = exchange.json()
    if exchange.verb == "DELETE":
        return None if body.get("preconditions", {}).get("uid") else "a DELETE without a uid"
    if exchange.headers.get("content-type") != "application/json-patch+json":
        return "a PATCH that is no JSON Patch"
    tested = {operation["path"] for operation in body if operation["op"] == "test" and operation["value"]}
    return None if "/metadata/uid" in tested else "a PATCH without a test of the uid"


def usable_by_nobody():
    """Returns why a pass can't be run as another user of this machine, or None."""
    if os.geteuid() != 0:
        return "only root can run a pass as another user"
    try:
        subprocess.run([CNPA_OP, "version"], check=True, capture_output=True, user=NOBODY, group=NOBODY, cwd="/")
    except (OSError, subprocess.CalledProcessError) as error:
        return f"user {NOBODY} can't run {CNPA_OP}: {error}"
    return None
