# SPDX-License-Identifier: Apache-2.0
"""Many TeamSpaces at once: $CNPA_OP_TEST_SCALE of them, by default 200."""

import os
import signal

import pytest

from harness import CRD, FINALIZER, LABEL, NAMESPACES, TEAMS, said

SCALE = int(os.environ.get("CNPA_OP_TEST_SCALE", "200"))
WRITES_EACH = 4


@pytest.fixture
def released(cluster):
    """Has all TeamSpaces deleted by a pass in the end, which is much faster than one by one."""
    yield
    cluster.api("DELETE", TEAMS)
    cluster.once(timeout=300)


def create_many(cluster, count=SCALE):
    return cluster.create_teams([cluster.new_name("many") for _ in range(count)])


def check_all_converged(cluster, names):
    """Checks every one of `names` by whole lists, not one by one."""
    teams = {item["metadata"]["name"]: item for item in cluster.api("GET", TEAMS)["items"]}
    spaces = {item["metadata"]["name"]: item for item in cluster.api("GET", NAMESPACES)["items"]}
    quotas = {item["metadata"]["namespace"]: item for item in cluster.api("GET", "/api/v1/resourcequotas")["items"]}
    assert sorted(teams) == sorted(names)
    for name, team in teams.items():
        space = spaces[f"team-{name}"]["metadata"]
        assert team["metadata"]["finalizers"] == [FINALIZER]
        assert team["status"]["observedGeneration"] == 1
        assert team["status"]["conditions"][0]["status"] == "True"
        assert space["labels"][LABEL] == name
        assert [owner["uid"] for owner in space["ownerReferences"]] == [team["metadata"]["uid"]]
        assert quotas[f"team-{name}"]["spec"]["hard"] == {"pods": str(team["spec"]["pods"]), "requests.cpu": "1"}


@pytest.mark.usefixtures("released")
def test_one_pass_brings_them_all_with_four_writes_each_and_the_next_sends_no_write(cluster):
    names = create_many(cluster)
    first = cluster.once(timeout=300)
    assert first.code == 0, first.stderr[-2000:]
    check_all_converged(cluster, names)
    assert len(first.writes) == WRITES_EACH * SCALE
    assert all(request.code in (200, 201) for request in first.requests)
    # Three lists, and the CRD where there is a TeamSpace without status; then nothing but writes.
    reads = [str(request) for request in first.requests if not request.is_write]
    assert sorted(set(reads) - {f"get {CRD}"}) == [f"list {NAMESPACES}", "list /api/v1/resourcequotas", f"list {TEAMS}"]
    assert len(reads) <= 4
    assert [str(request) for request in first.requests[:len(reads)]] == reads
    assert said(rf"^{SCALE} team spaces: {SCALE} created; {WRITES_EACH * SCALE} writes in ", first.lines[-1:])

    second = cluster.once()
    assert (second.code, second.writes, second.stderr) == (0, [], "")
    assert len(second.requests) == 3


def test_one_pass_archives_and_releases_them_all_with_one_write_each(cluster):
    names = create_many(cluster)
    cluster.converge("--timeout=300s")
    cluster.api("DELETE", TEAMS)
    result = cluster.once(timeout=300)
    assert result.code == 0, result.stderr[-2000:]
    assert sorted(result.writes) == sorted(f"patch {TEAMS}/{name}" for name in names)
    assert cluster.archives() == sorted(f"{name}.json" for name in names)
    assert cluster.api("GET", TEAMS)["items"] == []


@pytest.mark.usefixtures("released")
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9], ids=lambda share: f"{share:.0%}-done")
def test_pass_after_one_that_was_killed_in_the_middle_completes_it(cluster, share):
    count = SCALE // 2
    names = create_many(cluster, count)
    with cluster.started("reconcile", "--once") as started:
        started.wait_for_writes(int(WRITES_EACH * count * share))
        killed = started.kill()
    assert killed.code == -signal.SIGKILL
    assert cluster.once(timeout=300).code == 0
    check_all_converged(cluster, names)
    assert cluster.once().writes == []
