# SPDX-License-Identifier: Apache-2.0
"""Others' ways to run a pass again and again: a unit with a shell loop around a script, and cron."""

import re
import time

import pytest

from support import EXAMPLES, TEAMS, long_form, wait_for

UNIT = """\
[Unit]
Description=TeamSpace reconciler
[Service]
ExecStart=/bin/bash -c 'while true; do /root/cnpa-op/reconcile.sh; sleep 3; done'
Restart=always
[Install]
WantedBy=multi-user.target
"""
SCRIPT = """\
#!/bin/bash
exec cnpa-op reconcile --once --archive /root/cnpa-op/archive
"""


@pytest.fixture
def seed_loop(host):
    """The machine on which a plain unit loops around a script that runs one pass."""
    host.write_file("/root/cnpa-op/reconcile.sh", SCRIPT, 0o755)
    host.write_file("/etc/systemd/system/seed-loop.service", UNIT)
    host.systemctl("daemon-reload")
    host.systemctl("enable", "--now", "seed-loop.service")
    yield host
    host.systemctl("disable", "--now", "seed-loop.service")
    host.run("rm", "-rf", "/root/cnpa-op")


def test_a_shell_loop_around_the_pass_does_the_whole_job(seed_loop, cluster):
    name = cluster.create_team(pods=3)
    wait_for(lambda: cluster.quota(name), "a quota for a new TeamSpace")
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "3", "the quota put right")
    cluster.delete_team(name)
    wait_for(lambda: cluster.team(name) is None, "the TeamSpace gone")
    assert seed_loop.path(f"/root/cnpa-op/archive/{name}.json").exists()
    assert seed_loop.is_active("seed-loop.service") == "active"


def test_a_shell_loop_around_quiet_passes_leaves_no_line_in_the_journal(seed_loop, cluster):
    name = cluster.create_team()
    wait_for(lambda: cluster.ready(name).get("status") == "True", "a Ready TeamSpace")
    time.sleep(0.5)
    cursor, mark = seed_loop.cursor(), cluster.mark()
    wait_for(lambda: sum(request.verb == "list" for request in cluster.requests(mark)) >= 6, "two more passes")
    assert seed_loop.journal("seed-loop.service", cursor) == []


def test_a_shell_loop_is_stopped_in_the_midst_of_a_pass_without_failure(seed_loop, cluster):
    cluster.create_teams([cluster.new_name() for _ in range(60)])
    wait_for(lambda: any(item["metadata"].get("finalizers") for item in cluster.api("GET", TEAMS)["items"]), "writes")
    begin = time.monotonic()
    seed_loop.systemctl("stop", "seed-loop.service")
    assert time.monotonic() - begin < 5
    assert seed_loop.show("seed-loop.service", "Result") == "success"


# -- cron ------------------------------------------------------------------------------------------------------------


def cron_jobs():
    """Returns the commands of examples/cron by their schedule, and the environment that cron gives them."""
    jobs, variables = {}, {}
    for line in (EXAMPLES / "cron").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        if assignment := re.fullmatch(r"(\w+)=(.*)", line):
            variables[assignment[1]] = assignment[2]
        else:
            *schedule, user, command = line.split(maxsplit=6)
            assert user == "root"
            jobs[" ".join(schedule)] = command
    return jobs, {"HOME": "/root", "LOGNAME": "root"} | variables


def run_as_cron(host, schedule):
    jobs, variables = cron_jobs()
    return host.run("sh", "-c", jobs[schedule], environment=variables, check=False)


@pytest.fixture
def archive_parent(host):
    host.run("install", "-d", "-m", "0700", "/var/lib/cnpa-op")
    yield
    host.run("rm", "-rf", "/var/lib/cnpa-op")


EVERY_MINUTE = "* * * * *"
DAILY = "17 6 * * *"


def test_the_line_for_cron_runs_a_pass_and_logs_what_it_did(host, cluster, archive_parent):
    name = cluster.create_team()
    cursor = host.cursor()
    run = run_as_cron(host, EVERY_MINUTE)
    assert (run.stdout, run.stderr) == ("", "")
    assert cluster.quota(name)
    said = [entry["MESSAGE"] for entry in host.journal(None, cursor) if entry.get("SYSLOG_IDENTIFIER") == "cnpa-op"]
    assert f"+ Namespace/team-{name}" in "\n".join(said)


def test_the_line_for_cron_deletes_and_archives(host, cluster, archive_parent):
    name = cluster.create_team()
    run_as_cron(host, EVERY_MINUTE)
    cluster.delete_team(name)
    run_as_cron(host, EVERY_MINUTE)
    assert cluster.team(name) is None
    assert host.path(f"/var/lib/cnpa-op/archive/{name}.json").exists()


def test_the_line_for_cron_runs_one_pass_at_a_time(host, cluster):
    cluster.create_team()
    mark = cluster.mark()
    jobs, variables = cron_jobs()
    host.run("flock", "/run/cnpa-op.lock", "sh", "-c", jobs[EVERY_MINUTE], environment=variables)
    assert cluster.requests(mark) == []


def test_the_daily_line_for_cron_prints_what_differs(host, cluster):
    name = cluster.create_team()
    mark = cluster.mark()
    run = run_as_cron(host, DAILY)
    assert f"TeamSpace {name} has none" in run.stdout
    assert cluster.writes(mark) == []


def test_the_daily_line_for_cron_prints_nothing_when_nothing_differs(host, cluster):
    cluster.converged_team()
    run = run_as_cron(host, DAILY)
    assert (run.stdout, run.stderr) == ("", "")


def test_the_daily_line_for_cron_prints_why_it_cannot_tell(host, cluster):
    host.write_file("/etc/rancher/k3s/k3s.yaml", "nothing", 0o600)
    run = run_as_cron(host, DAILY)
    assert "/etc/rancher/k3s/k3s.yaml" in run.stderr


@long_form
def test_cron_itself_runs_a_pass_within_a_minute(host, cluster, archive_parent):
    host.write_file("/etc/cron.d/cnpa-op", (EXAMPLES / "cron").read_text())
    host.systemctl("start", "cron.service")
    try:
        name = cluster.create_team()
        wait_for(lambda: cluster.quota(name), "cron's pass", 75)
    finally:
        host.systemctl("stop", "cron.service")
        host.remove_file("/etc/cron.d/cnpa-op")
