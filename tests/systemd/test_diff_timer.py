# SPDX-License-Identifier: Apache-2.0
"""The daily dry run: cnpa-op-diff.service and its timer."""

import time

from support import messages, ours

UNIT = "cnpa-op-diff.service"


def test_the_dry_run_fails_and_says_what_differs(host, cluster):
    name = cluster.create_team()
    cursor, mark = host.cursor(), cluster.mark()
    assert host.systemctl("start", UNIT, check=False).returncode != 0
    assert host.is_active(UNIT) == "failed"
    assert f"+ Namespace/team-{name}" in "\n".join(messages(ours(host.journal(UNIT, cursor))))
    assert cluster.writes(mark) == []


def test_the_dry_run_is_fine_when_nothing_differs(host, cluster):
    cluster.converged_team()
    host.systemctl("start", UNIT)
    assert host.is_active(UNIT) == "inactive"
    assert host.show(UNIT, "Result") == "success"


def test_the_dry_run_cannot_read_the_cluster_and_fails_with_3(host, cluster):
    host.write_file("/etc/rancher/k3s/k3s.yaml", cluster.plane.kubeconfig_for(
        "nobody-there", server="https://127.0.0.1:1", token="x").read_text(), 0o600)
    assert host.systemctl("start", UNIT, check=False).returncode != 0
    assert host.show(UNIT, "ExecMainStatus") == "3"


def test_the_timer_starts_the_dry_run_once_a_day(host):
    host.systemctl("enable", "--now", "cnpa-op-diff.timer")
    try:
        next_run = host.show("cnpa-op-diff.timer", "NextElapseUSecRealtime")
        seconds = int(host.run("date", "-d", next_run, "+%s").stdout) - time.time()
        assert 0 < seconds <= 24.5 * 3600
        assert host.show("cnpa-op-diff.timer", "Triggers") == UNIT
    finally:
        host.systemctl("disable", "--now", "cnpa-op-diff.timer")
