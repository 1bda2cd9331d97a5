# SPDX-License-Identifier: Apache-2.0
"""Quotas are compared by value and made exactly what the spec says (contract, section 4)."""

import pytest

from harness import NAMESPACES, said

CASES = [
    ("0.5", "500m"),
    ("500m", "0.5"),
    ("1000m", "1"),
    ("1", "1000m"),
    ("1.0", "1"),
    ("2000", "2k"),
    ("2k", "2000"),
    ("1e3", "1000"),
    ("0.250", "250m"),
    ("1.250", "1250m"),
]


def recreate_quota(cluster, name, **spec):
    cluster.api("DELETE", cluster.quota_path(name), allow=(404,))
    return cluster.api("POST", f"{NAMESPACES}/team-{name}/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"}, "spec": spec})


@pytest.mark.parametrize("asked, typed", CASES, ids=lambda text: text)
def test_equal_quantities_are_no_difference_however_they_are_written(cluster, asked, typed):
    name = cluster.converged_team(cpu=asked)
    assert cluster.once().writes == []
    recreate_quota(cluster, name, hard={"pods": "4", "requests.cpu": typed})
    result = cluster.once()
    assert (result.code, result.writes) == (0, [])


@pytest.mark.parametrize("asked, other", [("1", "1001m"), ("1", "999m"), ("2k", "2001"), ("0.5", "5")])
def test_unequal_quantities_are_repaired(cluster, asked, other):
    name = cluster.converged_team(cpu=asked)
    stored = cluster.hard(name)
    cluster.patch_quota(name, {"requests.cpu": other})
    assert len(cluster.converge().writes) == 1
    assert cluster.hard(name) == stored


@pytest.mark.parametrize("asked, stored", [("0.0001", "1m"), ("0.0015", "2m"), ("1.0001", "1001m")])
def test_value_that_the_server_rounds_up_is_not_rewritten_for_ever(cluster, asked, stored):
    name = cluster.converged_team(cpu=asked)
    assert cluster.hard(name)["requests.cpu"] == stored
    assert cluster.once().writes == []
    assert cluster.ready(name)["status"] == "True"


def test_changing_the_text_of_the_spec_but_not_its_value_writes_the_status_alone(cluster):
    name = cluster.converged_team(cpu="1")
    cluster.patch_team(name, {"spec": {"cpu": "1000m"}})
    result = cluster.converge()
    assert [write.partition(" ")[2].rpartition("/")[2] for write in result.writes] == ["status"]
    assert cluster.team(name)["status"]["observedGeneration"] == 2


def test_extra_keys_of_hard_are_removed(cluster):
    name = cluster.converged_team()
    cluster.patch_quota(name, {"limits.memory": "1Gi", "configmaps": "5"})
    assert len(cluster.converge().writes) == 1
    assert cluster.hard(name) == {"pods": "4", "requests.cpu": "1"}


@pytest.mark.parametrize("spec", [
    {"scopes": ["BestEffort"], "hard": {"pods": "4"}},
    {"scopes": ["NotTerminating"], "hard": {"pods": "4", "requests.cpu": "1"}},
    {"scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["high"]}]},
     "hard": {"pods": "4", "requests.cpu": "1"}},
], ids=["best-effort", "same-hard", "scope-selector"])
def test_quota_made_anew_by_hand_with_scopes_is_deleted_and_created(cluster, spec):
    name = cluster.converged_team()
    scoped = recreate_quota(cluster, name, **spec)
    result = cluster.converge()
    assert result.writes == [f"delete {cluster.quota_path(name)}",
                             f"create {NAMESPACES}/team-{name}/resourcequotas"]
    quota = cluster.quota(name)
    assert quota["metadata"]["uid"] != scoped["metadata"]["uid"]
    assert quota["spec"] == {"hard": {"pods": "4", "requests.cpu": "1"}}
    assert cluster.once().writes == []


HOLD = "billing.example.com/hold"


def hold(cluster, name, finalizers):
    cluster.api("PATCH", cluster.quota_path(name), {"metadata": {"finalizers": finalizers}},
                content_type="application/merge-patch+json")


def test_quota_with_scopes_that_a_finalizer_holds_is_waited_for_without_a_write(cluster):
    name = cluster.converged_team()
    recreate_quota(cluster, name, scopes=["BestEffort"], hard={"pods": "4"})
    hold(cluster, name, [HOLD])
    first = cluster.once()
    assert [write.split(" ")[0] for write in first.writes] == ["delete", "patch"]  # Of the quota, and of the status.
    ready = cluster.ready(name)
    assert (ready["status"], ready["reason"]) == ("False", "QuotaRefused")
    assert f"ResourceQuota team-{name}/team-quota has scopes (BestEffort) and is being deleted" in ready["message"]
    assert f"'{HOLD}'" in ready["message"]
    for _ in range(2):
        again = cluster.once()
        assert (again.code, again.writes) == (1, [])
        assert said("QuotaRefused: ResourceQuota", again.lines) and not said("NamespaceTerminating", again.lines)
    hold(cluster, name, None)
    cluster.converge()
    assert cluster.hard(name) == {"pods": "4", "requests.cpu": "1"}
    assert cluster.ready(name)["status"] == "True"


def test_quota_without_scopes_that_a_finalizer_holds_binds_and_is_kept_right_until_it_is_gone(cluster):
    name = cluster.converged_team()
    hold(cluster, name, [HOLD])
    cluster.api("DELETE", cluster.quota_path(name))
    assert "deletionTimestamp" in cluster.quota(name)["metadata"]
    assert (cluster.once().code, cluster.once().writes) == (0, [])
    cluster.patch_quota(name, {"pods": "99"})
    assert len(cluster.converge().writes) == 1
    assert cluster.hard(name)["pods"] == "4"
    hold(cluster, name, None)
    assert cluster.quota(name) is None
    cluster.converge()
    assert cluster.hard(name) == {"pods": "4", "requests.cpu": "1"}


def test_quota_made_anew_by_hand_with_the_right_values_is_left_alone(cluster):
    name = cluster.converged_team(pods=6)
    uid = recreate_quota(cluster, name, hard={"pods": "6", "requests.cpu": "1"})["metadata"]["uid"]
    assert cluster.once().writes == []
    assert cluster.quota(name)["metadata"]["uid"] == uid


def test_quota_made_anew_by_hand_with_other_values_is_repaired_in_place(cluster):
    name = cluster.converged_team(pods=6)
    uid = recreate_quota(cluster, name, hard={"pods": "99"})["metadata"]["uid"]
    cluster.converge()
    assert cluster.hard(name) == {"pods": "6", "requests.cpu": "1"}
    assert cluster.quota(name)["metadata"]["uid"] == uid
