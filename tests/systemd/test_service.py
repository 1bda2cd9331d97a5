# SPDX-License-Identifier: Apache-2.0
"""cnpa-op.service on a real systemd: what people see of it from day to day."""

import subprocess
import time

import pytest

from support import (TEAMS, Service, drop_in, messages, ours, put_kubeconfig, said, wait_for, watch_count, without_lingering)

ARCHIVE = "/var/lib/private/cnpa-op/archive"  # where /var/lib/cnpa-op leads with DynamicUser=


def lists(cluster, mark):
    """Returns how many passes have begun since `mark`."""
    return sum(request.verb == "list" and request.path.endswith("/teamspaces") for request in cluster.requests(mark))


# -- the main job ----------------------------------------------------------------------------------------------------


def test_a_new_team_space_has_its_namespace_and_quota_within_seconds(service, cluster):
    begin = time.monotonic()
    name = cluster.create_team(pods=3)
    wait_for(lambda: cluster.quota(name), "a quota")
    assert time.monotonic() - begin < 5
    assert cluster.hard(name) == {"pods": "3", "requests.cpu": "1"}


def test_what_was_changed_by_hand_is_put_right(brisk, cluster):
    name = cluster.create_team(pods=3)
    wait_for(lambda: cluster.ready(name).get("status") == "True", "a Ready TeamSpace")
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "3", "the quota put right")


def test_a_deleted_team_space_is_archived_in_the_state_directory(brisk, cluster, host):
    name = cluster.create_team(pods=3)
    wait_for(lambda: cluster.quota(name), "a quota")
    cluster.delete_team(name)
    wait_for(lambda: cluster.team(name) is None, "the TeamSpace gone")
    mode, owner = host.run("stat", "-c", "%a %U", f"{ARCHIVE}/{name}.json").stdout.split()
    assert (mode, owner) == ("600", "cnpa-op")
    assert f'"{name}"' in host.read_file(f"/var/lib/cnpa-op/archive/{name}.json")


def test_the_service_runs_as_a_user_without_any_right(service, host):
    status = host.read_file(f"/proc/{service.main_pid}/status")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    assert set(fields["Uid"].split()).isdisjoint({"0"})
    assert int(fields["CapBnd"], 16) == int(fields["CapEff"], 16) == 0
    assert fields["NoNewPrivs"].strip() == "1" and fields["Seccomp"].strip() == "2"


def test_the_service_cannot_reach_an_address_that_is_not_allowed(host, cluster):
    drop_in(host, "cnpa-op-diff.service", "nowhere", "[Service]\nIPAddressAllow=\nTimeoutStartSec=30\n"
            "Environment=CNPA_OP_TIMEOUT=3s CNPA_OP_REQUEST_TIMEOUT=1s\n")
    since = host.cursor()
    host.systemctl("start", "cnpa-op-diff.service", check=False)
    assert host.show("cnpa-op-diff.service", "ExecMainStatus") == "3"
    assert said("cannot reach", messages(ours(host.journal("cnpa-op-diff.service", since))))


# -- what systemctl says ---------------------------------------------------------------------------------------------


def test_the_service_is_active_at_any_moment(service, cluster, host):
    poll = "for i in $(seq 120); do systemctl is-active cnpa-op; sleep 0.05; done"
    polling = subprocess.Popen(["nsenter", "-t", str(host.leader), "-a", "sh", "-c", poll], stdout=subprocess.PIPE,
                               text=True)
    mark = cluster.mark()
    first, second = cluster.create_team(), cluster.create_team()
    wait_for(lambda: cluster.quota(first) and cluster.quota(second), "quotas")
    cluster.delete_team(first)
    wait_for(lambda: cluster.team(first) is None, "the TeamSpace gone")
    answers = polling.communicate(timeout=60)[0].split()
    assert answers == ["active"] * 120
    assert lists(cluster, mark) >= 2


