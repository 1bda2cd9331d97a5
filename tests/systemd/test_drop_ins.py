# SPDX-License-Identifier: Apache-2.0
"""The drop-ins of examples/systemd on the real unit: another cluster, exec plugins in Python and in Go, metrics."""

import os
import re
import shutil
import subprocess

import pytest

from support import EXAMPLES, SYSTEM_UNITS, Service, drop_in, make_brisk, said, wait_for

OTHER = "/etc/cnpa-op/kubeconfig"

# Both print the token that is in the file $TOKEN_FILE, in the form of a credential.
PYTHON_PLUGIN = """\
#!/usr/bin/python3
import json, mmap, os, pathlib
mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)  # as what compiles while it runs
home = pathlib.Path(os.environ["HOME"], ".plugin")
home.write_text("a cache of its own")
version = json.loads(os.environ["KUBERNETES_EXEC_INFO"])["apiVersion"]
token = pathlib.Path(os.environ["TOKEN_FILE"]).read_text()
print(json.dumps({"apiVersion": version, "kind": "ExecCredential", "status": {"token": token}}))
"""
GO_PLUGIN = """\
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"sync"
)

func main() {
	var group sync.WaitGroup
	for i := 0; i < 64; i++ {
		group.Add(1)
		go func() { defer group.Done(); net.LookupHost("localhost") }()
	}
	group.Wait()
	token, err := os.ReadFile(os.Getenv("TOKEN_FILE"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	json.NewEncoder(os.Stdout).Encode(map[string]any{
		"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
		"status": map[string]string{"token": string(token)}})
}
"""


def put_drop_in(host, name):
    """Installs a drop-in of the examples as its head says."""
    host.write_file(f"{SYSTEM_UNITS}/cnpa-op.service.d/{name}", (EXAMPLES / "systemd" / name).read_text())
    host.systemctl("daemon-reload")


@pytest.fixture
def service(host):
    """cnpa-op.service, not started yet."""
    return Service(host)


def test_every_example_is_tested():
    assert {path.name for path in (EXAMPLES / "systemd").iterdir()} == {"other-cluster.conf", "exec-plugin.conf",
                                                                   "metrics.conf"}


@pytest.mark.parametrize("name", ["other-cluster.conf", "exec-plugin.conf", "metrics.conf"])
def test_systemd_has_nothing_to_say_about_a_drop_in(host, name):
    put_drop_in(host, name)
    done = host.run("systemd-analyze", "verify", "--man=no", "cnpa-op.service")
    assert (done.stdout, done.stderr) == ("", "")


# -- another cluster -------------------------------------------------------------------------------------------------


@pytest.fixture
def other_cluster(host, plane):
    """A machine without k3s, and a kubeconfig for a cluster that is somewhere else."""
    host.run("rm", "-rf", "/etc/rancher")
    host.write_file(OTHER, plane.user_kubeconfig.read_text(), 0o600)
    put_drop_in(host, "other-cluster.conf")
    make_brisk(host)
    yield host
    host.run("rm", "-rf", "/etc/cnpa-op")


def test_another_cluster_is_served_without_k3s_on_the_machine(other_cluster, service, cluster):
    service.start()
    name = cluster.create_team()
    wait_for(lambda: cluster.quota(name), "a quota")


def test_another_cluster_is_reached_at_any_address(other_cluster, service, cluster):
    drop_in(other_cluster, service.unit, "zz-not-even-localhost", "[Service]\nIPAddressAllow=\n")
    service.start()
    name = cluster.create_team()
    wait_for(lambda: cluster.quota(name), "a quota")


# -- metrics ---------------------------------------------------------------------------------------------------------


def read_as_nobody(host):
    """Returns the metrics as node_exporter would find them, which is another user; None when it can't."""
    done = host.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "cat", "/run/cnpa-op/cnpa-op.prom",
                    check=False)
    return done.stdout if done.returncode == 0 else None


def test_metrics_can_be_read_by_another_user(host, service, cluster):
    put_drop_in(host, "metrics.conf")
    make_brisk(host)
    service.start()
    passes = re.compile(r'^cnpa_op_passes_total{result="converged"} ([3-9]|\d\d+)$', re.M)
    wait_for(lambda: passes.search(read_as_nobody(host) or ""), "three passes")
    service.stop()
    assert read_as_nobody(host) is None, "it is gone with the service"


