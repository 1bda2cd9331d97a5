# SPDX-License-Identifier: Apache-2.0
"""What the tests of the units share: the harness of the end-to-end tests, and how cnpa-op comes onto a machine."""

import contextlib
import os
import shutil
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
for folder in ("cluster", "e2e/support"):
    sys.path.insert(0, str(REPOSITORY / "tests" / folder))

from controlplane import CONTROLLERS, ControlPlane  # noqa: E402  (the path has to be set first)
from harness import *  # noqa: E402, F403
from harness import BINARY  # noqa: E402
from harness import install as install_on_cluster  # noqa: E402, F401
from keeper import die_with_parent  # noqa: E402, F401
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


def make_brisk(machine, unit="cnpa-op.service"):
    """Has the passes of a unit follow each other quickly: for what takes many, whatever their pace."""
    drop_in(machine, unit, "brisk", "[Service]\nEnvironment=CNPA_OP_INTERVAL=300ms CNPA_OP_LINGER=0s\n")


def without_lingering(machine, unit="cnpa-op.service"):
    """Has a unit list every 3 s, for what shows in the number of passes."""
    drop_in(machine, unit, "lists", "[Service]\nEnvironment=CNPA_OP_LINGER=0s\n")


def remove_drop_ins(machine):
    """Removes all drop-ins that tests have written."""
    folders = list(machine.path(SYSTEM_UNITS).glob("cnpa-op*.d"))
    for folder in folders:
        shutil.rmtree(folder)
    if folders:
        machine.systemctl("daemon-reload")


def messages(entries):
    """Returns the texts of journal entries."""
    return [entry["MESSAGE"] for entry in entries]


def ours(entries):
    """Returns the journal entries that cnpa-op wrote itself, not systemd about it."""
    return [entry for entry in entries if entry.get("SYSLOG_IDENTIFIER", "").startswith("cnpa-op")]


class Service:
    """cnpa-op.service, or another unit of ours, on a machine."""

    def __init__(self, machine, unit="cnpa-op.service"):
        self.machine = machine
        self.unit = unit
        self.since = machine.cursor()

    def systemctl(self, verb, **options):
        return self.machine.systemctl(verb, self.unit, **options)

    def start(self):
        self.systemctl("start")

    def stop(self):
        self.systemctl("stop")

    def restart(self):
        self.systemctl("restart")

    def is_active(self):
        return self.machine.is_active(self.unit)

    def show(self, name):
        return self.machine.show(self.unit, name)

    @property
    def main_pid(self):
        return int(self.show("MainPID"))

    @property
    def status(self):
        return self.show("StatusText")

    def restarts(self):
        return int(self.show("NRestarts"))

    def mark(self):
        """From now on `journal` begins here."""
        self.since = self.machine.cursor()

    def journal(self):
        """Returns the unit's journal entries since the last mark."""
        return self.machine.journal(self.unit, self.since)

    def lines(self):
        """Returns what cnpa-op itself said since the last mark."""
        return messages(ours(self.journal()))

    def all_lines(self):
        """Returns what was said of the unit since the last mark, by systemd too."""
        return messages(self.journal())

    def processes(self):
        """Returns the names of its processes by their process id as seen from here."""
        names = {}
        for pid in self.machine.outer_pids(self.unit).values():
            with contextlib.suppress(OSError):
                names[pid] = Path(f"/proc/{pid}/comm").read_text().strip()
        return names

    def passes(self):
        """Returns the process ids, as seen from here, of its running pass: none or one."""
        return [pid for pid, name in self.processes().items() if name == "cnpa-op-pass"]

    def supervisor(self):
        """Returns the process id of its supervisor as seen from here."""
        return self.machine.outer_pid(self.main_pid)