def test_the_status_says_what_the_last_pass_saw(brisk, cluster, host):
    name = cluster.create_team()
    wait_for(lambda: cluster.ready(name).get("status") == "True", "a Ready TeamSpace")
    wait_for(lambda: brisk.status == "1 team space in sync", "the STATUS of a quiet pass")
    assert 'Status: "1 team space in sync"' in brisk.systemctl("status").stdout


def test_the_status_says_how_many_team_spaces_are_refused(brisk, cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    wait_for(lambda: "1 refused" in brisk.status, "the STATUS of a refusal")


def test_the_supervisor_has_the_name_of_the_program(service):
    assert list(service.processes().values())[0] == "cnpa-op"


# -- the journal -----------------------------------------------------------------------------------------------------


def test_a_quiet_time_leaves_no_line_in_the_journal(service, cluster):
    name = cluster.create_team()
    wait_for(lambda: cluster.ready(name).get("status") == "True", "a Ready TeamSpace")
    time.sleep(1)
    service.mark()
    mark = cluster.mark()
    time.sleep(20)
    assert service.all_lines() == []
    assert 1 <= lists(cluster, mark) <= 2, "a pass after the one that wrote, and then it sleeps"
    assert cluster.writes(mark) == []


def test_what_is_changed_by_hand_wakes_it(service, cluster):
    mark = cluster.mark()
    name = cluster.create_team(pods=3)
    for pods in ("98", "99"):
        wait_for(lambda: cluster.quota(name) and cluster.hard(name)["pods"] == "3", "the quota as it should be")
        # Woken, it lists by name; that it sleeps again is seen in the watches.
        seen = watch_count(cluster, mark)
        wait_for(lambda: watch_count(cluster, mark) >= seen + 3, "it watches")
        cluster.patch_quota(name, {"pods": pods})
    wait_for(lambda: cluster.hard(name)["pods"] == "3", "the quota put right")


def test_a_quiet_time_without_lingering_leaves_no_line_either(host, service, cluster):
    without_lingering(host)
    service.restart()
    wait_for(lambda: "no team spaces" in service.status or service.status.endswith("in sync"), "the first pass")
    service.mark()
    mark = cluster.mark()
    time.sleep(10)
    assert service.all_lines() == []
    assert lists(cluster, mark) >= 3


def test_lines_of_a_pass_are_found_by_the_team_space(brisk, cluster, host):
    name, other = cluster.create_team(), cluster.create_team()
    wait_for(lambda: cluster.ready(other).get("status") == "True", "Ready TeamSpaces")
    wait_for(lambda: cluster.ready(name).get("status") == "True", "Ready TeamSpaces")
    time.sleep(0.5)
    found = host.journal("cnpa-op.service", brisk.since, f"CNPA_OP_TEAM_SPACE={name}")
    assert [entry["CNPA_OP_OBJECT"] for entry in found] == [
        f"TeamSpace/{name}", f"Namespace/team-{name}", f"ResourceQuota/team-{name}/team-quota", f"TeamSpace/{name}"]
    assert not said(other, messages(found))


def test_a_line_of_a_change_says_its_reason_for_machines(brisk, cluster, host):
    name = cluster.create_team()
    wait_for(lambda: cluster.ready(name).get("status") == "True", "a Ready TeamSpace")
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "4", "the quota put right")
    time.sleep(0.5)
    entry = next(entry for entry in brisk.journal() if "99 -> 4" in entry["MESSAGE"])
    assert entry["CNPA_OP_REASON"]
    assert entry["CNPA_OP_OBJECT"] == f"ResourceQuota/team-{name}/team-quota"


def test_a_change_is_of_priority_info(brisk, cluster):
    name = cluster.create_team()
    wait_for(lambda: cluster.ready(name).get("status") == "True", "a Ready TeamSpace")
    time.sleep(0.5)
    assert {entry["PRIORITY"] for entry in ours(brisk.journal())} == {"6"}


