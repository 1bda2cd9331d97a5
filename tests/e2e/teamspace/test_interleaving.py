# SPDX-License-Identifier: Apache-2.0
"""What somebody does between the lists and the writes of a pass; passes side by side (contract, sections 3 and 4).

A pass is stopped from running once it has sent its first write, and goes on after the change.
"""

import pytest

from harness import FINALIZER, LABEL, NAMESPACES, TEAMS, said

OTHER = "example.com/other"
CROWD = 12


def create_crowd(cluster):
    """Creates TeamSpaces that keep a pass busy while a test changes what comes after them, by name."""
    return cluster.create_teams([cluster.new_name("a") for _ in range(CROWD)])


@pytest.fixture
def crowd(cluster):
    """New TeamSpaces; that of a test, named "z...", comes after them."""
    return create_crowd(cluster)


@pytest.fixture
def drifted(cluster, crowd):
    """A function that makes the quotas of a converged crowd differ, so that they are repaired before that of a test."""
    def drift():
        for name in crowd:
            cluster.patch_quota(name, {"pods": "50"})

    cluster.converge()
    return drift


def delete_with_crowd(cluster, finalizers):
    """Returns the name of a TeamSpace that is being deleted, the last one of many."""
    for name in create_crowd(cluster):
        cluster.patch_team(name, {"metadata": {"finalizers": [FINALIZER]}})
    name = cluster.create_team(cluster.new_name("z"), finalizers=finalizers)
    cluster.api("DELETE", TEAMS)
    return name


def test_team_space_made_anew_between_list_and_write_is_not_touched_by_the_old_plan(cluster, crowd):
    name = cluster.create_team(cluster.new_name("z"), pods=4)
    old = cluster.team(name)["metadata"]["uid"]
    with cluster.paused_pass() as paused:
        cluster.delete_team(name)
        cluster.create_team(name, pods=7)
    assert paused.result.code == 0, paused.result
    assert cluster.team(name)["metadata"]["uid"] != old
    assert cluster.namespace(name)["metadata"]["ownerReferences"] == [cluster.owner_reference(name)]
    assert cluster.hard(name)["pods"] == "7"
    assert cluster.once().writes == []


def test_deleted_team_space_made_anew_between_list_and_write_keeps_its_finalizer(cluster):
    name = delete_with_crowd(cluster, [FINALIZER])
    with cluster.paused_pass() as paused:
        cluster.patch_team(name, {"metadata": {"finalizers": None}})
        cluster.create_team(name, finalizers=[FINALIZER], pods=9)
    assert paused.result.code == 0, paused.result
    team = cluster.team(name)
    assert team["metadata"]["finalizers"] == [FINALIZER]
    assert "deletionTimestamp" not in team["metadata"]
    assert cluster.hard(name)["pods"] == "9"


def test_team_space_gone_between_list_and_write_is_not_an_error(cluster, crowd):
    name = cluster.create_team(cluster.new_name("z"))
    with cluster.paused_pass() as paused:
        cluster.delete_team(name)
    assert paused.result.code == 0, paused.result
    assert not said(r"^cnpa-op: |! ", paused.result.lines)
    assert cluster.namespace(name) is None


def test_finalizer_that_another_controller_puts_on_in_between_is_not_lost(cluster, crowd):
    name = cluster.create_team(cluster.new_name("z"))
    with cluster.paused_pass() as paused:
        cluster.patch_team(name, {"metadata": {"finalizers": [OTHER]}})
    assert paused.result.code == 0, paused.result
    assert cluster.team(name)["metadata"]["finalizers"] == [OTHER, FINALIZER]


def test_finalizer_moved_by_another_controller_in_between_is_taken_off_and_no_other(cluster):
    name = delete_with_crowd(cluster, ["example.com/first", FINALIZER, OTHER])
    with cluster.paused_pass() as paused:
        cluster.patch_team(name, {"metadata": {"finalizers": [FINALIZER, OTHER]}})
    assert paused.result.code == 0, paused.result
    assert cluster.team(name)["metadata"]["finalizers"] == [OTHER]


def test_namespace_made_by_somebody_in_between_is_not_adopted(cluster, crowd):
    name = cluster.create_team(cluster.new_name("z"))
    with cluster.paused_pass() as paused:
        cluster.create_namespace(name)
    assert paused.result.code == 1
    assert cluster.quota(name) is None
    assert LABEL not in cluster.namespace(name)["metadata"]["labels"]
    assert cluster.ready(name)["reason"] == "NamespaceConflict"


