# SPDX-License-Identifier: Apache-2.0
"""What the tests of the units share: the harness of the end-to-end tests, and how cnpa-op comes onto a machine."""

import os
import shutil
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
for folder in ("cluster", "e2e"):
    sys.path.insert(0, str(REPOSITORY / "tests" / folder))

from controlplane import CONTROLLERS, ControlPlane  # noqa: E402  (the path has to be set first)
from harness import *  # noqa: E402, F403
from harness import BINARY  # noqa: E402
from harness import install as install_on_cluster  # noqa: E402, F401
from machine import Machine, MachineError, Unsupported  # noqa: E402

UNITS = REPOSITORY / "systemd"
EXAMPLES = REPOSITORY / "examples"
KUBECONFIG = "/etc/rancher/k3s/k3s.yaml"
SYSTEM_UNITS = "/etc/systemd/system"
SIGNING = "certificatesigningrequest-signing-controller"

long_form = pytest.mark.skipif(not os.environ.get("CNPA_OP_TEST_LONG"), reason="long: CNPA_OP_TEST_LONG=1")


def install(machine):
    """Installs cnpa-op as a package does: the binary and the units, nothing enabled."""
    machine.write_file("/usr/bin/cnpa-op", BINARY.read_bytes(), 0o755)
    for unit in UNITS.iterdir():
        machine.write_file(f"/usr/lib/systemd/system/{unit.name}", unit.read_text())
    machine.systemctl("daemon-reload")


def put_kubeconfig(machine, kubeconfig, path=KUBECONFIG):
    """Copies a kubeconfig file onto the machine, as k3s leaves its own: root's, 0600."""
    machine.write_file(path, Path(kubeconfig).read_bytes(), 0o600)


def drop_in(machine, unit, name, text):
    """Writes a drop-in of a unit."""
    machine.write_file(f"{SYSTEM_UNITS}/{unit}.d/{name}.conf", text)
    machine.systemctl("daemon-reload")


def remove_drop_ins(machine):
    """Removes all drop-ins that tests have written, and what they set aside."""
    for folder in machine.path(SYSTEM_UNITS).glob("cnpa-op*.d"):
        shutil.rmtree(folder)
    machine.systemctl("daemon-reload")


def messages(entries):
    """Returns the texts of journal entries."""
    return [entry["MESSAGE"] for entry in entries]


def ours(entries):
    """Returns the journal entries that cnpa-op wrote itself, not systemd about it."""
    return [entry for entry in entries if entry.get("SYSLOG_IDENTIFIER", "").startswith("cnpa-op")]
