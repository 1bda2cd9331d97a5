# SPDX-License-Identifier: Apache-2.0
"""Whose a namespace is, and what is done to one that is not ours (contract, section 4)."""

import contextlib

import pytest

from harness import LABEL, NAMESPACES, TEAMS, said, wait_for

STALE_UID = "00000000-0000-4000-8000-000000000000"


@contextlib.contextmanager
def no_controllers(cluster):
    """Stops garbage collector and namespace controller for the length of a `with`."""
    manager = cluster.plane.component("kube-controller-manager")
    manager.pause()
    try:
        yield
    finally:
        manager.resume()


def team_beside_foreign_namespace(cluster, **metadata):
    name = cluster.new_name()
    cluster.create_namespace(name, **metadata)
    return cluster.create_team(name)


def test_namespace_without_label_and_owner_reference_is_never_adopted_and_never_changed(cluster):
    name = team_beside_foreign_namespace(cluster)
    before = cluster.namespace(name)
    result = cluster.once()
    assert result.code == 1
    assert cluster.namespace(name)["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert cluster.quota(name) is None
    assert not said(f"namespaces/team-{name}", result.writes)
    ready = cluster.ready(name)
    assert (ready["status"], ready["reason"]) == ("False", "NamespaceConflict")
    assert "namespace" not in cluster.team(name)["status"]
    assert "observedGeneration" not in cluster.team(name)["status"]


def test_namespace_conflict_says_how_to_hand_the_namespace_over_and_that_works(cluster):
    name = team_beside_foreign_namespace(cluster)
    line, = said(rf"! TeamSpace/{name} +NamespaceConflict: ", cluster.once().lines)
    command = line[line.index("kubectl "):].split()
    cluster.kubectl(*command[1:])
    cluster.converge()
    assert cluster.ready(name)["status"] == "True"
    assert cluster.namespace(name)["metadata"]["ownerReferences"] == [cluster.owner_reference(name)]


def test_namespace_that_lost_both_label_and_owner_reference_is_known_by_its_uid_and_gets_them_back(cluster):
    name = cluster.converged_team()
    space = cluster.namespace(name)["metadata"]
    assert cluster.team(name)["status"]["namespaceUID"] == space["uid"]
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: None}, "ownerReferences": None}})
    cluster.patch_quota(name, {"pods": "99"})
    result = cluster.converge()
    assert said(rf"~ Namespace/team-{name} +label .* none -> {name}, ownerReference none -> .*: each was removed",
                result.lines)
    assert cluster.namespace(name)["metadata"]["labels"] == space["labels"]
    assert cluster.namespace(name)["metadata"]["ownerReferences"] == space["ownerReferences"]
    assert cluster.hard(name)["pods"] == "4"
    assert cluster.once().writes == []


def test_namespace_deleted_and_created_by_somebody_else_is_a_conflict_and_one_of_ours_has_its_uid_told(cluster):
    name = cluster.converged_team()
    other = cluster.converged_team()
    for deleted in (name, other):
        cluster.api("DELETE", f"{NAMESPACES}/team-{deleted}")
    wait_for(lambda: not cluster.namespace(name) and not cluster.namespace(other), "both namespaces are gone")
    cluster.create_namespace(name)
    assert cluster.once().code == 1
    assert cluster.ready(name)["reason"] == "NamespaceConflict"
    assert {"namespace", "namespaceUID"} & set(cluster.team(name)["status"]) == set()
    assert cluster.team(other)["status"]["namespaceUID"] == cluster.namespace(other)["metadata"]["uid"]
    assert cluster.once().writes == []


def test_namespace_with_the_label_of_an_admin_is_adopted(cluster):
    name = team_beside_foreign_namespace(cluster, labels={LABEL: "placeholder"})
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: name}}})
    cluster.converge()
    assert cluster.namespace(name)["metadata"]["ownerReferences"] == [cluster.owner_reference(name)]
    assert cluster.hard(name) == {"pods": "4", "requests.cpu": "1"}


def test_namespace_with_the_label_of_another_team_is_a_conflict(cluster):
    name = team_beside_foreign_namespace(cluster, labels={LABEL: "another"})
    assert cluster.once().code == 1
    assert cluster.ready(name)["reason"] == "NamespaceConflict"


def test_namespace_with_owner_reference_but_no_label_is_ours(cluster):
    name = cluster.create_team()
    cluster.create_namespace(name, ownerReferences=[cluster.owner_reference(name)])
    cluster.converge()
    assert cluster.namespace(name)["metadata"]["labels"][LABEL] == name


def test_owner_reference_with_a_stale_uid_of_the_same_team_space_is_replaced_by_the_live_uid(cluster):
    with no_controllers(cluster):
        name = cluster.create_team()
        cluster.create_namespace(name, labels={LABEL: name},
                                 ownerReferences=[cluster.owner_reference(name, uid=STALE_UID)])
        cluster.converge()
        assert cluster.namespace(name)["metadata"]["ownerReferences"] == [cluster.owner_reference(name)]
        assert cluster.once().writes == []


def test_owner_references_of_others_keep_their_place_when_a_stale_uid_is_replaced(cluster):
    role = cluster.api("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/view")["metadata"]
    other = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "view", "uid": role["uid"]}
    with no_controllers(cluster):
        name = cluster.create_team()
        cluster.create_namespace(name, labels={LABEL: name},
                                 ownerReferences=[cluster.owner_reference(name, uid=STALE_UID), other])
        cluster.converge()
        assert cluster.namespace(name)["metadata"]["ownerReferences"] == [cluster.owner_reference(name), other]


