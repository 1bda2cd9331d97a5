# SPDX-License-Identifier: Apache-2.0
"""What the package does to services that run: with a systemd of its own, booted in a copy of this machine.

What the units do is tested elsewhere; here a program that sleeps stands in the place of cnpa-op.
"""

import re
import shutil

import pytest

ASLEEP = "[Service]\nType=simple\nWatchdogSec=0\nLoadCredential=\nExecStart=\nExecStart=sleep infinity\n"

# What is done at the one boot. Each line is printed before what it says, so that tests find their place.
STEPS = """
dpkg -i /root/first.deb
systemctl is-enabled cnpa-op.service cnpa-op@paris.service cnpa-op-diff.timer
systemctl is-active cnpa-op.service cnpa-op-diff.timer
systemctl enable cnpa-op.service
systemctl start cnpa-op.service cnpa-op@paris.service cnpa-op-diff.timer
touch /var/lib/private/cnpa-op/beta.json
systemctl show -P MainPID cnpa-op.service cnpa-op@paris.service cnpa-op@rome.service
dpkg -i /root/second.deb
systemctl show -P MainPID cnpa-op.service cnpa-op@paris.service cnpa-op@rome.service cnpa-op-diff.service
dpkg -r cnpa-op
systemctl is-active cnpa-op.service cnpa-op@paris.service cnpa-op-diff.timer
dpkg -P cnpa-op
systemctl list-units --failed --no-legend cnpa-op*
find /etc/systemd/system/multi-user.target.wants /var/lib/private -name *cnpa-op* -o -name beta.json
"""


@pytest.fixture(scope="module")
def said(package, newer, throw_away):
    """What each of STEPS said, by its place."""
    if not shutil.which("systemd-nspawn"):
        pytest.skip("needs systemd-nspawn, of the Debian package systemd-container")
    machine = throw_away()
    machine.copy(package, "/root/first.deb")
    machine.copy(newer, "/root/second.deb")
    for unit in ("cnpa-op", "cnpa-op@"):
        machine.write(f"/etc/systemd/system/{unit}.service.d/asleep.conf", ASLEEP)
    output = machine.boot(STEPS.strip().splitlines())
    return {number: text.split() for number, text in enumerate(re.split(r"^=== .*\n", output, flags=re.M)[1:])}


def place(step):
    found = [number for number, line in enumerate(STEPS.strip().splitlines()) if line.startswith(step)]
    return found[0]


def test_nothing_is_started_by_the_installation_and_nothing_is_enabled(said):
    assert said[place("systemctl is-enabled")] == ["disabled", "disabled", "disabled"]
    assert said[place("systemctl is-active")] == ["inactive", "inactive"]


def test_after_an_upgrade_other_processes_run_and_what_did_not_run_does_not(said):
    before = said[place("systemctl show")]
    after = said[place("dpkg -i /root/second.deb") + 1]
    assert all(int(pid) > 0 for pid in before[:2] + after[:2]) and before[2] == "0"
    assert not set(before[:2]) & set(after[:2])
    assert after[2:] == ["0", "0"]


def test_removed_nothing_of_it_runs_or_has_failed_and_the_archive_stays(said):
    assert said[place("dpkg -r") + 1] == ["inactive", "inactive", "inactive"]
    assert said[place("systemctl list-units")] == []
    assert sorted(said[place("find")]) == ["/var/lib/private/cnpa-op", "/var/lib/private/cnpa-op-paris",
                                           "/var/lib/private/cnpa-op/beta.json"]
