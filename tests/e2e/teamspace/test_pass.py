# SPDX-License-Identifier: Apache-2.0
"""What one pass does to a live TeamSpace, in which order, and what its status says (contract, section 2)."""

import os

import pytest

from harness import FINALIZER, LABEL, NAMESPACES, TEAMS, refusing_policy, run_binary, said, wait_for

LONG = os.environ.get("CNPA_OP_TEST_LONG") == "1"

LONG_AGO = "2020-01-01T00:00:00Z"


@pytest.fixture
def refused_quota(cluster):
    """The name of a team whose quota an admission policy of somebody else refuses."""
    name = cluster.new_name("refused")
    cluster.create_team(name)
    cluster.create_namespace(name, labels={LABEL: name})
    quota = {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "probe"},
             "spec": {"hard": {"pods": "1"}}}
    with refusing_policy(cluster, "resourcequotas", f"object.metadata.namespace != 'team-{name}'",
                         "no quota for this team", f"{NAMESPACES}/team-{name}/resourcequotas", quota):
        yield name


def test_pass_writes_finalizer_namespace_quota_and_status_in_this_order(cluster):
    name = cluster.create_team()
    assert cluster.converge().writes == [
        f"patch {TEAMS}/{name}",
        f"create {NAMESPACES}",
        f"create {NAMESPACES}/team-{name}/resourcequotas",
        f"patch {TEAMS}/{name}/status",
    ]


def test_pass_puts_the_finalizer_behind_those_of_others_and_keeps_their_order(cluster):
    others = ["example.com/second", "example.com/first"]
    name = cluster.converged_team(finalizers=others)
    assert cluster.team(name)["metadata"]["finalizers"] == [*others, FINALIZER]


def test_namespace_bears_label_and_owner_reference_of_its_team_space(cluster):
    name = cluster.converged_team()
    metadata = cluster.namespace(name)["metadata"]
    assert metadata["labels"][LABEL] == name
    assert metadata["ownerReferences"] == [cluster.owner_reference(name)]


def test_namespace_keeps_labels_annotations_and_owner_references_of_others(cluster):
    name = cluster.converged_team()
    role = cluster.api("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view")["metadata"]
    other = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "view", "uid": role["uid"]}
    cluster.patch_namespace(name, {"metadata": {
        "labels": {"cost-center": "7"},
        "annotations": {"example.com/note": "keep me"},
        "ownerReferences": [other],
    }})
    cluster.converge()
    metadata = cluster.namespace(name)["metadata"]
    assert metadata["labels"]["cost-center"] == "7"
    assert metadata["annotations"]["example.com/note"] == "keep me"
    assert metadata["ownerReferences"] == [other, cluster.owner_reference(name)]


def test_quota_has_exactly_the_pods_and_cpu_of_the_spec(cluster):
    name = cluster.converged_team(pods=7, cpu="1500m")
    assert cluster.hard(name) == {"pods": "7", "requests.cpu": "1500m"}


def test_quota_binds_the_pods_of_the_team(cluster):
    name = cluster.converged_team(pods=1, cpu="1")
    wait_for(lambda: cluster.quota(name).get("status", {}).get("hard"), "the quota controller knows the quota")

    def create_pod():
        return cluster.plane.request("POST", f"{NAMESPACES}/team-{name}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "p-"}, "spec": {"containers": [
                {"name": "c", "image": "none", "resources": {"requests": {"cpu": "100m"}}}]}})

    assert create_pod().status == 201
    refused = create_pod()
    assert refused.status == 403
    assert "exceeded quota: team-quota" in refused.json()["message"]
    assert cluster.once().writes == []  # what is used is no difference


def test_quotas_of_other_names_stay_untouched(cluster):
    name = cluster.converged_team()
    other = cluster.api("POST", f"{NAMESPACES}/team-{name}/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "other"},
        "spec": {"hard": {"configmaps": "3"}}})
    cluster.patch_quota(name, {"pods": "99"})
    result = cluster.converge()
    assert result.writes == [f"patch {cluster.quota_path(name)}"]
    now = cluster.api("GET", f"{NAMESPACES}/team-{name}/resourcequotas/other")
    assert now["spec"] == other["spec"]
    assert now["metadata"]["uid"] == other["metadata"]["uid"]


