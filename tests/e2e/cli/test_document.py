# SPDX-License-Identifier: Apache-2.0
"""`-o json`: one document whatever happens, as docs/pass.schema.json has it, with the same content as the lines."""

import json
import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness import FINALIZER

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "pass.schema.json").read_text())
Draft202012Validator.check_schema(SCHEMA)
LABEL = "platform.labhub.io/teamspace"


def document(result):
    """Returns the one document on standard output, after a look at its form."""
    value = json.loads(result.stdout)
    Draft202012Validator(SCHEMA).validate(value)
    return value


def brief(change):
    name = change["object"]
    return change["verb"], name["kind"], name.get("namespace"), name["name"], change["reason"]


def test_a_converged_cluster_is_a_document_without_changes(cluster):
    cluster.converged_team()
    plan, report = cluster.diff("-o", "json"), cluster.once("-o", "json")
    assert (plan.code, report.code, report.writes) == (0, 0, [])
    for value in document(plan), document(report):
        assert value["summary"]["teamSpaces"] == 1
        assert value["changes"] == value["problems"] == []


def test_what_is_planned_is_what_is_done_in_the_same_terms(cluster):
    drifted, deleted, new = cluster.converged_team(), cluster.converged_team(), cluster.create_team(pods=3, cpu="2")
    cluster.patch_quota(drifted, {"pods": "99"})
    cluster.patch_namespace(drifted, {"metadata": {"labels": {LABEL: None}}})
    cluster.delete_team(deleted)
    plan, report = cluster.diff("-o", "json"), cluster.once("-o", "json")
    assert (plan.code, report.code) == (1, 0)
    planned, done = document(plan), document(report)
    # The archive's times differ, which no document has.
    assert planned["changes"] == done["changes"]
    assert {brief(change) for change in done["changes"]} == {
        ("archive", "TeamSpace", None, deleted, "BeingDeleted"),
        ("update", "TeamSpace", None, deleted, "BeingDeleted"),
        ("update", "Namespace", None, f"team-{drifted}", "Differs"),
        ("update", "ResourceQuota", f"team-{drifted}", "team-quota", "Differs"),
        ("update", "TeamSpace", None, new, "Missing"),
        ("create", "Namespace", None, f"team-{new}", "Missing"),
        ("create", "ResourceQuota", f"team-{new}", "team-quota", "Missing"),
        ("update", "TeamSpace", None, new, "StatusBehind"),
    }
    summary = done["summary"]
    assert (summary["created"], summary["changed"], summary["deleted"], summary["writes"]) == (1, 1, 1, 7)
    assert planned["summary"] | {"teamSpaces": 3} == planned["summary"]
    quota = next(change for change in done["changes"] if change["object"]["kind"] == "ResourceQuota"
                 and change["verb"] == "update")
    field, = quota["fields"]
    assert (field["path"], field["from"], field["to"]) == ("spec.hard.pods", "99", "4")
    assert field["lastWriter"]["operation"] == "Update" and field["lastWriter"]["time"]
    first = next(change for change in done["changes"] if brief(change)[3:] == (new, "Missing"))
    assert first["fields"] == [{"path": "metadata.finalizers", "from": None, "to": FINALIZER}]


def test_what_is_known_of_a_field_that_is_gone_is_in_its_field(cluster):
    name = cluster.converged_team()
    cluster.patch_namespace(name, {"metadata": {"labels": {LABEL: None}, "annotations": {"a": "b"}}})
    change, = document(cluster.diff("-o", "json"))["changes"]
    field, = change["fields"]
    assert (field["from"], field["to"], field["removed"]) == (None, name, True)
    ours = next(entry for entry in cluster.namespace(name)["metadata"]["managedFields"] if entry["manager"] == "cnpa-op")
    assert field["ourLastWrite"] == ours["time"]
    writer, = field["writersSince"]
    assert (writer["operation"], writer["subresource"]) == ("Update", "") and writer["time"] >= ours["time"]


def test_a_refused_team_space_is_a_problem_with_its_reason(cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    result = cluster.once("-o", "json")
    assert result.code == 1
    problem, = document(result)["problems"]
    assert (problem["teamSpace"], problem["state"], problem["reason"]) == (name, "refused", "NamespaceConflict")
    assert problem["message"] == cluster.ready(name)["message"]


@pytest.mark.parametrize("mode", ["--once", "--diff"])
def test_what_can_not_be_read_is_a_document_too(cluster, mode):
    for kubeconfig, code in (("/nowhere/config", 2), (cluster.home / "away", 3)):
        (cluster.home / "away").write_text(
            "{current-context: a, clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}],"
            " contexts: [{name: a, context: {cluster: a}}]}")
        result = cluster.run("reconcile", mode, "-o", "json", kubeconfig=kubeconfig)
        assert result.code == code
        value = document(result)
        assert value["changes"] == [] and value["error"] in result.stderr


def test_an_unknown_name_is_a_document_with_an_error(cluster):
    result = cluster.diff("-o", "json", "--only", "nobody")
    assert result.code == 1
    assert document(result)["error"] == "--only: there is no TeamSpace 'nobody'"


def test_a_pass_that_is_told_to_end_leaves_a_whole_document(cluster):
    cluster.create_teams([cluster.new_name() for _ in range(60)])
    with cluster.started("reconcile", "--once", "--concurrency=1", "-o", "json") as started:
        started.wait_for_writes(10)
        started.signal(signal.SIGTERM)
        result = started.finish(20)
    value = document(result)
    assert result.code == 143
    assert 0 < len(value["changes"]) < 240 and value["summary"]["left"] > 0


def test_a_loop_has_no_document(cluster):
    result = cluster.run("reconcile", "-o", "json")
    assert (result.code, result.only_line) == (
        2, "cnpa-op: -o json: the loop has no end that a document could tell of: add --once or --diff")


