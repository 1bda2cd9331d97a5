# SPDX-License-Identifier: Apache-2.0
"""What must hold whatever happened between two passes (contract, section 3)."""

import pytest

from harness import FINALIZER, LABEL, NAMESPACES, TEAMS, said


def remove_finalizer(cluster, name):
    cluster.patch_team(name, {"metadata": {"finalizers": None}})


def delete_quota(cluster, name):
    cluster.api("DELETE", cluster.quota_path(name))


def raise_pods(cluster, name):
    cluster.patch_quota(name, {"pods": "99"})


def change_cpu(cluster, name):
    cluster.patch_quota(name, {"requests.cpu": "64"})


def remove_cpu(cluster, name):
    cluster.patch_quota(name, {"requests.cpu": None})


def add_key(cluster, name):
    cluster.patch_quota(name, {"configmaps": "1"})


def empty_quota(cluster, name):
    cluster.patch_quota(name, None)


def remove_label(cluster, name):
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: None}}})


def change_label(cluster, name):
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: "somebody-else"}}})


def remove_owner(cluster, name):
    cluster.patch_namespace(name, {"metadata": {"ownerReferences": None}})


def spoil_owner(cluster, name):
    cluster.patch_namespace(name, {"metadata": {"ownerReferences": [
        cluster.owner_reference(name) | {"apiVersion": "platform.labhub.io/v1beta1"}]}})


def lower_observed_generation(cluster, name):
    cluster.patch(f"{TEAMS}/{name}/status", {"status": {"observedGeneration": 0}})


def change_status_namespace(cluster, name):
    cluster.patch(f"{TEAMS}/{name}/status", {"status": {"namespace": "elsewhere"}})


def remove_conditions(cluster, name):
    cluster.patch(f"{TEAMS}/{name}/status", {"status": {"conditions": None}})


def remove_status(cluster, name):
    cluster.patch(f"{TEAMS}/{name}/status", {"status": None})


DRIFTS = [remove_finalizer, delete_quota, raise_pods, change_cpu, remove_cpu, add_key, empty_quota, remove_label,
          change_label, remove_owner, spoil_owner, lower_observed_generation, change_status_namespace,
          remove_conditions, remove_status]


def look(cluster, name):
    """Returns what the contract says of a team space, apart from uids and times."""
    team, space = cluster.team(name), cluster.namespace(name)["metadata"]
    ready = {key: value for key, value in cluster.ready(name).items() if key != "lastTransitionTime"}
    return {
        "finalizers": team["metadata"]["finalizers"],
        "label": space["labels"].get(LABEL),
        "owners": space["ownerReferences"],
        "hard": cluster.hard(name),
        "observedGeneration": team["status"]["observedGeneration"],
        "namespace": team["status"]["namespace"],
        "ready": ready,
    }


@pytest.mark.parametrize("drift", DRIFTS, ids=lambda drift: drift.__name__)
def test_drift_is_repaired_in_one_write(cluster, drift):
    name = cluster.converged_team(pods=6)
    before = look(cluster, name)
    drift(cluster, name)
    result = cluster.once()
    assert result.code == 0, result
    assert look(cluster, name) == before
    assert len(result.writes) == 1, result.writes
    assert cluster.once().writes == []


def test_quota_deleted_by_hand_is_made_anew_with_a_new_uid(cluster):
    name = cluster.converged_team()
    uid = cluster.quota(name)["metadata"]["uid"]
    delete_quota(cluster, name)
    cluster.converge()
    assert cluster.quota(name)["metadata"]["uid"] != uid


def test_namespace_deleted_by_hand_is_made_anew_once_it_is_gone(cluster):
    name = cluster.converged_team()
    uid = cluster.namespace(name)["metadata"]["uid"]
    cluster.api("DELETE", f"{NAMESPACES}/team-{name}")
    waiting = cluster.once()
    assert waiting.code == 1
    assert cluster.ready(name)["reason"] == "NamespaceTerminating"
    cluster.wait_gone(name)
    cluster.converge()
    assert cluster.namespace(name)["metadata"]["uid"] != uid
    assert cluster.hard(name) == {"pods": "4", "requests.cpu": "1"}
    assert cluster.ready(name)["status"] == "True"


def test_spec_changed_while_nothing_ran_is_caught_up(cluster):
    name = cluster.converged_team(pods=6)
    cluster.patch_team(name, {"spec": {"pods": 8}})
    team = cluster.team(name)
    assert (team["metadata"]["generation"], team["status"]["observedGeneration"]) == (2, 1)
    assert cluster.hard(name)["pods"] == "6"
    cluster.converge()
    assert cluster.hard(name)["pods"] == "8"
    assert cluster.team(name)["status"]["observedGeneration"] == 2


