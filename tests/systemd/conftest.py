# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of the units: one machine and one control plane for all of them."""

import os
import subprocess
import sys

import pytest

from support import (BINARY, CONTROLLERS, REPOSITORY, SIGNING, Cluster, ControlPlane, Machine, Service, Unsupported,
                     die_with_parent, install, install_on_cluster, make_brisk, put_kubeconfig, remove_drop_ins)

_skipped = []


@pytest.fixture(scope="session", autouse=True)
def binary():
    """The binary under test: $CNPA_OP, or that of the build folder."""
    if not os.access(BINARY, os.X_OK):
        pytest.exit(f"no binary to test at {BINARY}: build it, or set CNPA_OP", returncode=4)
    return BINARY


@pytest.fixture(scope="session")
def machine(binary):
    """A booted machine on which cnpa-op is installed, with nothing enabled or started."""
    machine = Machine()
    try:
        machine.start()
    except Unsupported as reason:
        if os.environ.get("CI"):
            pytest.fail(f"no machine can be booted here: {reason}")
        _skipped.append(str(reason))
        pytest.skip(f"no machine can be booted here: {reason}")
    try:
        install(machine)
        yield machine
    finally:
        machine.stop()


def pytest_terminal_summary(terminalreporter):
    if _skipped:
        terminalreporter.section("not tested on a systemd")
        terminalreporter.line(f"no machine can be booted here: {_skipped[0]}")


@pytest.fixture(scope="session")
def plane(binary):
    """The control plane that the tests share, with the CRD and the rights that the binary itself prints."""
    with ControlPlane(controllers=(*CONTROLLERS, SIGNING)) as plane:
        install_on_cluster(plane)
        yield plane


@pytest.fixture
def cluster(plane, tmp_path):
    """The shared control plane, without any TeamSpace at the beginning and at the end of a test."""
    cluster = Cluster(plane, tmp_path)
    yield cluster
    cluster.clean()


@pytest.fixture
def host(machine, plane):
    """The machine, with a kubeconfig for the control plane, and no unit of ours running before and after a test."""
    put_kubeconfig(machine, plane.user_kubeconfig)
    yield machine
    machine.run("sh", "-c", "systemctl stop 'cnpa-op*'; systemctl reset-failed 'cnpa-op*'", check=False)
    remove_drop_ins(machine)


@pytest.fixture
def service(host, cluster):
    """cnpa-op.service, running; its journal begins at its start."""
    service = Service(host)
    service.start()
    yield service
    service.systemctl("stop", check=False)


@pytest.fixture
def brisk(host, cluster):
    """cnpa-op.service, running, with short pauses."""
    make_brisk(host)
    service = Service(host)
    service.start()
    yield service
    service.systemctl("stop", check=False)


@pytest.fixture(scope="session")
def acceptance(machine, tmp_path_factory):
    """A run of tests/lab/lab that goes on beside the tests; a function that waits for it, and returns code and output.

    It has a machine and a control plane of its own. It mostly waits, so it is begun with the first test; see
    pytest_collection_modifyitems.
    """
    folder = tmp_path_factory.mktemp("acceptance")
    with open(folder / "output", "w+") as output:
        run = subprocess.Popen([sys.executable, REPOSITORY / "tests/lab/lab", "--service=systemd", folder / "evidence"],
                               stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                               preexec_fn=die_with_parent(), env=os.environ | {"CNPA_OP": str(BINARY)})

        def finish():
            code = run.wait(300)
            return code, (folder / "output").read_text()

        yield finish
        run.kill()
        run.wait()


@pytest.fixture(autouse=True)
def begin_acceptance(request):
    """Begins the acceptance run with the first test when it is among those that were chosen."""
    if any("acceptance" in item.fixturenames for item in request.session.items):
        request.getfixturevalue("acceptance")


def pytest_collection_modifyitems(items):
    """Puts the test of the acceptance run at the end, and those that boot nothing at the beginning."""
    items.sort(key=lambda item: (item.path.name == "test_acceptance.py", item.path.name != "test_units.py"))
