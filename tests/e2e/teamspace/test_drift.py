# SPDX-License-Identifier: Apache-2.0
"""What must hold whatever happened between two passes (contract, section 3)."""

import json
import re
import time

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


NOBODY_KNOWS = "was removed, the server does not say by whom"


def lines_of_both(cluster):
    """Returns what --diff says, after a look that a pass says the same, but for the width of its columns."""
    planned = [line for line in cluster.diff().stdout.splitlines() if line[0] in "+~-"]
    done = [line for line in cluster.converge().lines if line[0] in "+~-"]
    other = re.compile(r"\d+s ago| +")
    assert [other.sub(" ", line) for line in planned] == [other.sub(" ", line) for line in done]
    return planned


def in_another_second():
    """Waits until the server's clock shows another second than it did at the last write."""
    time.sleep(1.1)


def test_server_side_apply_is_told_from_an_update(cluster):
    name = cluster.converged_team(pods=6)
    manifest = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
                "spec": {"hard": {"pods": "99"}}}
    cluster.kubectl("apply", "-n", f"team-{name}", "--server-side", "--force-conflicts", "-f", "-",
                    input=json.dumps(manifest))
    assert said(r"pods 99 -> 6: was changed by kubectl \(server-side apply\), \d+s ago$", lines_of_both(cluster))


def test_writer_of_a_status_is_told(cluster):
    name = cluster.converged_team()
    cluster.kubectl("patch", "teamspace", name, "--subresource=status", "--type=merge",
                    "-p", '{"status":{"observedGeneration":0}}')
    assert said(r"status: observedGeneration 0 -> 1: was changed by kubectl-patch, \d+s ago$", lines_of_both(cluster))


def test_who_spoils_an_owner_reference_is_told(cluster):
    name = cluster.converged_team()
    spoil_owner(cluster, name)
    assert said(r"ownerReference platform.labhub.io/v1beta1 TeamSpace/\S+ -> "
                r"platform.labhub.io/v1alpha1 TeamSpace/\S+: was changed by \S+, \d+s ago$", lines_of_both(cluster))


def test_who_set_scopes_is_told(cluster):
    name = cluster.converged_team()
    delete_quota(cluster, name)
    cluster.kubectl("create", "quota", "team-quota", "-n", f"team-{name}", "--hard=pods=4", "--scopes=BestEffort")
    assert said(r"^- ResourceQuota/\S+ +has scopes, .*: were set by kubectl-create, \d+s ago$", lines_of_both(cluster))


@pytest.mark.parametrize("removal", [remove_label, remove_owner, remove_cpu, remove_finalizer],
                         ids=lambda removal: removal.__name__)
def test_of_what_was_removed_only_that_is_said(cluster, removal):
    # The quota's controller writes its status meanwhile: that can't have removed anything.
    name = cluster.converged_team()
    in_another_second()
    removal(cluster, name)
    assert said(NOBODY_KNOWS + "$", lines_of_both(cluster))


def test_who_wrote_an_object_since_is_told_of_what_was_removed_from_it(cluster):
    name = cluster.converged_team()
    in_another_second()
    cluster.kubectl("annotate", "namespace", f"team-{name}", "owner=platform")
    cluster.kubectl("label", "namespace", f"team-{name}", f"{LABEL}-")
    cluster.kubectl("patch", "resourcequota", "team-quota", "-n", f"team-{name}", "--type=merge",
                    "-p", '{"spec":{"hard":{"pods":null,"configmaps":"1"}}}')
    cluster.kubectl("patch", "teamspace", name, "--type=merge",
                    "-p", '{"metadata":{"finalizers":["example.com/hold"]}}')
    lines = lines_of_both(cluster)
    assert said(rf"label {LABEL} none -> {name}: {NOBODY_KNOWS}; "
                r"after us kubectl-annotate \(\d+s ago\) wrote this object$", lines)
    assert said(rf"pods none -> 4: {NOBODY_KNOWS}; after us kubectl-patch \(\d+s ago\) wrote this object, "
                r"configmaps 1 -> none: was changed by kubectl-patch, \d+s ago$", lines)
    assert said(rf"finalizer \S+ added: {NOBODY_KNOWS}; after us kubectl-patch \(\d+s ago\) wrote this object$", lines)


def test_what_was_removed_from_a_status_is_told(cluster):
    name = cluster.converged_team()
    in_another_second()
    cluster.patch(f"{TEAMS}/{name}/status", {"status": {"namespace": None, "observedGeneration": 0}})
    assert said(rf"status: observedGeneration 0 -> 1: was changed by \S+, \d+s ago, namespace none -> team-{name}: "
                rf"{NOBODY_KNOWS}; after us \S+ \(\d+s ago\) wrote this status$", lines_of_both(cluster))


def test_of_a_namespace_that_another_made_nothing_is_called_removed(cluster):
    name = cluster.new_name()
    cluster.kubectl("create", "namespace", f"team-{name}")
    cluster.kubectl("label", "namespace", f"team-{name}", f"{LABEL}={name}")
    cluster.create_team(name)
    adopted, = said("^~ Namespace/", lines_of_both(cluster))
    assert re.search(r"ownerReference none -> \S+: is missing; no write of ours is left on this object, "
                     r"kubectl-label \(\d+s ago\) and kubectl-create \(\d+s ago\) wrote it$", adopted) \
        or re.search(r"kubectl-create \(\d+s ago\) and kubectl-label \(\d+s ago\) wrote it$", adopted)


def test_of_a_new_team_space_nothing_is_called_missing(cluster):
    cluster.create_team()
    assert not said("missing|removed|changed by", lines_of_both(cluster))


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
