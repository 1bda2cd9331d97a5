# SPDX-License-Identifier: Apache-2.0
"""The demo comes out as it says, on a control plane of its own and as a guest on somebody's cluster."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests" / "cluster"))

from controlplane import ControlPlane  # noqa: E402  (the path has to be set first)

DEMO = REPOSITORY / "tests" / "e2e" / "demo"


@pytest.fixture(scope="module")
def plane():
    with ControlPlane() as plane:
        yield plane


def on_terminal(environment, typed):
    """Runs the demo as a guest with somebody at a terminal; returns its exit code and what was shown."""
    process, terminal = pty.fork()
    if process == 0:
        os.execve(DEMO, [DEMO, "--mine"], environment)
    os.write(terminal, typed)
    shown = b""
    while True:
        try:
            some = os.read(terminal, 65536)
        except OSError:  # the end of a terminal
            break
        if not some:
            break
        shown += some
    _, status = os.waitpid(process, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode()


def test_on_a_control_plane_of_its_own(binary_environment):
    done = subprocess.run([REPOSITORY / "tests" / "cluster" / "cluster", "run", "--", DEMO], text=True,
                          env=binary_environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300, check=False)
    assert done.returncode == 0 and "All of it came out as shown" in done.stdout, done.stdout


def test_as_a_guest_it_asks_and_leaves_nothing_behind(plane, binary_environment):
    environment = binary_environment | plane.environment()
    code, shown = on_terminal(environment, b"n\n")
    assert code == 1 and "nothing was done" in shown
    assert plane.request("GET", "/apis/platform.labhub.io/v1alpha1/teamspaces").status == 404

    code, shown = on_terminal(environment, b"y\n")
    assert code == 0 and "pods" in shown, shown
    assert plane.request("GET", "/apis/platform.labhub.io/v1alpha1/teamspaces").status == 404
    namespaces = plane.request("GET", "/api/v1/namespaces").json()["items"]
    left = [space["metadata"]["name"] for space in namespaces if space["status"]["phase"] == "Active"]
    assert not [name for name in left if name.startswith("team-")]


def test_as_a_guest_without_a_terminal_it_does_nothing(plane, binary_environment):
    done = subprocess.run([DEMO, "--mine"], text=True, env=binary_environment | plane.environment(), timeout=60,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    assert done.returncode == 1 and "takes a terminal" in done.stdout


@pytest.fixture
def binary_environment():
    return dict(os.environ) | {"CNPA_OP": os.environ.get("CNPA_OP", str(REPOSITORY / "build" / "cnpa-op"))}