def test_namespace_made_anew_by_hand_in_between_is_not_patched_by_the_old_plan(cluster, drifted):
    name = cluster.converged_team(cluster.new_name("z"))
    drifted()
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: None}}})
    with cluster.paused_pass() as paused:
        cluster.api("DELETE", f"{NAMESPACES}/team-{name}")
        cluster.wait_gone(name)
        cluster.create_namespace(name)
    assert paused.result.code == 1
    assert LABEL not in cluster.namespace(name)["metadata"]["labels"]
    assert "ownerReferences" not in cluster.namespace(name)["metadata"]
    assert cluster.ready(name)["reason"] == "NamespaceConflict"


def test_quota_edited_in_between_is_not_overwritten_blindly_and_ends_right(cluster, drifted):
    name = cluster.converged_team(cluster.new_name("z"), pods=6)
    drifted()
    cluster.patch_quota(name, {"pods": "50"})
    with cluster.paused_pass() as paused:
        cluster.patch_quota(name, {"pods": "51", "configmaps": "1"})
    assert paused.result.code == 0, paused.result
    answers = [request.code for request in paused.result.requests
               if str(request) == f"patch {cluster.quota_path(name)}"]
    assert answers == [422, 200]  # the plan's patch did not fit any more; that of the pass which ran at once did
    assert cluster.hard(name) == {"pods": "6", "requests.cpu": "1"}


def test_quota_made_by_somebody_in_between_is_not_an_error_and_ends_right(cluster, drifted):
    name = cluster.converged_team(cluster.new_name("z"), pods=6)
    drifted()
    cluster.api("DELETE", cluster.quota_path(name))
    with cluster.paused_pass() as paused:
        cluster.api("POST", f"{NAMESPACES}/team-{name}/resourcequotas", {
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
            "spec": {"hard": {"pods": "99"}}})
    assert paused.result.code == 0, paused.result
    assert cluster.hard(name) == {"pods": "6", "requests.cpu": "1"}


def test_spec_changed_in_between_is_not_called_applied(cluster, crowd):
    name = cluster.create_team(cluster.new_name("z"), pods=4)
    with cluster.paused_pass() as paused:
        cluster.patch_team(name, {"spec": {"pods": 9}})
    assert paused.result.code == 0, paused.result
    applied = {1: "4", 2: "9"}[cluster.team(name)["status"]["observedGeneration"]]
    assert cluster.hard(name)["pods"] == applied
    cluster.converge()
    assert cluster.team(name)["status"]["observedGeneration"] == 2
    assert cluster.hard(name)["pods"] == "9"


def test_team_space_deleted_in_between_is_left_for_the_next_pass(cluster, crowd):
    name = cluster.create_team(cluster.new_name("z"), finalizers=[FINALIZER])
    with cluster.paused_pass() as paused:
        cluster.delete_team(name)
    assert paused.result.code in (0, 1), paused.result
    cluster.converge()
    assert cluster.team(name) is None
    assert cluster.archived(f"{name}.json")["name"] == name


def test_two_passes_at_once_end_in_the_same_state_and_lose_nothing(cluster):
    names = [cluster.create_team(pods=3, finalizers=[OTHER]) for _ in range(15)]
    with cluster.started("reconcile", "--once") as left, cluster.started("reconcile", "--once") as right:
        for result in (left.finish(), right.finish()):
            assert result.code == 0 or (result.code == 1 and said("left for the next pass", result.lines)), result
    cluster.converge()
    for name in names:
        assert cluster.team(name)["metadata"]["finalizers"] == [OTHER, FINALIZER]
        assert cluster.namespace(name)["metadata"]["ownerReferences"] == [cluster.owner_reference(name)]
        assert cluster.hard(name) == {"pods": "3", "requests.cpu": "1"}
    assert cluster.once().writes == []


def test_two_passes_at_once_archive_every_deleted_team_space(cluster):
    names = [cluster.create_team(finalizers=[FINALIZER]) for _ in range(15)]
    uids = {name: cluster.team(name)["metadata"]["uid"] for name in names}
    cluster.api("DELETE", TEAMS)
    with cluster.started("reconcile", "--once") as left, cluster.started("reconcile", "--once") as right:
        for result in (left.finish(), right.finish()):
            assert result.code == 0 or (result.code == 1 and said("left for the next pass", result.lines)), result
    cluster.converge()
    assert cluster.api("GET", TEAMS)["items"] == []
    assert {name: cluster.archived(f"{name}.json")["uid"] for name in names} == uids
    assert len(cluster.archives()) == len(names)