def test_metrics_in_a_runtime_directory_that_is_kept_can_not(host, service, cluster):
    put_drop_in(host, "metrics.conf")
    drop_in(host, service.unit, "zz-kept", "[Service]\nRuntimeDirectoryPreserve=yes\n")
    service.start()
    wait_for(lambda: host.run("test", "-e", "/run/private/cnpa-op/cnpa-op.prom", check=False).returncode == 0, "a file")
    assert read_as_nobody(host) is None, "why the drop-in says otherwise"


# -- exec plugins ----------------------------------------------------------------------------------------------------


@pytest.fixture
def plugin(host, plane):
    """A function that installs a plugin, the kubeconfig that names it, the token that it reads, and the drop-in."""
    def put(program, *, with_drop_in=True):
        host.write_file("/opt/bin/credential-plugin", program, 0o755)
        host.write_file("/root/token", plane.token, 0o600)
        kubeconfig = plane.kubeconfig_for("plugin", user={"exec": {
            "apiVersion": "client.authentication.k8s.io/v1", "command": "/opt/bin/credential-plugin",
            "interactiveMode": "Never"}})
        host.write_file("/etc/rancher/k3s/k3s.yaml", kubeconfig.read_text(), 0o600)
        if with_drop_in:
            put_drop_in(host, "exec-plugin.conf")
        drop_in(host, "cnpa-op.service", "token",
                "[Service]\nLoadCredential=token:/root/token\nEnvironment=TOKEN_FILE=%d/token\n")
        make_brisk(host)

    yield put
    host.run("rm", "-rf", "/opt/bin/credential-plugin", "/root/token", "/var/cache/private/cnpa-op")


@pytest.fixture(scope="module")
def go_plugin(tmp_path_factory):
    go = shutil.which("go") or "/usr/local/go/bin/go"
    if not os.access(go, os.X_OK):
        pytest.skip("no go here")
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "main.go").write_text(GO_PLUGIN)
    subprocess.run([go, "build", "-trimpath", "-o", "plugin", "main.go"], cwd=folder, check=True,
                   env=os.environ | {"CGO_ENABLED": "0", "GO111MODULE": "off"})
    return (folder / "plugin").read_bytes()


@pytest.fixture
def token_user(cluster):
    """The user of the token may do what cnpa-op may."""
    path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
    cluster.api("POST", path, {
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "token-user"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cnpa-op"},
        "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "cnpa-op-token"}]})
    yield
    cluster.api("DELETE", f"{path}/token-user")


def test_a_plugin_in_python_makes_the_credentials(plugin, token_user, service, cluster):
    plugin(PYTHON_PLUGIN)
    service.start()
    name = cluster.create_team()
    wait_for(lambda: cluster.quota(name), f"a quota; the journal: {service.lines()}")


def test_a_plugin_in_go_makes_the_credentials(plugin, go_plugin, token_user, service, cluster):
    plugin(go_plugin)
    service.start()
    name = cluster.create_team()
    wait_for(lambda: cluster.quota(name), f"a quota; the journal: {service.lines()}")


def test_what_a_plugin_gave_is_kept_for_the_next_passes(plugin, token_user, service, cluster, host):
    plugin(PYTHON_PLUGIN)
    service.start()
    name = cluster.create_team()
    wait_for(lambda: cluster.quota(name), f"a quota; the journal: {service.lines()}")
    host.write_file("/opt/bin/credential-plugin", "#!/bin/sh\nexit 1\n", 0o755)
    cluster.patch_team(name, {"spec": {"pods": 9}})
    wait_for(lambda: cluster.hard(name)["pods"] == "9", "the quota by the kept credential")
    kept = host.run("find", "/var/cache/private/cnpa-op/credentials", "-type", "f", "-printf", "%m\\n").stdout.split()
    assert kept == ["600"]


def test_a_plugin_that_compiles_needs_the_drop_in(plugin, token_user, service):
    plugin(PYTHON_PLUGIN, with_drop_in=False)
    service.start()
    wait_for(lambda: said("PermissionError|Operation not permitted", service.lines()), "the plugin's last words")