def test_status_tells_generation_and_namespace_and_ready(cluster):
    name = cluster.converged_team()
    cluster.patch_team(name, {"spec": {"pods": 5}})
    cluster.converge()
    team = cluster.team(name)
    assert team["status"]["observedGeneration"] == team["metadata"]["generation"] == 2
    assert team["status"]["namespace"] == f"team-{name}"
    ready = cluster.ready(name)
    assert (ready["status"], ready["reason"], ready["observedGeneration"]) == ("True", "Reconciled", 2)


def test_status_write_does_not_raise_the_generation(cluster):
    name = cluster.create_team()
    before = cluster.team(name)["metadata"]["generation"]
    cluster.converge()
    assert cluster.team(name)["metadata"]["generation"] == before


def test_last_transition_time_changes_only_with_the_status_of_ready(cluster):
    name = cluster.converged_team()
    ready = cluster.ready(name) | {"lastTransitionTime": LONG_AGO}
    cluster.patch(f"{TEAMS}/{name}/status", {"status": {"conditions": [ready]}})
    assert cluster.once().writes == []
    cluster.patch_team(name, {"spec": {"pods": 5}})
    cluster.converge()
    assert cluster.ready(name)["observedGeneration"] == 2
    assert cluster.ready(name)["lastTransitionTime"] == LONG_AGO
    # Now Ready turns: the namespace belongs to another TeamSpace.
    other = cluster.owner_reference(cluster.create_team())
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: None}, "ownerReferences": [other]}})
    assert cluster.once().code == 1
    assert cluster.ready(name)["status"] == "False"
    assert cluster.ready(name)["lastTransitionTime"] > LONG_AGO


def test_conditions_of_others_survive(cluster):
    name = cluster.converged_team()
    other = {"type": "Billed", "status": "True", "reason": "Paid", "message": "", "lastTransitionTime": LONG_AGO}
    cluster.patch(f"{TEAMS}/{name}/status", {"status": {"conditions": [other, cluster.ready(name)]}})
    cluster.patch_team(name, {"spec": {"pods": 5}})
    cluster.converge()
    assert cluster.team(name)["status"]["conditions"] == [other, cluster.ready(name)]
    assert cluster.ready(name)["observedGeneration"] == 2


def test_ready_is_put_beside_the_conditions_of_others(cluster):
    name = cluster.create_team()
    other = {"type": "Billed", "status": "True", "reason": "Paid", "message": "", "lastTransitionTime": LONG_AGO}
    cluster.patch(f"{TEAMS}/{name}/status", {"status": {"conditions": [other]}})
    cluster.converge()
    conditions = cluster.team(name)["status"]["conditions"]
    assert other in conditions
    assert sorted(condition["type"] for condition in conditions) == ["Billed", "Ready"]


def test_observed_generation_is_written_only_after_namespace_and_quota_hold(cluster, refused_quota):
    result = cluster.once()
    assert result.code == 1
    team = cluster.team(refused_quota)
    assert "observedGeneration" not in team["status"]
    assert team["status"]["namespace"] == f"team-{refused_quota}"


def test_quota_refused_by_the_server_is_told_with_the_servers_words(cluster, refused_quota):
    good = cluster.create_team()
    result = cluster.once()
    assert result.code == 1
    ready = cluster.ready(refused_quota)
    assert (ready["status"], ready["reason"]) == ("False", "QuotaRefused")
    assert "no quota for this team" in ready["message"]
    assert said(rf"! TeamSpace/{refused_quota} .*QuotaRefused.*no quota for this team", result.lines)
    assert cluster.ready(good)["status"] == "True"


def test_quota_refused_by_the_server_does_not_rewrite_the_status_for_ever(cluster, refused_quota):
    cluster.once()
    again = cluster.once()
    assert again.code == 1
    assert f"patch {TEAMS}/{refused_quota}/status" not in again.writes