def test_a_refusal_is_said_once_as_an_error_and_once_when_it_is_over(brisk, cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    wait_for(lambda: cluster.ready(name).get("reason") == "NamespaceConflict", "the refusal")
    mark = cluster.mark()
    wait_for(lambda: lists(cluster, mark) >= 3, "some passes")
    refused, = (entry for entry in ours(brisk.journal()) if entry["MESSAGE"].startswith("! "))
    assert int(refused["PRIORITY"]) <= 4
    assert refused["CNPA_OP_TEAM_SPACE"] == name and refused["CNPA_OP_REASON"] == "NamespaceConflict"
    brisk.mark()
    cluster.patch_namespace(name, {"metadata": {"labels": {"platform.labhub.io/teamspace": name}}})
    wait_for(lambda: said("over after", brisk.lines()), "the line that it is over")
    over, = (entry for entry in ours(brisk.journal()) if "over after" in entry["MESSAGE"])
    assert over["PRIORITY"] == "6" and over["CNPA_OP_TEAM_SPACE"] == name


# -- stop, start, reload ---------------------------------------------------------------------------------------------


def test_a_stop_in_the_midst_of_many_writes_is_short_and_no_failure(service, cluster):
    def done():
        items = cluster.api("GET", TEAMS)["items"]
        return sum(item.get("status", {}).get("observedGeneration") == 1 for item in items)

    service.stop()
    names = cluster.create_teams([cluster.new_name() for _ in range(200)])
    mark = cluster.mark()
    service.start()
    wait_for(lambda: len(cluster.writes(mark)) >= 20, "writes")
    begin = time.monotonic()
    service.stop()
    assert time.monotonic() - begin < 6
    assert done() < len(names), "all was done before the stop"
    assert service.is_active() == "inactive"
    assert service.show("Result") == "success" and service.show("ExecMainStatus") == "0"
    assert [entry["MESSAGE"] for entry in service.journal() if int(entry["PRIORITY"]) < 5] == []
    service.start()
    wait_for(lambda: done() == len(names), f"{len(names)} team spaces after the next start", 60)
    # The service is quicker at it than the fixture.
    cluster.kubectl("delete", "teamspaces", "--all", "--wait=false")
    wait_for(lambda: not cluster.api("GET", TEAMS)["items"], "no TeamSpace", 60)


def test_what_changed_while_it_was_stopped_is_done_at_the_next_start(brisk, cluster):
    name = cluster.create_team(pods=3)
    wait_for(lambda: cluster.quota(name), "a quota")
    brisk.stop()
    cluster.patch_team(name, {"spec": {"pods": 8}})
    brisk.start()
    wait_for(lambda: cluster.hard(name)["pods"] == "8", "the quota")


@pytest.fixture
def config(host):
    """Writes /etc/cnpa-op/config.yaml; it is gone after the test."""
    yield lambda text: host.write_file("/etc/cnpa-op/config.yaml", text)
    host.run("rm", "-rf", "/etc/cnpa-op")


def test_a_reload_is_followed_by_a_pass_at_once(host, service, cluster, config):
    without_lingering(host)
    config("interval: 1h\n")
    service.restart()
    wait_for(lambda: service.status.endswith("in sync") or "no team spaces" in service.status, "the first pass")
    name = cluster.create_team()
    time.sleep(4)
    assert cluster.quota(name) is None
    service.systemctl("reload")
    wait_for(lambda: cluster.quota(name), "a quota", 2)


def test_a_reload_takes_a_changed_configuration(host, service, cluster, config):
    without_lingering(host)
    service.restart()
    config("interval: 200ms\n")
    pid = service.main_pid
    service.systemctl("reload")
    mark = cluster.mark()
    wait_for(lambda: lists(cluster, mark) >= 6, "passes at a shorter interval", 12)
    assert service.main_pid == pid


def test_a_reload_names_what_is_wrong_and_keeps_what_was(host, service, cluster, config):
    without_lingering(host)
    service.restart()
    config("interval: 200ms\n")
    service.systemctl("reload")
    service.mark()
    config("timeout: 30s\ninterval: soon\n")
    assert service.systemctl("reload", check=False).returncode != 0
    assert service.is_active() == "active"
    wait_for(lambda: said(r"/etc/cnpa-op/config\.yaml:2: interval", service.lines()), "the place of what is wrong")
    mark = cluster.mark()
    wait_for(lambda: lists(cluster, mark) >= 6, "passes at the old interval", 12)


def test_a_start_with_a_broken_configuration_says_where(host, cluster, config):
    config("interval: soon\n")
    service = Service(host)
    assert service.systemctl("start", check=False).returncode != 0
    wait_for(lambda: said(r"/etc/cnpa-op/config\.yaml:1", service.lines()), "the place of what is wrong")
    assert service.show("ExecMainStatus") == "2"
    assert service.show("ActiveState") == "failed", "and not started again"
    assert "/etc/cnpa-op/config.yaml:1" in service.show("StatusText")


def test_a_start_without_k3s_waits_for_its_kubeconfig(host):
    kubeconfig = host.run("cat", "/etc/rancher/k3s/k3s.yaml").stdout
    host.run("rm", "-rf", "/etc/rancher")
    service = Service(host)
    service.systemctl("start", check=False)
    assert "243/CREDENTIALS" in host.run("systemctl", "status", "cnpa-op.service", check=False).stdout
    host.write_file("/etc/rancher/k3s/k3s.yaml", kubeconfig)
    wait_for(lambda: service.is_active() == "active", "it starts by itself", 30)


# -- another machine, another cluster --------------------------------------------------------------------------------


def test_the_service_runs_again_after_a_reboot(brisk, cluster, host):
    name, gone = cluster.create_team(), cluster.create_team()
    wait_for(lambda: cluster.quota(name) and cluster.quota(gone), "quotas")
    cluster.delete_team(gone)
    wait_for(lambda: cluster.team(gone) is None, "the TeamSpace gone")
    brisk.systemctl("enable")
    try:
        host.reboot()
        assert brisk.is_active() == "active"
        cluster.patch_quota(name, {"pods": "99"})
        wait_for(lambda: cluster.hard(name)["pods"] == "4", "the quota put right")
        assert host.path(f"{ARCHIVE}/{gone}.json").exists()
        later = cluster.create_team()
        wait_for(lambda: cluster.quota(later), "a quota")
        cluster.delete_team(later)
        wait_for(lambda: cluster.team(later) is None, "the TeamSpace gone")
    finally:
        brisk.systemctl("disable")


def test_a_second_cluster_is_served_beside_the_first(service, cluster, host, config):
    put_kubeconfig(host, cluster.plane.user_kubeconfig, "/etc/cnpa-op/paris.kubeconfig")
    name = cluster.new_name("paris")
    host.write_file("/etc/cnpa-op/paris.env", f"CNPA_OP_ONLY={name}\nCNPA_OP_INTERVAL=300ms\n")
    service.stop()
    paris = Service(host, "cnpa-op@paris.service")
    paris.start()
    service.start()
    assert (service.is_active(), paris.is_active()) == ("active", "active")
    service.stop()
    cluster.create_team(name)
    other = cluster.create_team()
    wait_for(lambda: cluster.quota(name), "a quota of paris")
    cluster.delete_team(name)
    wait_for(lambda: cluster.team(name) is None, "the TeamSpace gone")
    assert host.path(f"/var/lib/private/cnpa-op-paris/archive/{name}.json").exists()
    assert cluster.quota(other) is None


def test_a_kubeconfig_with_relative_paths_is_refused_with_the_way_out(host, plane, cluster):
    text = plane.kubeconfig_for("relative", certificate=plane.issue_client("cnpa-op"), inline=False).read_text()
    host.write_file("/etc/rancher/k3s/k3s.yaml", text.replace(f"{plane.folder}/", ""), 0o600)
    service = Service(host)
    service.systemctl("start", check=False)
    wait_for(lambda: said(r"kubectl config view .*--flatten", service.lines()), "the way out is told")
