# SPDX-License-Identifier: Apache-2.0
"""cnpa-op.service on days when something breaks: the API server, a pass, the supervisor, the credentials."""

import contextlib
import datetime
import os
import re
import signal
import time
from dataclasses import dataclass

import pytest

from support import (Cluster, Service, answers, drop_in, long_form, make_brisk, ours, put_kubeconfig, remove_drop_ins,
                     said, wait_for)

# The short form has everything quicker.
LONG = bool(os.environ.get("CNPA_OP_TEST_LONG"))
OUTAGE_SECONDS = 40 if LONG else 9
INTERVAL_SECONDS = 3 if LONG else 1


@contextlib.contextmanager
def paused(plane):
    """The API server hangs, so that a pass runs until the block is over."""
    plane.component("kube-apiserver").pause()
    try:
        yield
    finally:
        plane.component("kube-apiserver").resume()


@contextlib.contextmanager
def down(plane):
    """The API server is down until the block is over."""
    plane.component("kube-apiserver").kill()
    try:
        yield
    finally:
        plane.component("kube-apiserver").start()
        wait_for(lambda: answers(plane), "the API server")


def works(cluster):
    """Waits until the service serves a new TeamSpace."""
    name = cluster.create_team()
    wait_for(lambda: cluster.quota(name), "a quota", 30)


def exists(pid):
    """Returns whether a process runs, or is a zombie at least, as seen from here."""
    with contextlib.suppress(OSError):
        os.kill(pid, 0)
        return True
    return False


# -- the API server is away for a while ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outage:
    """What was seen of the service while the API server was down, and just after."""

    states: set
    statuses: list
    lines: list  # journal entries
    restarts: int


@pytest.fixture(scope="module")
def outage(machine, plane, tmp_path_factory):
    """The API server was down for a while, and the service was running."""
    cluster = Cluster(plane, tmp_path_factory.mktemp("outage"))
    put_kubeconfig(machine, plane.user_kubeconfig)
    drop_in(machine, "cnpa-op.service", "pace", f"[Service]\nEnvironment=CNPA_OP_INTERVAL={INTERVAL_SECONDS}s\n")
    service = Service(machine)
    service.start()
    try:
        works(cluster)
        time.sleep(0.5)
        service.mark()
        states, statuses = set(), []
        with down(plane):
            deadline = time.monotonic() + OUTAGE_SECONDS
            while time.monotonic() < deadline:
                states.add(service.is_active())
                status = service.status
                if status not in statuses:
                    statuses.append(status)
                time.sleep(0.2)
        wait_for(lambda: said("over after", service.lines()), "the line that it is over", 40)
        states.add(service.is_active())
        return Outage(states, statuses, service.journal(), service.restarts())
    finally:
        service.stop()
        remove_drop_ins(machine)
        cluster.clean()


def test_an_outage_is_a_line_when_it_begins_and_a_line_when_it_ends(outage):
    begin, end = outage.lines
    assert begin["PRIORITY"] == "3" and "cannot reach https://127.0.0.1:" in begin["MESSAGE"]
    assert end["PRIORITY"] == "6" and end["MESSAGE"].startswith("over after ")


def test_the_end_of_an_outage_says_how_often_and_how_long(outage):
    line = outage.lines[-1]["MESSAGE"]
    said_so = re.match(r"over after (\d+) passes in (?:(\d+)m)?([0-9.]+) ?s: cannot reach ", line)
    assert said_so and 3 <= int(said_so[1]) <= 7
    assert OUTAGE_SECONDS - 5 < int(said_so[2] or 0) * 60 + float(said_so[3]) < OUTAGE_SECONDS + 30


def test_the_service_is_active_during_an_outage(outage):
    assert (outage.states, outage.restarts) == ({"active"}, 0)


def test_the_status_says_that_there_is_an_outage(outage):
    assert "cannot reach https://127.0.0.1:" in outage.statuses[-1]
    assert re.search(r"\d+ failed passes so far, trying every [0-9.]+ s", outage.statuses[-1])


def test_the_pauses_grow_during_an_outage(outage):
    pauses = [float(pause) for pause in re.findall(r"trying every ([0-9.]+) s", "\n".join(outage.statuses))]
    assert len(pauses) >= 3
    assert pauses == [min(INTERVAL_SECONDS * 2 ** step, 30) for step in range(len(pauses))]


def test_a_start_while_the_server_is_down_does_not_hang(host, cluster):
    service = Service(host)
    with down(cluster.plane):
        begin = time.monotonic()
        service.start()
        seconds = time.monotonic() - begin
        assert service.is_active() == "active"
        assert "cannot reach" in service.status
    assert seconds < 15
    works(cluster)


# -- a pass, or the supervisor, is killed ----------------------------------------------------------------------------


@pytest.fixture
def running_pass(brisk, cluster):
    """The service in the midst of a pass, and the process id of that pass; the API server answers again afterwards."""
    with paused(cluster.plane):
        yield wait_for(brisk.passes, "a running pass")[0]