def test_many_changes_missed_are_one_repair(cluster):
    name = cluster.converged_team(pods=6)
    for pods in (7, 8, 9):
        cluster.patch_team(name, {"spec": {"pods": pods}})
        cluster.patch_quota(name, {"pods": str(90 + pods), "configmaps": str(pods)})
    assert cluster.converge().writes == [f"patch {cluster.quota_path(name)}", f"patch {TEAMS}/{name}/status"]
    assert cluster.hard(name) == {"pods": "9", "requests.cpu": "1"}


def test_change_that_was_taken_back_is_no_difference(cluster):
    name = cluster.converged_team(pods=6)
    cluster.patch_quota(name, {"pods": "99"})
    cluster.patch_quota(name, {"pods": "6"})
    cluster.patch_team(name, {"metadata": {"labels": {"owner": "platform"}}})
    assert cluster.once().writes == []


def test_repair_tells_who_changed_it_last(cluster):
    name = cluster.converged_team(pods=6)
    cluster.kubectl("patch", "resourcequota", "team-quota", "-n", f"team-{name}", "--type=merge",
                    "-p", '{"spec":{"hard":{"pods":"99"}}}')
    line = rf"^~ ResourceQuota/team-{name}/team-quota +pods 99 -> 6: was changed by kubectl-patch, \d+s ago$"
    assert said(line, cluster.diff().stdout)
    assert said(line, cluster.converge().lines)


def test_changed_label_tells_who_changed_it_last(cluster):
    name = cluster.converged_team()
    cluster.kubectl("label", "namespace", f"team-{name}", "--overwrite", f"{LABEL}=other")
    assert said(rf"^~ Namespace/team-{name} .*{LABEL} other -> {name}: was changed by kubectl-label",
                cluster.diff().stdout)


def test_converged_cluster_gets_no_write_at_all(cluster):
    for pods in (1, 2, 3):
        cluster.create_team(pods=pods)
    cluster.converge()
    for _ in range(2):
        result = cluster.once()
        assert (result.code, result.writes, result.stderr) == (0, [], "")


def test_cluster_with_a_team_space_refused_for_a_lasting_reason_gets_no_write_at_all(cluster):
    refused = cluster.new_name()
    cluster.create_namespace(refused)
    cluster.create_team(refused)
    cluster.create_team()
    assert cluster.once().code == 1
    again = cluster.once()
    assert again.code == 1
    assert again.writes == []
    assert said(rf"! TeamSpace/{refused} ", again.lines)  # it is named every time


def test_one_bad_team_space_stops_nobody_else(cluster):
    bad = cluster.new_name("b")
    cluster.create_namespace(bad)
    good = [cluster.create_team(cluster.new_name(stem)) for stem in ("a", "c")]
    cluster.create_team(bad)
    result = cluster.once("--concurrency=1")
    assert result.code == 1
    for name in good:
        assert cluster.ready(name)["status"] == "True"
    assert cluster.ready(bad)["reason"] == "NamespaceConflict"
    assert said(r"3 team spaces: 2 created, .*1 refused", result.lines[-1:])


def test_failed_step_stops_only_the_later_steps_of_its_own_team_space(cluster):
    # The quota of this team can't be made, since its namespace, which looks alive in the lists, ends meanwhile.
    drifted = [cluster.create_team(cluster.new_name("a")) for _ in range(8)]
    cluster.converge()
    for team in drifted:
        cluster.patch_quota(team, {"pods": "99"})
    name = cluster.create_team(cluster.new_name("z"))
    other = cluster.create_team(cluster.new_name("zz"))
    cluster.create_namespace(name, labels={LABEL: name}, finalizers=["example.com/hold"])
    with cluster.paused_pass() as paused:
        cluster.api("DELETE", f"{NAMESPACES}/team-{name}")
    assert paused.result.code == 1
    assert cluster.quota(name) is None
    assert "observedGeneration" not in cluster.team(name).get("status", {})
    assert FINALIZER in cluster.team(name)["metadata"]["finalizers"]
    assert cluster.ready(other)["status"] == "True"
    assert cluster.ready(name)["reason"] == "NamespaceTerminating"


def test_events_of_the_past_do_not_matter_only_what_is_there(cluster):
    name = cluster.converged_team(pods=6)
    delete_quota(cluster, name)
    cluster.api("POST", f"{NAMESPACES}/team-{name}/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
        "spec": {"hard": {"pods": "6", "requests.cpu": "1000m"}}})
    assert cluster.once().writes == []  # made by another, but as it should be