def test_spec_seen_only_later_is_caught_up_once_the_hindrance_is_gone(cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    assert cluster.once().code == 1
    cluster.patch_team(name, {"spec": {"pods": 9}})
    assert cluster.once().code == 1
    assert "observedGeneration" not in cluster.team(name)["status"]
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: name}}})
    cluster.converge()
    assert cluster.hard(name)["pods"] == "9"
    assert cluster.team(name)["status"]["observedGeneration"] == 2


def test_pass_makes_deletions_before_repairs_before_new_ones(cluster):
    # By name the order would be the other way round.
    deleted, drifted = cluster.new_name("z"), cluster.new_name("m")
    cluster.create_team(deleted)
    cluster.create_team(drifted)
    cluster.converge()
    new = cluster.create_team(cluster.new_name("a"))
    cluster.delete_team(deleted)
    cluster.patch_quota(drifted, {"pods": "99"})
    writes = cluster.converge("--concurrency=1").writes
    assert writes == [
        f"patch {TEAMS}/{deleted}",
        f"patch {cluster.quota_path(drifted)}",
        f"patch {TEAMS}/{new}",
        f"create {NAMESPACES}",
        f"create {NAMESPACES}/team-{new}/resourcequotas",
        f"patch {TEAMS}/{new}/status",
    ]


def test_pass_reads_three_lists_and_nothing_else(cluster):
    cluster.converged_team()
    requests = sorted(map(str, cluster.once("--linger=0s").requests))
    assert requests == [f"list {NAMESPACES}", "list /api/v1/resourcequotas", f"list {TEAMS}"]


def test_pass_names_itself_as_the_writer(cluster):
    name = cluster.converged_team()
    managers = {entry["manager"] for entry in cluster.quota(name)["metadata"]["managedFields"]
                if "f:spec" in entry["fieldsV1"]}
    assert managers == {"cnpa-op"}


def test_pass_with_only_touches_no_other_team_space(cluster):
    wanted, other = cluster.create_team(), cluster.create_team()
    result = cluster.converge("--only", wanted)
    assert all("/teamspaces/" not in write or wanted in write for write in result.writes)
    assert cluster.namespace(wanted)
    assert cluster.namespace(other) is None


def test_pass_with_only_of_an_unknown_name_is_refused_in_one_line(cluster):
    cluster.create_team()
    result = cluster.once("--only", "nobody")
    assert result.code == 1
    assert "nobody" in result.only_line
    assert result.writes == []


def test_pass_without_any_team_space_has_nothing_to_do(cluster):
    result = cluster.once()
    assert (result.code, result.stdout, result.stderr, result.writes) == (0, "", "", [])


def test_diff_says_no_differences_on_a_converged_cluster(cluster):
    cluster.converged_team()
    result = cluster.diff()
    assert (result.code, result.stdout, result.stderr, result.writes) == (0, "No differences.\n", "", [])


def test_diff_of_a_refused_team_space_ends_with_one_and_its_last_line_says_so(cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    cluster.once()
    result = cluster.diff()
    assert (result.code, result.writes) == (1, [])
    assert said(rf"TeamSpace/{name} .*NamespaceConflict", result.stdout)
    assert result.stdout.splitlines()[-1] == "Plan: 1 refused."


def test_report_counts_team_spaces_changes_and_writes(cluster):
    cluster.create_team()
    cluster.create_team()
    result = cluster.converge()
    assert said(r"^2 team spaces: 2 created; 8 writes in (\d+ ms|\d+\.\d s)$", result.lines[-1:])


@pytest.mark.parametrize("count", [pytest.param(10000, marks=pytest.mark.skipif(not LONG, reason="takes six minutes")),
                                   300])
def test_no_request_of_many_passes_is_made_twice(cluster, count):
    cluster.converged_team()
    arguments = cluster.arguments("reconcile", "--once", "--linger=0s", "-v")
    for _ in range(count):
        done = run_binary(arguments, cluster.home)
        assert done.code == 0 and len(said("GET .* -> 200", done.lines)) == len(said("GET ", done.lines)) == 3, done