def test_a_killed_pass_is_named_and_the_next_one_runs(brisk, cluster):
    pid = brisk.main_pid
    with paused(cluster.plane):
        os.kill(wait_for(brisk.passes, "a running pass")[0], signal.SIGKILL)
        wait_for(lambda: said("SIGKILL", brisk.lines()), "a line on the killed pass")
    assert said("a pass was ended by SIGKILL", brisk.lines())
    works(cluster)
    assert brisk.is_active() == "active"
    assert (brisk.main_pid, brisk.restarts()) == (pid, 0)


def test_a_killed_supervisor_leaves_no_pass_behind(brisk, running_pass):
    os.kill(brisk.supervisor(), signal.SIGKILL)
    wait_for(lambda: not exists(running_pass), "the end of the pass", 2)


def test_a_killed_supervisor_is_started_again(brisk, cluster):
    os.kill(brisk.supervisor(), signal.SIGKILL)
    wait_for(lambda: brisk.restarts() == 1 and brisk.is_active() == "active", "the restart")
    works(cluster)


def test_a_stop_in_the_midst_of_a_hanging_pass_is_short(brisk, running_pass):
    begin = time.monotonic()
    brisk.stop()
    assert time.monotonic() - begin < 6
    assert (brisk.is_active(), brisk.show("Result")) == ("inactive", "success")
    assert not exists(running_pass)


def test_a_stop_in_the_midst_of_a_hanging_pass_is_said_to_be_no_error(brisk, running_pass):
    time.sleep(1)  # it waits for the answers to its lists now
    brisk.stop()
    assert [entry["MESSAGE"] for entry in brisk.journal() if int(entry["PRIORITY"]) < 5] == []


def test_the_watchdog_ends_a_supervisor_that_hangs(host, cluster):
    drop_in(host, "cnpa-op.service", "watchdog", "[Service]\nWatchdogSec=3s\nRestartSec=100ms\n")
    service = Service(host)
    service.start()
    os.kill(service.supervisor(), signal.SIGSTOP)
    wait_for(lambda: service.restarts() == 1 and service.is_active() == "active", "the restart")
    assert said("Watchdog timeout", service.all_lines())
    works(cluster)


def test_the_watchdog_lets_a_supervisor_be_whose_pass_hangs(host, cluster):
    drop_in(host, "cnpa-op.service", "watchdog", "[Service]\nWatchdogSec=1s\n")
    make_brisk(host)
    service = Service(host)
    service.start()
    with paused(cluster.plane):
        wait_for(service.passes, "a running pass")
        time.sleep(3)
        assert (service.is_active(), service.restarts()) == ("active", 0)


@long_form
def test_a_pass_that_hangs_past_its_time_is_killed_and_named(host, cluster):
    drop_in(host, "cnpa-op.service", "short", "[Service]\nEnvironment=CNPA_OP_TIMEOUT=1s\n")
    service = Service(host)
    service.start()
    with paused(cluster.plane):
        os.kill(wait_for(service.passes, "a running pass")[0], signal.SIGSTOP)
        wait_for(lambda: said("a pass did not end within 11 s: killed", service.lines()), "the end of the pass")
    works(cluster)


# -- credentials -----------------------------------------------------------------------------------------------------


def credential_of(plane, mark):
    """Returns what the audit log says of the credential of the last request of the binary since `mark`."""
    events = [event for event in plane.audit_since(mark) if event["userAgent"].startswith("cnpa-op/")]
    return events[-1]["user"].get("extra", {}).get("authentication.kubernetes.io/credential-id") if events else None


def test_a_restart_takes_new_credentials(brisk, cluster, host):
    plane = cluster.plane
    mark = cluster.mark()
    old = wait_for(lambda: credential_of(plane, mark), "a request")
    put_kubeconfig(host, plane.kubeconfig_for("renewed", certificate=plane.issue_client("cnpa-op")))
    brisk.restart()
    mark = cluster.mark()
    assert wait_for(lambda: credential_of(plane, mark), "a request") != old


@long_form
def test_refused_credentials_end_the_service_which_comes_back_with_those_of_the_file(host, cluster):
    plane = cluster.plane
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=45)
    put_kubeconfig(host, plane.kubeconfig_for("short", certificate=plane.issue_client("cnpa-op", not_after=end)))
    service = Service(host)
    service.start()
    works(cluster)
    put_kubeconfig(host, plane.user_kubeconfig)
    wait_for(lambda: service.restarts() == 1, "the end of the service", 400, pause=1)
    wait_for(lambda: said("no longer accepts the credentials", service.lines()), "why it ended")
    assert said(r"status=3/", service.all_lines())
    wait_for(lambda: service.is_active() == "active", "the start")
    works(cluster)


def test_a_service_whose_credentials_are_refused_stays_active_and_says_so_once(host, cluster):
    host.write_file("/etc/rancher/k3s/k3s.yaml", cluster.plane.kubeconfig_for("stranger", token="x").read_text(), 0o600)
    make_brisk(host)
    service = Service(host)
    service.start()
    wait_for(lambda: "3 failed passes" in service.status, "three passes")
    assert service.is_active() == "active"
    errors = [entry for entry in ours(service.journal()) if entry["PRIORITY"] == "3"]
    assert len(errors) == 1
