# SPDX-License-Identifier: Apache-2.0
"""The life of a team space from its making to its end, in one piece: what the product is for."""

from harness import FINALIZER, LABEL, said


def test_story_of_a_team_space_from_creation_to_the_end_of_its_namespace(cluster):
    # The CRD alone creates nothing.
    name = cluster.create_team(pods=4)
    uid = cluster.team(name)["metadata"]["uid"]
    assert cluster.namespace(name) is None

    # --diff tells what would come, and does nothing.
    plan = cluster.diff()
    assert plan.code == 1
    assert plan.writes == []
    assert said(rf"^\+ Namespace/team-{name} ", plan.stdout)
    assert said(rf"^\+ ResourceQuota/team-{name}/team-quota .*pods 4.*requests\.cpu 1", plan.stdout)
    assert cluster.namespace(name) is None

    # One pass makes all of it, in four writes.
    first = cluster.once()
    assert first.code == 0
    assert first.stdout == ""
    assert len(first.writes) == 4
    space = cluster.namespace(name)["metadata"]
    assert space["labels"][LABEL] == name
    assert [(owner["kind"], owner["name"], owner["uid"]) for owner in space["ownerReferences"]] == [
        ("TeamSpace", name, uid)]
    assert cluster.hard(name) == {"pods": "4", "requests.cpu": "1"}
    team = cluster.team(name)
    assert team["metadata"]["finalizers"] == [FINALIZER]
    assert team["status"]["observedGeneration"] == team["metadata"]["generation"] == 1
    assert team["status"]["namespace"] == f"team-{name}"
    assert cluster.ready(name)["status"] == "True"

    # The second pass has nothing to say and nothing to write.
    second = cluster.once()
    assert (second.code, second.stdout, second.stderr, second.writes) == (0, "", "", [])

    # What somebody changed by hand, and what the team asks for now, is put right.
    deleted_uid = cluster.quota(name)["metadata"]["uid"]
    cluster.kubectl("delete", "resourcequota", "team-quota", "-n", f"team-{name}")
    cluster.converge()
    assert cluster.quota(name)["metadata"]["uid"] != deleted_uid
    cluster.kubectl("patch", "resourcequota", "team-quota", "-n", f"team-{name}", "--type=merge",
                    "-p", '{"spec":{"hard":{"pods":"99"}}}')
    repaired = cluster.converge()
    assert said(r"pods 99 -> 4: was changed by kubectl-patch", repaired.lines)
    assert cluster.hard(name)["pods"] == "4"
    cluster.patch_team(name, {"spec": {"pods": 6}})
    team = cluster.team(name)
    assert (team["metadata"]["generation"], team["status"]["observedGeneration"]) == (2, 1)
    cluster.converge()
    assert cluster.hard(name)["pods"] == "6"
    assert cluster.team(name)["status"]["observedGeneration"] == 2

    # Deletion waits for us, then takes the namespace along.
    cluster.kubectl("delete", "teamspace", name, "--wait=false")
    assert "deletionTimestamp" in cluster.team(name)["metadata"]
    last = cluster.converge()
    assert said(rf"^- TeamSpace/{name} ", last.lines)
    record = cluster.archived(f"{name}.json")
    assert (record["name"], record["uid"], record["pods"], record["cpu"]) == (name, uid, 6, "1")
    assert cluster.team(name) is None
    cluster.wait_gone(name)
    assert cluster.diff().stdout == "No differences.\n"
