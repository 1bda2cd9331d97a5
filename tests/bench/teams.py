# SPDX-License-Identifier: Apache-2.0
"""A control plane to measure on, with as many TeamSpaces as are wanted, and the benchmark's own requests to it."""

import contextlib
import http.client
import json
import re
import socket
import ssl
import time
from concurrent.futures import ThreadPoolExecutor

from controlplane import ControlPlane
from harness import NAMESPACES, TEAMS, environment, install
from metering import Spending, cpu_seconds

QUOTAS = "/api/v1/resourcequotas?fieldSelector=metadata.name%3Dteam-quota"
PODS = 4
FILLERS = 4  # connections that create TeamSpaces
QUIET_CPUS = 0.08  # what the control plane may spend for itself when we begin to measure
SETTLE_SECONDS = 90


class Wire:
    """One kept connection to the API server as an administrator."""

    def __init__(self, rig):
        context = ssl.create_default_context(cafile=rig.plane.authority.certificate)
        context.load_cert_chain(rig.admin.certificate, rig.admin.key)
        self._connection = http.client.HTTPSConnection("127.0.0.1", rig.plane.port, timeout=600, context=context)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self._connection.close()

    def shut(self):
        """Ends the connection, also for a thread that reads from it."""
        with contextlib.suppress(OSError):
            self._connection.sock.shutdown(socket.SHUT_RDWR)

    def send(self, method, path, body=None, content_type="application/json", accept="application/json"):
        """Returns the answer, its body not read. Errors: OSError for a code of 400 and more."""
        self._connection.request(method, path, json.dumps(body) if body is not None else None,
                                 {"Content-Type": content_type, "Accept": accept})
        response = self._connection.getresponse()
        if response.status >= 400:
            raise OSError(f"{method} {path}: {response.status} {response.read().decode(errors='replace')}")
        return response

    def ask(self, method, path, body=None, **options):
        """Returns the answer's body. Errors: as `send`."""
        return self.send(method, path, body, **options).read()


class Rig:
    """A control plane of its own, without an audit log, which costs; for the length of a `with`.

    Attributes:

        plane        the ControlPlane
        user, admin  client certificates of user cnpa-op and of an administrator
        kubeconfig   of user cnpa-op
        environment  of the programs that are measured, as the administrator
        archive      a folder
        team_spaces  how many there are
    """

    def __init__(self, backend="etcd"):
        self.backend = backend
        self.plane = ControlPlane(backend=backend, audit=False)
        self.team_spaces = 0

    def __enter__(self):
        self.plane.start()
        try:
            self.user = self.plane.issue_client("cnpa-op")
            self.admin = self.plane.issue_client("bench", ["system:masters"])
            self.kubeconfig = self.plane.user_kubeconfig
            self.archive = self.plane.folder / "archive"
            self.archive.mkdir()
            self.environment = environment(self.plane.folder, {"KUBECONFIG": self.plane.admin_kubeconfig})
            install(self.plane)
        except BaseException:
            self.plane.stop()
            raise
        return self

    def __exit__(self, *failure):
        self.plane.stop()

    def wire(self):
        return Wire(self)

    def server_pid(self):
        return self.plane.component("kube-apiserver").pid

    def fill(self, count):
        """Creates TeamSpaces until there are `count`."""
        names = [f"bench-{number:05}" for number in range(self.team_spaces, count)]

        def create(names):
            with self.wire() as wire:
                for name in names:
                    wire.ask("POST", TEAMS, {"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace",
                                             "metadata": {"name": name}, "spec": {"pods": PODS}})

        with ThreadPoolExecutor(FILLERS) as pool:
            list(pool.map(create, [names[number::FILLERS] for number in range(FILLERS)]))
        self.team_spaces = count

    def ready(self, wire):
        """Returns how many TeamSpaces are Ready, by a table, which costs the server little."""
        table = json.loads(wire.ask("GET", TEAMS, accept="application/json;as=Table;v=v1;g=meta.k8s.io"))
        column = [each["name"] for each in table["columnDefinitions"]].index("Ready")
        return sum(row["cells"][column] == "True" for row in table["rows"])

    def settle(self):
        """Waits until the control plane has done what it does after many writes. Returns what it spends on nothing, in
        CPUs of the API server."""
        pids = [self.plane.component(name).pid for name in (self.plane.storage.name, "kube-apiserver",
                                                            "kube-controller-manager")]
        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            before = sum(map(cpu_seconds, pids))
            time.sleep(1)
            if sum(map(cpu_seconds, pids)) - before < QUIET_CPUS or time.monotonic() > deadline:
                break
        return self.background(2)

    def background(self, seconds):
        """Returns what the API server spends on nothing, in CPUs, over some seconds."""
        spending = Spending(self.server_pid())
        time.sleep(seconds)
        return spending.seconds() / seconds

    def contract_writes(self, wire):
        """Returns how many writes there were so far, by the API server's own count, that the contract may ask for."""
        count = 0
        for line in wire.ask("GET", "/metrics", accept="text/plain").decode().splitlines():
            if not line.startswith("apiserver_request_total{"):
                continue
            labels = dict(re.findall(r'(\w+)="([^"]*)"', line))
            what = (labels["resource"], labels["subresource"])
            if labels["verb"] in ("POST", "PUT", "PATCH", "APPLY", "DELETE") and what in CONTRACT:
                count += int(float(line.rsplit(" ", 1)[1]))
        return count


CONTRACT = {("teamspaces", ""), ("teamspaces", "status"), ("namespaces", ""), ("resourcequotas", "")}
LISTS = (TEAMS, NAMESPACES, QUOTAS)
