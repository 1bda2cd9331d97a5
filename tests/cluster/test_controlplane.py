# SPDX-License-Identifier: Apache-2.0
"""Tests of the control plane harness itself: pytest tests/cluster"""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import binaries
import controlplane
from controlplane import ControlPlane, ControlPlaneError, KubectlError
from keeper import FOLDER_PREFIX, memory_folder

HERE = Path(__file__).resolve().parent
COMPONENTS = ("etcd", "kube-apiserver", "kube-controller-manager")
EXTRA_FLAG = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"
LISTEN, LOOPBACK = "0A", "0100007F"  # as /proc/net/tcp has them

# Starts a control plane, prints what to look for afterwards, and waits to be killed.
OWNER = """
    import json, time
    from controlplane import ControlPlane
    plane = ControlPlane(backend="etcd")
    plane.start()
    pids = [plane.component(name).pid for name in ("etcd", "kube-apiserver", "kube-controller-manager")]
    print(json.dumps({"keeper": plane.keeper_pid, "pids": pids, "folder": str(plane.folder)}), flush=True)
    time.sleep(600)
"""


@pytest.fixture(scope="module")
def plane():
    with ControlPlane(backend="etcd") as plane:
        yield plane


@pytest.fixture(scope="module")
def second_plane(plane):
    """A second one, each component of which first tries a port that the first one has taken."""
    tries = [ports for taken in plane._ports.values() for ports in (taken, controlplane.free_ports(2))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(controlplane, "free_ports", lambda count: tries.pop(0))
        second = ControlPlane(backend="etcd", apiserver_flags=[EXTRA_FLAG], audit=False)
        second.start()
    yield second
    second.stop()


@pytest.fixture(scope="module")
def sqlite_plane():
    with ControlPlane(backend="sqlite") as plane:
        yield plane


@pytest.fixture
def owner():
    """A process that owns a control plane, and what it printed."""
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(OWNER)], cwd=HERE, stdout=subprocess.PIPE,
                               text=True)
    try:
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def alive(pid):
    """Returns whether process `pid` runs; a zombie does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def eventually(condition, seconds=10.0):
    """Returns whether `condition()` became true within `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def listening_addresses(pid):
    """Returns the addresses on which process `pid` listens for TCP, in the kernel's hexadecimal."""
    links = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]
    tables = [Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:] for table in ("tcp", "tcp6")]
    rows = [line.split() for lines in tables for line in lines]
    return [row[1].split(":")[0] for row in rows if row[3] == LISTEN and f"socket:[{row[9]}]" in links]


def can_list_namespaces(plane, kubeconfig):
    """Returns kubectl's run of a list of namespaces as the user of `kubeconfig`."""
    return plane.kubectl("get", "namespaces", kubeconfig=kubeconfig, check=False)


def config_map(name):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_a_control_plane_starts_within_its_time_limit(plane):
    print(f"start: {plane.start_seconds:.2f} s")
    assert plane.start_seconds < 60


def test_kubectl_and_server_have_the_pinned_version(plane):
    pinned = "v" + binaries.required(HERE / "kubernetes", "k8s.io/kubernetes")
    versions = plane.kubectl_json("version")
    assert [versions["clientVersion"]["gitVersion"], versions["serverVersion"]["gitVersion"]] == [pinned, pinned]


def test_servers_listen_on_loopback_only(plane):
    addresses = [address for name in COMPONENTS for address in listening_addresses(plane.component(name).pid)]
    assert addresses == [LOOPBACK] * 4


def test_the_server_certificate_is_good_for_every_name(plane):
    for name in ("127.0.0.1", "localhost", "kubernetes.test"):
        kubeconfig = plane.kubeconfig_for(f"as-{name}", token=plane.token, cluster={"tls-server-name": name})
        assert plane.kubectl("get", "--raw", "/version", kubeconfig=kubeconfig).returncode == 0


def test_deleting_a_namespace_finishes(plane):
    plane.kubectl("create", "namespace", "short-lived")
    plane.kubectl("delete", "namespace", "short-lived", "--timeout=30s")
    assert plane.request("GET", "/api/v1/namespaces/short-lived").status == 404


def test_the_audit_log_has_user_and_user_agent_of_a_request(plane):
    position = plane.audit_position()
    can_list_namespaces(plane, plane.token_kubeconfig)
    event = plane.audit_since(position, user="cnpa-op-token")[-1]
    assert event["userAgent"].startswith("kubectl/v1.")
    assert (event["verb"], event["responseStatus"]["code"]) == ("list", 403)


def test_the_audit_log_has_every_answered_request(plane):
    position = plane.audit_position()
    for number in range(200):
        plane.request("GET", f"/api/v1/namespaces/none-{number}")
    # The control plane's own components ask things too.
    asked = [event for event in plane.audit_since(position) if "/namespaces/none-" in event["requestURI"]]
    assert len(asked) == 200


def test_a_half_written_audit_event_is_left_for_later(plane, tmp_path, monkeypatch):
    log = tmp_path / "audit.log"
    log.write_text('{"requestURI": "/a", "user": {"username": "x"}}\n{"requestURI": "/b", "us')
    monkeypatch.setattr(plane, "audit_log", log)
    monkeypatch.setattr(plane, "_settle_audit_log", lambda: None)
    assert [event["requestURI"] for event in plane.audit_since(0)] == ["/a"]
    position = plane.audit_position()
    with log.open("a") as file:
        file.write('er": {"username": "x"}}\n')
    assert [event["requestURI"] for event in plane.audit_since(position)] == ["/b"]


@pytest.mark.parametrize("text, want", [(b"", 0), (b"torn", 0), (b"a\nb\n", 4), (b"a\n" + b"x" * 200_000, 2)])
def test_the_end_of_whole_lines(tmp_path, text, want):
    (tmp_path / "log").write_bytes(text)
    assert controlplane.end_of_whole_lines(tmp_path / "log") == want


def test_an_audit_event_behind_a_torn_one_is_found():
    whole = b'{"kind":"Event","requestURI":"/b"}'
    assert controlplane.decode_event(b'{"kind":"Event","reque' + whole) == json.loads(whole)


@pytest.mark.parametrize("user", ["user", "token"])
def test_a_user_without_rights_is_refused(plane, user):
    refused = can_list_namespaces(plane, getattr(plane, f"{user}_kubeconfig"))
    assert "(Forbidden)" in refused.stderr


def test_a_user_may_do_what_rbac_allows(plane):
    plane.kubectl("create", "clusterrole", "reader", "--verb=list", "--resource=namespaces")
    plane.kubectl("create", "clusterrolebinding", "reader", "--clusterrole=reader", "--user=reader-user")
    kubeconfig = plane.kubeconfig_for("reader", certificate=plane.issue_client("reader-user"))
    assert eventually(lambda: can_list_namespaces(plane, kubeconfig).returncode == 0)


def test_a_client_certificate_carries_its_groups(plane):
    kubeconfig = plane.kubeconfig_for("by-path", certificate=plane.issue_client("x", ["a/b", "c"]), inline=False)
    who = plane.kubectl_json("auth", "whoami", kubeconfig=kubeconfig)["status"]["userInfo"]
    assert (who["username"], who["groups"]) == ("x", ["a/b", "c", "system:authenticated"])


def test_an_expired_client_certificate_is_refused(plane):
    expired = plane.issue_client("admin", ["system:masters"], not_after=datetime.now(timezone.utc) - timedelta(days=1))
    refused = can_list_namespaces(plane, plane.kubeconfig_for("expired", certificate=expired))
    assert "Unauthorized" in refused.stderr


def test_a_failed_kubectl_says_why(plane):
    with pytest.raises(KubectlError, match="kubectl get namespace nowhere failed with 1: .*NotFound"):
        plane.kubectl("get", "namespace", "nowhere")


def test_a_killed_api_server_comes_back_with_its_port_and_data(plane):
    plane.request("POST", "/api/v1/namespaces/default/configmaps", config_map("kept"))
    server = plane.component("kube-apiserver")
    server.kill()
    assert not server.running
    server.start()
    assert plane.request("GET", "/api/v1/namespaces/default/configmaps/kept").status == 200


def test_a_killed_etcd_comes_back_with_its_data(plane):
    plane.request("POST", "/api/v1/namespaces/default/configmaps", config_map("kept-by-etcd"))
    etcd = plane.storage
    assert etcd is plane.component("etcd")
    etcd.kill()
    etcd.start()
    plane.component("kube-apiserver").wait_until_ready()
    assert plane.request("GET", "/api/v1/namespaces/default/configmaps/kept-by-etcd").status == 200


def test_a_killed_kine_comes_back_with_its_data(sqlite_plane):
    sqlite_plane.request("POST", "/api/v1/namespaces/default/configmaps", config_map("kept-by-kine"))
    kine = sqlite_plane.storage
    assert kine is sqlite_plane.component("kine")
    kine.kill()
    kine.start()
    sqlite_plane.component("kube-apiserver").wait_until_ready()
    assert sqlite_plane.request("GET", "/api/v1/namespaces/default/configmaps/kept-by-kine").status == 200


def test_kine_keeps_the_objects_in_a_sqlite_file_and_has_no_port(sqlite_plane):
    assert (sqlite_plane.folder / "kine.db").read_bytes().startswith(b"SQLite format 3\0")
    assert listening_addresses(sqlite_plane.storage.pid) == []


def test_a_paused_api_server_answers_once_resumed(plane):
    server = plane.component("kube-apiserver")
    server.pause()
    with pytest.raises(TimeoutError):
        plane.request("GET", "/version", timeout_seconds=0.3)
    server.resume()
    assert plane.request("GET", "/version").status == 200


def test_a_component_that_cannot_start_says_why(plane):
    with pytest.raises(ControlPlaneError, match="(?s)kube-apiserver ended while it started.*no-such-flag"):
        ControlPlane(apiserver_flags=["--no-such-flag"]).start()


def test_two_control_planes_do_not_see_each_other(plane, second_plane):
    second_plane.kubectl("create", "namespace", "only-here")
    assert plane.request("GET", "/api/v1/namespaces/only-here").status == 404


def test_a_taken_port_is_no_obstacle(plane, second_plane):
    ports = [port for each in (plane, second_plane) for pair in each._ports.values() for port in pair]
    assert len(set(ports)) == len(ports)


def test_extra_flags_arrive(second_plane):
    arguments = Path(f"/proc/{second_plane.component('kube-apiserver').pid}/cmdline").read_text().split("\0")
    assert EXTRA_FLAG in arguments


def test_stop_takes_less_than_a_second_and_leaves_nothing():
    plane = ControlPlane(backend="etcd")
    plane.start()
    pids = [plane.keeper_pid, *(plane.component(name).pid for name in COMPONENTS)]
    started = time.monotonic()
    plane.stop()
    seconds = time.monotonic() - started
    print(f"start: {plane.start_seconds:.2f} s, stop: {seconds:.2f} s")
    assert seconds < 1
    assert not any(map(alive, pids))
    assert not plane.folder.exists()


def test_nothing_is_left_when_the_owner_is_killed(owner):
    process, left = owner
    assert all(map(alive, [left["keeper"], *left["pids"]]))
    process.kill()
    assert eventually(lambda: not any(map(alive, [left["keeper"], *left["pids"]])))
    assert not Path(left["folder"]).exists()


def test_no_component_is_left_when_the_keeper_is_killed(owner):
    process, left = owner
    os.kill(left["keeper"], signal.SIGKILL)
    assert eventually(lambda: not any(map(alive, left["pids"])))


def test_the_next_keeper_removes_the_folder_of_a_killed_one():
    leftover = memory_folder() / f"{FOLDER_PREFIX}test-{os.getpid()}"
    leftover.mkdir()
    (leftover / "lock").touch()
    controlplane.KeeperClient().close()
    assert not leftover.exists()


class TestBuild:
    """The build, with a stand-in for the go command that writes what it was asked for."""

    GO = """\
        #!/bin/sh
        [ "$1" = version ] && { echo go version go$GO_HAS linux/amd64; exit; }
        echo "$@" toolchain=$GOTOOLCHAIN >> "$GO_LOG"
        [ -z "$GO_SLEEP" ] || sleep "$GO_SLEEP"
        [ -z "$GO_FAILS" ] || { echo "x.go:1: no"; exit 1; }
        while [ "$1" != -o ]; do shift; done
        echo binary > "$2"
        """

    @pytest.fixture
    def go(self, tmp_path, monkeypatch):
        """The log of the stand-in's calls."""
        program = tmp_path / "bin" / "go"
        program.parent.mkdir()
        program.write_text(textwrap.dedent(self.GO))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
        monkeypatch.setenv("CNPA_OP_CLUSTER_CACHE", str(tmp_path / "cache"))
        monkeypatch.setenv("GO_LOG", str(tmp_path / "log"))
        monkeypatch.setenv("GO_HAS", "1.26.8")
        monkeypatch.setenv("GOTOOLCHAIN", "local")
        return tmp_path / "log"

    def test_a_second_build_has_nothing_to_do(self, go):
        folder = binaries.build()
        assert sorted(path.name for path in folder.iterdir()) == [".lock", "etcd", "kube-apiserver",
                                                                  "kube-controller-manager", "kubectl"]
        calls = go.read_text()
        assert binaries.build() == folder
        assert go.read_text() == calls

    def test_a_build_makes_only_what_lacks(self, go):
        lacking = binaries.build() / "kubectl"
        lacking.unlink()
        go.unlink()
        binaries.build()
        assert lacking.exists()
        assert len(go.read_text().splitlines()) == 1

    def test_kine_is_built_where_it_is_asked_for_and_nothing_else_anew(self, go):
        folder = binaries.build()
        go.unlink()
        assert binaries.build("sqlite") == folder
        assert len(go.read_text().splitlines()) == 1
        assert (folder / binaries.storage_program("sqlite")).exists()

    @pytest.mark.parametrize("name", binaries.CHECKERS)
    def test_a_checker_is_built_where_it_is_asked_for_and_nothing_else_anew(self, go, name):
        folder = binaries.build()
        go.unlink()
        assert binaries.build_checker(name) == folder / binaries.checker_program(name).name
        assert len(go.read_text().splitlines()) == 1
        assert binaries.build_checker(name).exists()

    def test_an_unknown_backend_is_refused_in_one_line(self, go, monkeypatch):
        monkeypatch.setenv("CNPA_OP_TEST_BACKEND", "paper")
        refused = subprocess.run([HERE / "cluster", "build"], capture_output=True, text=True)
        assert refused.returncode == 1
        assert refused.stderr == "cluster: CNPA_OP_TEST_BACKEND is 'paper': it can be etcd or sqlite\n"

    def test_of_two_builds_at_once_the_second_waits(self, go, monkeypatch):
        monkeypatch.setenv("GO_SLEEP", "0.5")
        first = subprocess.Popen([HERE / "cluster", "build"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        assert eventually(go.exists)
        second = subprocess.run([HERE / "cluster", "build"], capture_output=True, text=True)
        assert (first.wait(), second.returncode) == (0, 0)
        assert second.stderr == "waiting for another build of the same binaries: 0 s\n"
        assert len(go.read_text().splitlines()) == 4

    def test_a_failed_build_shows_the_compilers_output(self, go, monkeypatch):
        monkeypatch.setenv("GO_FAILS", "1")
        with pytest.raises(binaries.BuildError, match="(?s)cannot build go.etcd.io/etcd/server/v3:\nx.go:1: no"):
            binaries.build()

    def test_an_interrupted_build_leaves_no_half_binary(self, go, monkeypatch):
        monkeypatch.setenv("GO_SLEEP", "60")
        process = subprocess.Popen([HERE / "cluster", "build"], stderr=subprocess.DEVNULL)
        assert eventually(go.exists)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=5) == 128 + signal.SIGTERM
        assert len(binaries.lacking(binaries.folder())) == 4

    def test_an_older_go_fetches_the_one_it_needs(self, go, monkeypatch):
        monkeypatch.setenv("GO_HAS", "1.22.1")
        binaries.build()
        assert all(line.endswith("toolchain=auto") for line in go.read_text().splitlines())

    def test_a_machine_without_go_is_told_so_in_one_line(self, go, monkeypatch):
        monkeypatch.setenv("PATH", str(go.parent))
        with pytest.raises(binaries.BuildError, match="^there is no go on the PATH; .*: install Go 1.21 or newer$"):
            binaries.go_environment(binaries.tools("etcd"))

    def test_a_go_that_is_too_old_is_refused_in_one_line(self, go, monkeypatch):
        monkeypatch.setenv("GO_HAS", "1.19.8")
        refused = subprocess.run([HERE / "cluster", "build"], capture_output=True, text=True)
        assert refused.returncode == 1
        assert refused.stderr == ("cluster: go is 1.19; the test control plane (and nothing else) is built with it: "
                                  "install Go 1.21 or newer\n")


class TestCluster:
    """The command line."""

    @pytest.fixture
    def cluster(self, tmp_path, monkeypatch):
        """Runs the command with a state folder of its own."""
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))

        def run(*arguments):
            return subprocess.run([HERE / "cluster", *arguments], capture_output=True, text=True, timeout=60)

        yield run
        run("down")

    def test_up_starts_one_that_down_stops(self, cluster):
        first = cluster("up")
        assert first.stdout.startswith("export KUBECONFIG=")
        assert cluster("up").stdout == first.stdout
        assert cluster("status").stdout == first.stdout
        assert cluster("kubectl", "-n", "default", "get", "namespaces").returncode == 0
        assert cluster("down").returncode == 0
        assert cluster("status").returncode == 1

    def test_run_passes_the_exit_code_on(self, cluster):
        script = 'kubectl get namespace default -o name; test -s "$CNPA_OP_TEST_KUBECONFIG" && exit 7'
        done = cluster("run", "--", "sh", "-c", script)
        assert (done.returncode, done.stdout) == (7, "namespace/default\n")

    def test_run_passes_signals_on_and_stops_with_its_command(self):
        script = 'trap "echo interrupted" INT; echo "$KUBECONFIG"; while :; do sleep 0.05; done'
        process = subprocess.Popen([HERE / "cluster", "run", "--", "sh", "-c", script], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, text=True)
        with process.stdout:
            folder = Path(process.stdout.readline().strip()).parent
            assert folder.exists()
            process.send_signal(signal.SIGINT)
            assert process.stdout.readline() == "interrupted\n"
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=10) == 128 + signal.SIGTERM
        assert not folder.exists()
