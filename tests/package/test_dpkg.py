# SPDX-License-Identifier: Apache-2.0
"""What dpkg does with the package: in a copy of this machine that is thrown away."""

CONFIG = "/etc/cnpa-op/config.yaml"
ARCHIVES = ("/var/lib/private/cnpa-op/archive/beta.json", "/var/lib/private/cnpa-op-paris/archive/beta.json")
CREDENTIALS = ("/var/cache/private/cnpa-op/credentials/a", "/var/cache/private/cnpa-op-paris/credentials/a")
LINK = "/etc/systemd/system/multi-user.target.wants/cnpa-op.service"
LINK_OF_ANOTHER = "/etc/systemd/system/multi-user.target.wants/another.service"


def with_archives(machine):
    """What a service that ran leaves behind."""
    for path in ARCHIVES + CREDENTIALS:
        machine.write(path, path, "600")
    machine.write("/etc/cnpa-op/paris.kubeconfig", "theirs", "600")


def check_archives(machine):
    for path in ARCHIVES:
        assert machine.read(path) == path
    assert machine.read("/etc/cnpa-op/paris.kubeconfig") == "theirs"


def test_installed_it_works_and_nothing_of_it_is_enabled_or_started(machine, package):
    machine.pretend_systemd()
    machine.install(package)
    assert machine.run("cnpa-op", "version").stdout.startswith("cnpa-op ")
    assert machine.calls() == ["--system daemon-reload"]
    assert machine.run("find", "/etc/systemd", "-name", "*cnpa-op*").stdout == ""
    assert machine.run("dpkg", "--verify", "cnpa-op").stdout == ""


def test_without_systemd_nothing_is_asked_of_it(machine, package, newer):
    machine.pretend_systemd()
    machine.run("rm", "-r", "/run/systemd")
    machine.install(package)
    machine.install(newer)
    machine.dpkg("--purge", "cnpa-op")
    assert machine.calls() == []


def test_the_configuration_that_it_brings_is_taken_and_changes_nothing(machine, package):
    machine.install(package)
    said = machine.run("cnpa-op", "check", "--kubeconfig", "/nowhere", check=False)
    assert (said.returncode, "/nowhere" in said.stdout) == (2, True), said.stdout
    machine.run("sed", "-i", "s/^#timeout: .*/timeout: soon/", CONFIG)
    said = machine.run("cnpa-op", "check", "--kubeconfig", "/nowhere", check=False)
    assert (said.returncode, f"{CONFIG}:" in said.stdout) == (2, True), said.stdout


def test_an_upgrade_restarts_what_runs_and_nothing_else(machine, package, newer):
    machine.pretend_systemd()
    machine.install(package)
    machine.calls()
    machine.install(newer)
    assert machine.calls() == ["--system daemon-reload",
                               "--system --no-block try-restart cnpa-op.service cnpa-op@*.service"]


def test_an_upgrade_that_systemd_can_t_follow_is_an_upgrade_all_the_same(machine, package, newer):
    machine.pretend_systemd()
    machine.write("/usr/bin/systemctl", "#!/bin/sh\nexit 1\n", "755")
    machine.install(package)
    machine.install(newer)
    machine.dpkg("--purge", "cnpa-op")


def test_an_upgrade_keeps_an_edited_configuration_and_the_archives(machine, package, newer, newer_config):
    machine.install(package)
    with_archives(machine)
    machine.run("sed", "-i", "s/^#timeout: .*/timeout: 2m/", CONFIG)
    edited = machine.read(CONFIG)
    machine.install(newer)
    assert machine.read(CONFIG) == edited
    machine.install(newer_config, "--force-confdef", "--force-confold")
    assert machine.read(CONFIG) == edited
    assert "new in this version" in machine.read(CONFIG + ".dpkg-dist")
    check_archives(machine)


def test_an_upgrade_replaces_a_configuration_that_nobody_edited(machine, package, newer_config):
    machine.install(package)
    machine.install(newer_config)
    assert "new in this version" in machine.read(CONFIG)


def test_removed_it_is_stopped_first_and_configuration_and_archives_stay(machine, package):
    machine.pretend_systemd()
    machine.install(package)
    with_archives(machine)
    machine.run("ln", "-s", "/usr/lib/systemd/system/cnpa-op.service", LINK)
    machine.calls()
    machine.dpkg("--remove", "cnpa-op")
    assert machine.calls() == [
        "--system stop cnpa-op-diff.timer cnpa-op-diff.service cnpa-op.service cnpa-op@*.service",
        "--system daemon-reload"]
    assert not machine.has("/usr/bin/cnpa-op")
    assert machine.has(CONFIG)
    check_archives(machine)
    machine.install(package)
    assert machine.has(LINK), "what was enabled is enabled still"


def test_purged_its_configuration_and_credentials_are_gone_and_archives_stay(machine, package):
    machine.install(package)
    with_archives(machine)
    machine.run("ln", "-s", "/lib/systemd/system/cnpa-op.service", LINK)
    machine.run("ln", "-s", "/lib/systemd/system/another.service", LINK_OF_ANOTHER)
    machine.dpkg("--purge", "cnpa-op")
    assert not machine.has(CONFIG)
    check_archives(machine)
    for path in CREDENTIALS:
        assert not machine.has(path)
    assert machine.run("test", "-L", LINK, check=False).returncode != 0
    machine.run("test", "-L", LINK_OF_ANOTHER)
    assert machine.run("find", "/etc", "-name", "*cnpa-op*").stdout.split() == ["/etc/cnpa-op"], "for paris.kubeconfig"


def test_purged_where_nobody_added_anything_nothing_is_left(machine, package):
    machine.install(package)
    installed = [path for path in machine.dpkg("-L", "cnpa-op").splitlines() if "cnpa-op" in path]
    machine.dpkg("--purge", "cnpa-op")
    assert [path for path in installed if machine.has(path)] == []
    places = ("/etc", "/var/lib/private", "/var/cache/private", "/var/lib/dpkg/info")
    assert machine.run("find", *places, "-name", "*cnpa-op*").stdout == ""