def test_team_space_made_anew_waits_for_its_old_namespace_and_then_gets_a_new_one(cluster):
    name = cluster.converged_team()
    old = cluster.namespace(name)["metadata"]["uid"]
    cluster.patch_namespace(name, {"metadata": {"finalizers": ["example.com/hold"]}})
    cluster.delete_team(name)
    cluster.converge()
    cluster.create_team(name, pods=7)
    wait_for(lambda: cluster.is_terminating(name), "the old namespace ends")
    waiting = cluster.once()
    assert waiting.code == 1
    assert cluster.ready(name)["reason"] == "NamespaceTerminating"
    cluster.patch_namespace(name, {"metadata": {"finalizers": None}})
    cluster.wait_gone(name)
    cluster.converge()
    space = cluster.namespace(name)["metadata"]
    assert space["uid"] != old
    assert space["ownerReferences"] == [cluster.owner_reference(name)]
    assert cluster.hard(name)["pods"] == "7"


def test_namespace_left_by_cascade_orphan_is_adopted_by_the_team_space_made_anew(cluster):
    name = cluster.converged_team()
    uid = cluster.namespace(name)["metadata"]["uid"]
    cluster.kubectl("delete", "teamspace", name, "--cascade=orphan", "--wait=false")
    cluster.converge()
    wait_for(lambda: cluster.team(name) is None, "the TeamSpace is gone")
    space = cluster.namespace(name)["metadata"]
    assert (space["labels"][LABEL], space.get("ownerReferences")) == (name, None)
    cluster.create_team(name)
    cluster.converge()
    space = cluster.namespace(name)["metadata"]
    assert (space["uid"], space["ownerReferences"]) == (uid, [cluster.owner_reference(name)])


@pytest.mark.parametrize("blocks", [True, False], ids=["namespace-goes-first", "either-goes-first"])
def test_cascade_foreground_is_archived_and_finalized_and_nothing_is_made_anew(cluster, blocks):
    name = cluster.converged_team()
    if blocks:
        # Only a dependent that blocks its owner's deletion surely goes first. For any other the garbage collector races
        # against itself: it may let go of the owner's foregroundDeletion before it looks at the dependent.
        reference = cluster.owner_reference(name) | {"blockOwnerDeletion": True}
        cluster.patch_namespace(name, {"metadata": {"ownerReferences": [reference]}})
    cluster.kubectl("delete", "teamspace", name, "--cascade=foreground", "--wait=false")
    if blocks:
        wait_for(lambda: cluster.is_terminating(name), "the namespace goes first")
    assert cluster.team(name) is not None
    result = cluster.converge()
    assert not said("^create ", result.writes)
    assert cluster.archived(f"{name}.json")["name"] == name
    wait_for(lambda: cluster.team(name) is None, "the TeamSpace is gone", 120)
    cluster.wait_gone(name)
    assert cluster.once().writes == []
    assert cluster.namespace(name) is None


def test_cascade_foreground_leaves_foreground_deletion_and_other_finalizers_alone(cluster):
    name = cluster.converged_team(finalizers=["example.com/first"])
    with no_controllers(cluster):
        cluster.delete_team(name, propagation="Foreground")
        cluster.converge()
        assert cluster.team(name)["metadata"]["finalizers"] == ["example.com/first", "foregroundDeletion"]
        assert cluster.once().writes == []


def test_namespace_owned_by_another_team_space_is_a_conflict(cluster):
    name, other = cluster.create_team(), cluster.create_team()
    cluster.create_namespace(name, labels={LABEL: name}, ownerReferences=[cluster.owner_reference(other)])
    before = cluster.namespace(name)["metadata"]
    assert cluster.once().code == 1
    ready = cluster.ready(name)
    assert ready["reason"] == "NamespaceConflict"
    assert other in ready["message"]
    assert cluster.namespace(name)["metadata"] == before
    assert cluster.ready(other)["status"] == "True"


def test_terminating_namespace_is_waited_for_and_not_written_into(cluster):
    name = cluster.converged_team()
    cluster.patch_namespace(name, {"metadata": {"finalizers": ["example.com/hold"],
                                                "labels": {LABEL: None, "cost-center": "7"}}})
    cluster.patch_team(name, {"spec": {"pods": 9}})
    cluster.api("DELETE", f"{NAMESPACES}/team-{name}")
    result = cluster.once()
    assert result.code == 1
    assert result.writes == [f"patch {TEAMS}/{name}/status"]
    ready = cluster.ready(name)
    assert (ready["status"], ready["reason"]) == ("False", "NamespaceTerminating")
    assert cluster.team(name)["status"]["observedGeneration"] == 1
    again = cluster.once()
    assert (again.code, again.writes) == (1, [])


def test_waiting_for_a_terminating_namespace_is_no_error_line(cluster):
    name = cluster.converged_team()
    cluster.patch_namespace(name, {"metadata": {"finalizers": ["example.com/hold"]}})
    cluster.api("DELETE", f"{NAMESPACES}/team-{name}")
    result = cluster.once("--log-level=warn")
    assert (result.code, result.stderr) == (1, "")
    assert said(rf"TeamSpace/{name} .*NamespaceTerminating", cluster.once().lines)


def test_foreign_namespace_that_ends_is_waited_for(cluster):
    name = team_beside_foreign_namespace(cluster, finalizers=["example.com/hold"])
    cluster.api("DELETE", f"{NAMESPACES}/team-{name}")
    assert cluster.once().code == 1
    assert cluster.ready(name)["reason"] == "NamespaceTerminating"
    assert "namespace" not in cluster.team(name)["status"]
