# SPDX-License-Identifier: Apache-2.0
"""The units as files: systemd takes every line, and the sandbox is as tight as it is said to be. Nothing is booted."""

import re
import shutil
import subprocess

import pytest

from support import BINARY, UNITS, print_manifest

SERVICES = ("cnpa-op.service", "cnpa-op@.service", "cnpa-op-diff.service")
MOST_EXPOSURE = 1.2
# What has nothing to do with the sandbox, and differs since a service, a template and a dry run do.
OWN = {"Type", "ExecStart", "ExecReload", "Restart", "RestartSec", "RestartPreventExitStatus", "WatchdogSec",
       "KillMode", "TimeoutStopSec", "TimeoutStartSec", "SuccessExitStatus", "LoadCredential", "Environment", "EnvironmentFile", "StateDirectory",
       "StateDirectoryMode", "CacheDirectory", "CacheDirectoryMode", "RuntimeDirectory", "RuntimeDirectoryPreserve"}

pytestmark = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze here")


def section(unit, name):
    """Returns the assignments of a section of a unit, in their order."""
    assignments, current = [], None
    for line in (UNITS / unit).read_text().splitlines():
        if line.startswith("["):
            current = line.strip("[]")
        elif current == name and line and not line.startswith("#"):
            assignments.append(tuple(line.split("=", 1)))
    return assignments


def sandbox(unit):
    return [assignment for assignment in section(unit, "Service") if assignment[0] not in OWN]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A root folder that has systemd's own units, ours, and the programs that ours name."""
    root = tmp_path_factory.mktemp("root")
    shutil.copytree("/usr/lib/systemd/system", root / "usr/lib/systemd/system", symlinks=True)
    shutil.copytree(UNITS, root / "etc/systemd/system")
    (root / "usr/bin").mkdir()
    for program in ("cnpa-op", "kill"):
        (root / "usr/bin" / program).touch(mode=0o755)
    return root


@pytest.mark.parametrize("unit", ["cnpa-op.service", "cnpa-op@paris.service", "cnpa-op-diff.service",
                                  "cnpa-op-diff.timer"])
def test_systemd_has_nothing_to_say_about_a_unit(root, unit):
    done = subprocess.run(["systemd-analyze", "verify", f"--root={root}", "--man=no", unit], capture_output=True,
                          text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("unit", SERVICES)
def test_the_exposure_of_a_service_is_small(unit):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", UNITS / unit], capture_output=True,
                          text=True, check=True)
    exposure = float(re.search(r"Overall exposure level for \S+: ([0-9.]+)", done.stdout).group(1))
    assert exposure <= MOST_EXPOSURE


def test_the_dry_run_has_the_sandbox_of_the_service():
    assert sandbox("cnpa-op-diff.service") == sandbox("cnpa-op.service")


def test_the_template_has_the_sandbox_of_the_service_but_for_the_addresses():
    there = [assignment for assignment in sandbox("cnpa-op.service") if not assignment[0].startswith("IPAddress")]
    assert sandbox("cnpa-op@.service") == there


def test_the_template_differs_from_the_service_in_names_only():
    def rest(unit):
        named = [(name, value.replace("cnpa-op-%i", "cnpa-op")) for name, value in section(unit, "Service")
                 if name in OWN - {"LoadCredential", "EnvironmentFile"}]
        return named

    assert rest("cnpa-op@.service") == rest("cnpa-op.service")


def test_every_unit_file_is_tested():
    assert {unit.name for unit in UNITS.iterdir()} == {*SERVICES, "cnpa-op-diff.timer"}


def test_the_binary_prints_the_unit_of_the_service():
    unit = (UNITS / "cnpa-op.service").read_text()
    assert print_manifest("unit") == re.sub(r"^(ExecStart|ExecReload)=cnpa-op ", rf"\1={BINARY} ", unit, flags=re.M)
