# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes control plane for tests: etcd, kube-apiserver and kube-controller-manager on 127.0.0.1.

In etcd's place there can be SQLite behind kine, which is what k3s runs on: `ControlPlane(backend="sqlite")`.

    with ControlPlane() as plane:
        plane.kubectl("get", "namespaces")

Every port is a free one and all data is in one folder in memory, so any number of them run side by side. There are no
nodes: pods stay Pending. The processes belong to a keeper (keeper.py), so nothing is left when the owner is killed.
"""

import base64
import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import time
from dataclasses import dataclass

import binaries
from authority import Authority
from components import AddressInUse, Component, ControlPlaneError, KeeperClient, free_ports

CONTROLLERS = (
    "namespace-controller",
    "garbage-collector-controller",
    "resourcequota-controller",
    "serviceaccount-controller",
    "validatingadmissionpolicy-status-controller",
)
SERVER_NAMES = ("127.0.0.1", "localhost", "kubernetes.test")
AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}
# As kine has them where no endpoint is named, which is how k3s starts it.
KINE_PARAMETERS = ("_journal_mode=WAL&_busy_timeout=30000&_synchronous=NORMAL&_txlock=immediate&_stmt_cache_size=20"
                   "&cache=shared")
PORT_TRIES = 5


def end_of_whole_lines(path):
    """Returns how far the file at `path` holds whole lines: its size, or less while somebody writes one."""
    with open(path, "rb") as file:
        end = file.seek(0, os.SEEK_END)
        while end > 0:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                return start + newline + 1
            end = start
    return 0


def decode_event(line):
    """Returns the audit event of a line. Behind a torn one, of a server that was killed, is the first of the next."""
    try:
        return json.loads(line)
    except json.JSONDecodeError:
        return json.loads(line[line.rindex(b'{"kind":"Event"'):])


class KubectlError(subprocess.CalledProcessError):
    """kubectl failed; the message has what it said on stderr."""

    def __str__(self):
        return f"kubectl {' '.join(self.cmd[1:])} failed with {self.returncode}: {(self.stderr or '').strip()}"


@dataclass(frozen=True)
class Response:
    """An answer of the API server."""

    status: int
    body: bytes

    def json(self):
        return json.loads(self.body)


class ControlPlane:
    """A control plane that runs from `start` to `stop`, or for the length of a `with`.

    Attributes, all set by `start`:

        server            URL of the API server, such as "https://127.0.0.1:20443"
        port              its port
        folder            data folder; gone after `stop`
        bin_folder        the folder with kubectl and the servers
        storage           the Component that keeps the objects: "etcd", or "kine" on backend sqlite
        authority         the Authority; `authority.certificate` is the CA file
        server_certificate  the Certificate that the API server shows; another one counts from its next start
        admin_kubeconfig  kubeconfig file of an administrator (a client certificate of group system:masters)
        user_kubeconfig   kubeconfig file of user `cnpa-op` (a client certificate): no rights until RBAC gives some
        token_kubeconfig  kubeconfig file of user `cnpa-op-token` (a static token), without rights too
        token             that token
        audit_log         file with one JSON object a request, or None
        start_seconds     how long `start` took, the building of binaries aside
    """

    def __init__(self, *, backend=None, apiserver_flags=(), controller_manager_flags=(), etcd_flags=(),
                 controllers=CONTROLLERS, audit=True, audit_policy=None, ready_timeout_seconds=60.0):
        """Takes what the objects are kept in, "etcd" or "sqlite" (by default as $CNPA_OP_TEST_BACKEND says, or etcd),
        flags to add to those of each component, the controllers to run, whether to write the audit log, and its policy
        (by default a line a request, without bodies)."""
        self._backend = backend
        self._extra_flags = {
            "etcd": etcd_flags,
            "kine": (),
            "kube-apiserver": apiserver_flags,
            "kube-controller-manager": controller_manager_flags,
        }
        self._controllers = controllers
        self._audit = audit
        self._audit_policy = audit_policy or AUDIT_POLICY
        self._timeout_seconds = ready_timeout_seconds
        self._keeper = None
        self._audit_marks = 0

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *failure):
        self.stop()

    def start(self):
        """Builds what lacks, starts the components and returns when all of them serve.

        Serving means: the API server's /readyz is 200 and it has the namespace `default`, and the controller manager's
        /healthz is 200.

        The controllers begin their work some tenths of a second later.

        Errors: BuildError, CertificateError, ControlPlaneError. Nothing is left running then.
        """
        self._backend = self._backend or binaries.default_backend()
        self.bin_folder = binaries.build(self._backend)
        started = time.monotonic()
        self._keeper = KeeperClient()
        try:
            self._prepare()
            for component in self._components.values():
                self._start_on_free_ports(component)
        except BaseException:
            self.stop()
            raise
        self.start_seconds = time.monotonic() - started

    def stop(self):
        """Kills the components and removes the data folder. No effect on one that does not run."""
        keeper, self._keeper = self._keeper, None
        if keeper:
            keeper.close()

    def component(self, name):
        """Returns the Component "etcd" or "kine", "kube-apiserver" or "kube-controller-manager"."""
        return self._components[name]

    @property
    def storage(self):
        return next(iter(self._components.values()))

    @property
    def keeper_pid(self):
        """The process id of the keeper, the parent of the components."""
        return self._keeper.process.pid

    def issue_client(self, user, groups=(), *, not_before=None, not_after=None):
        """Returns a new client Certificate (paths `.certificate` and `.key`) for `user`, a member of `groups`.

        See Authority.client for the times. A `not_after` in the past makes one that has expired.
        """
        return self.authority.client(user, groups, not_before, not_after)

    def kubeconfig_for(self, name, *, certificate=None, token=None, server=None, namespace=None, inline=True,
                       cluster=None, user=None):
        """Writes a kubeconfig file called `name` and returns its path.

        The credential is a Certificate, a token, or neither. `server` is the URL if it is another than this API
        server's. Certificates and keys are written into the file, or named by path if not `inline`. `cluster` and
        `user` are fields to add to these two entries; a value None takes a field away.
        """
        def pem(field, path):
            return {field + "-data": base64.b64encode(path.read_bytes()).decode()} if inline else {field: str(path)}

        cluster_entry = {"server": server or self.server} | pem("certificate-authority", self.authority.certificate)
        user_entry = {"token": token} if token else {}
        if certificate:
            user_entry |= pem("client-certificate", certificate.certificate) | pem("client-key", certificate.key)
        context = {"cluster": "control-plane", "user": name} | ({"namespace": namespace} if namespace else {})
        path = self.folder / f"{name}.kubeconfig"
        lines = [
            "apiVersion: v1",
            "kind: Config",
            f"current-context: {json.dumps(name)}",
            "clusters:",
            "- name: control-plane",
            *yaml_fields("cluster", cluster_entry | (cluster or {})),
            "contexts:",
            f"- name: {json.dumps(name)}",
            *yaml_fields("context", context),
            "users:",
            f"- name: {json.dumps(name)}",
            *yaml_fields("user", user_entry | (user or {})),
        ]
        path.touch(mode=0o600)
        path.write_text("\n".join(lines) + "\n")
        return path

    def environment(self, kubeconfig=None):
        """Returns an environment in which kubectl finds this control plane, as the administrator by default.

        kubectl keeps what it learns of a server in the data folder: by default it goes to the home folder under the
        server's port, where the next control plane on that port would find it.
        """
        return os.environ | {
            "KUBECONFIG": str(kubeconfig or self.admin_kubeconfig),
            "KUBECACHEDIR": str(self.folder / "kubectl-cache"),
            "PATH": f"{self.bin_folder}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        }

    def kubectl(self, *arguments, input=None, check=True, kubeconfig=None, timeout_seconds=60.0):
        """Runs kubectl, with `input` as its standard input, and returns the CompletedProcess; its output is text.

        Errors: KubectlError when it fails and `check`; subprocess.TimeoutExpired.
        """
        stdin = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        done = subprocess.run([self.bin_folder / "kubectl", *map(str, arguments)], env=self.environment(kubeconfig),
                              capture_output=True, text=True, timeout=timeout_seconds, **stdin)
        if check and done.returncode != 0:
            raise KubectlError(done.returncode, list(map(str, done.args)), done.stdout, done.stderr)
        return done

    def kubectl_json(self, *arguments, **options):
        """Runs kubectl with `-o json` and returns what it printed, decoded. Options and errors: see `kubectl`."""
        return json.loads(self.kubectl(*arguments, "-o", "json", **options).stdout)

    def request(self, method, path, body=None, *, content_type="application/json", timeout_seconds=10.0):
        """Sends one request as the administrator and returns the Response, of whatever status.

        It costs a few milliseconds where kubectl costs fifty. A `body` that is no text or bytes is sent as JSON.

        Errors: OSError or http.client.HTTPException when there is no answer.
        """
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        return self._send(self.port, method, path, body, content_type, timeout_seconds)

    def audit_position(self):
        """Returns where the audit log ends now, for `audit_since`."""
        self._settle_audit_log()
        return end_of_whole_lines(self.audit_log)

    def audit_since(self, position, *, user=None):
        """Returns the audit events written after `position`, oldest first; only those of `user` if one is named.

        An event is a dict with, among others, "verb", "requestURI", "userAgent", "user" and "responseStatus". Watches
        have two, of the stages ResponseStarted and ResponseComplete. The event of a request whose answer has arrived
        is always among them.
        """
        self._settle_audit_log()
        with open(self.audit_log, "rb") as log:
            log.seek(position)
            lines = log.read().split(b"\n")[:-1]  # what follows the last newline is empty or half written
        events = [decode_event(line) for line in lines]
        return [event for event in events
                if "audit-mark" not in event["requestURI"] and (user is None or event["user"]["username"] == user)]

    def _settle_audit_log(self):
        """Waits until the events of all answered requests are in the audit log.

        The server writes an event when its handler is done, which can be just after the client has the answer. So
        send a request of our own and wait for its event.
        """
        self._audit_marks += 1
        path = f"/version?audit-mark={self._audit_marks}"
        end = self.audit_log.stat().st_size
        try:
            self.request("GET", path, timeout_seconds=2.0)
        except (OSError, http.client.HTTPException):
            return  # it is down or paused: what is written is all there is
        deadline = time.monotonic() + 2.0
        while time.monotonic() < deadline:
            with open(self.audit_log, "rb") as log:
                log.seek(end)
                if path.encode() in log.read():
                    return
            time.sleep(0.001)

    def _prepare(self):
        """Makes the data folder's content, and the components, not started."""
        self.folder = self._keeper.folder
        pki = self.folder / "pki"
        pki.mkdir()
        self.authority = Authority(pki, SERVER_NAMES)
        self.server_certificate = self.authority.server("kube-apiserver")
        self._admin_certificate = self.issue_client("admin", ["system:masters"])
        self._user_certificate = self.issue_client("cnpa-op")
        self._signing_key = self.authority.signing_key("service-accounts")
        self._tls = ssl.create_default_context(cafile=self.authority.certificate)
        self._tls.load_cert_chain(self._admin_certificate.certificate, self._admin_certificate.key)
        self.token = secrets.token_hex(16)
        (self.folder / "tokens.csv").write_text(f"{self.token},cnpa-op-token,cnpa-op-token\n")
        (self.folder / "audit-policy.json").write_text(json.dumps(self._audit_policy))
        self.audit_log = self.folder / "audit.log" if self._audit else None
        if self.audit_log:
            self.audit_log.touch()
        self._ports = {}
        storage = {
            "etcd": ("etcd", self._etcd_command, self._etcd_ready),
            "sqlite": ("kine", self._kine_command, self._kine_ready),
        }
        self._components = {
            name: Component(name, self._keeper, command, ready, self._timeout_seconds)
            for name, command, ready in (
                storage[self._backend],
                ("kube-apiserver", self._apiserver_command, self._apiserver_ready),
                ("kube-controller-manager", self._controller_manager_command, self._controller_manager_ready),
            )
        }

    def _start_on_free_ports(self, component):
        """Starts `component`, again with other ports when somebody took one between our look and its start."""
        for tries_left in reversed(range(PORT_TRIES)):
            self._ports[component.name] = free_ports(2)
            if component.name == "kube-apiserver":
                self._write_kubeconfigs()
            try:
                return component.start()
            except AddressInUse:
                if not tries_left:
                    raise

    def _write_kubeconfigs(self):
        self.port = self._ports["kube-apiserver"][0]
        self.server = f"https://127.0.0.1:{self.port}"
        self.admin_kubeconfig = self.kubeconfig_for("admin", certificate=self._admin_certificate)
        self.user_kubeconfig = self.kubeconfig_for("cnpa-op", certificate=self._user_certificate)
        self.token_kubeconfig = self.kubeconfig_for("cnpa-op-token", token=self.token)

    def _command_line(self, program, /, **flags):
        options = [f"--{flag.replace('_', '-')}={value}" for flag, value in flags.items()]
        file = binaries.storage_program(self._backend) if program == "kine" else program
        return [str(self.bin_folder / file), *options, *self._extra_flags[program]]

    def _etcd_command(self):
        clients, peers = (f"http://127.0.0.1:{port}" for port in self._ports["etcd"])
        name = self._etcd_name()
        return self._command_line(
            "etcd", name=name, data_dir=self.folder / "etcd", unsafe_no_fsync="true", listen_client_urls=clients,
            advertise_client_urls=clients, listen_peer_urls=peers, initial_advertise_peer_urls=peers,
            initial_cluster=f"{name}={peers}",
            heartbeat_interval=20, election_timeout=100,  # ms; by default it waits up to 1 s, for nobody
        )

    def _kine_command(self):
        return self._command_line(
            "kine", listen_address=self._kine_address(), metrics_bind_address="0",
            endpoint=f"sqlite://{self.folder / 'kine.db'}?{KINE_PARAMETERS}",
        )

    def _apiserver_command(self):
        audit = {
            "audit_policy_file": self.folder / "audit-policy.json",
            "audit_log_path": self.audit_log,
            "audit_log_mode": "blocking",
            "audit_log_maxsize": 1_000_000,  # MB: never starts a new file, `audit_since` reads this one
        }
        return self._command_line(
            "kube-apiserver",
            etcd_servers=(f"http://127.0.0.1:{self._ports['etcd'][0]}" if self._backend == "etcd"
                          else self._kine_address()),
            bind_address="127.0.0.1",
            secure_port=self.port,
            advertise_address="127.0.0.1",  # a machine without a default route has no other
            endpoint_reconciler_type="none",
            service_cluster_ip_range="10.0.0.0/24",
            cert_dir=self.folder / "apiserver",
            tls_cert_file=self.server_certificate.certificate,
            tls_private_key_file=self.server_certificate.key,
            client_ca_file=self.authority.certificate,
            token_auth_file=self.folder / "tokens.csv",
            authorization_mode="RBAC",
            service_account_issuer="https://kubernetes.default.svc",
            service_account_key_file=self._signing_key,
            service_account_signing_key_file=self._signing_key,
            disable_admission_plugins="ServiceAccount",  # pods need no service account to exist first
            allow_privileged="true",
            **(audit if self.audit_log else {}),
        )

    def _controller_manager_command(self):
        return self._command_line(
            "kube-controller-manager",
            kubeconfig=self.admin_kubeconfig,
            authentication_kubeconfig=self.admin_kubeconfig,
            authorization_kubeconfig=self.admin_kubeconfig,
            bind_address="127.0.0.1",
            secure_port=self._ports["kube-controller-manager"][0],
            cert_dir=self.folder / "controller-manager",
            tls_cert_file=self.server_certificate.certificate,
            tls_private_key_file=self.server_certificate.key,
            leader_elect="false",
            service_account_private_key_file=self._signing_key,
            root_ca_file=self.authority.certificate,
            cluster_signing_cert_file=self.authority.certificate,  # of use to the signing controller, if it runs
            cluster_signing_key_file=self.authority.key,
            controllers=",".join(self._controllers),
            kube_api_qps=500,
            kube_api_burst=1000,
        )

    def _etcd_name(self):
        """Returns a member name of its own: by it `_etcd_ready` tells our etcd from somebody else's on that port."""
        return self.folder.name

    def _etcd_ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self._ports["etcd"][0], timeout=2.0)
        try:
            connection.request("POST", "/v3/cluster/member/list", "{}")
            return self._etcd_name().encode() in connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _kine_address(self):
        """Returns kine's socket, a file: nobody else's answers there."""
        return f"unix://{self.folder / 'kine.sock'}"

    def _kine_ready(self):
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(self._kine_address().removeprefix("unix://")) == 0

    def _apiserver_ready(self):
        return self._is_ok(self.port, "/readyz") and self._is_ok(self.port, "/api/v1/namespaces/default")

    def _controller_manager_ready(self):
        return self._is_ok(self._ports["kube-controller-manager"][0], "/healthz")

    def _is_ok(self, port, path):
        try:
            return self._send(port, "GET", path, None, None, 2.0).status == 200
        except (OSError, http.client.HTTPException):
            return False

    def _send(self, port, method, path, body, content_type, timeout_seconds):
        headers = {"User-Agent": "cnpa-op-control-plane"} | ({"Content-Type": content_type} if body is not None else {})
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=timeout_seconds, context=self._tls)
        try:
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            return Response(response.status, response.read())
        finally:
            connection.close()


def yaml_fields(entry, fields):
    """Returns the YAML lines of map `entry`; JSON values are YAML too. A field that is None is left out."""
    present = {name: value for name, value in fields.items() if value is not None}
    if not present:
        return [f"  {entry}: {{}}"]
    return [f"  {entry}:", *(f"    {name}: {json.dumps(value)}" for name, value in present.items())]
