# SPDX-License-Identifier: Apache-2.0
"""`--diff --server`: what the server would say to each write, and that nothing is written."""

import json
import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness import NAMESPACES, TEAMS, refusing_policy, said, wait_for
from raw_server import Request
from raw_support import NEW, answer_sanely, answers, described, status

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "pass.schema.json").read_text())
QUOTAS = "/api/v1/resourcequotas"


def ask(cluster, *flags, **options):
    return cluster.diff("--server", *flags, **options)


def document(result):
    value = json.loads(result.stdout)
    Draft202012Validator(SCHEMA).validate(value)
    return value


def opinions(result, team):
    """Returns what the server says to the changes of a team: (kind, verb, answer) each."""
    return [(change["object"]["kind"], change["verb"], change["server"]["answer"])
            for change in document(result)["changes"] if change["teamSpace"] == team]


def settled_versions(cluster, teams):
    """Returns uid and resourceVersion of every object of these teams, once no controller is at them."""
    places = {*teams, *(f"team-{team}" for team in teams)}

    def ours(path):
        return [item["metadata"] | {"counted": item.get("status", {}).get("hard") == item.get("spec", {}).get("hard")}
                for item in cluster.api("GET", path)["items"]
                if {item["metadata"]["name"], item["metadata"].get("namespace")} & places]

    wait_for(lambda: all(quota["counted"] for quota in ours(QUOTAS)), "the quotas are counted")
    return {(metadata.get("namespace"), metadata["name"], metadata["uid"]): metadata["resourceVersion"]
            for path in (TEAMS, NAMESPACES, QUOTAS) for metadata in ours(path)}


def test_every_write_is_a_dry_run_and_nothing_changes(cluster, work):
    before = settled_versions(cluster, work.values())
    assert len(before) == 2 * len(work) - 1 + 5  # one has no namespace yet, and two no quota
    result = ask(cluster, "-o", "json")
    assert result.code == 1 and result.stderr == ""
    writes = [request for request in result.requests if request.is_write]
    assert {request.verb for request in writes} == {"create", "patch", "delete"}
    assert all("dryRun=All" in request.uri and "timeout=" in request.uri for request in writes)
    assert all("fieldManager=cnpa-op&fieldValidation=Strict" in request.uri for request in writes
               if request.verb != "delete")
    # All that can be asked about was, once, and was answered with yes.
    value = document(result)
    answers_ = [change["server"]["answer"] for change in value["changes"] if change["verb"] != "archive"]
    assert answers_.count("accepted") == len(writes) == value["summary"]["serverAccepts"]
    assert len(answers_) - len(writes) == value["summary"]["serverNotChecked"] == 2  # scoped, and new
    assert settled_versions(cluster, work.values()) == before
    assert not cluster.archive.exists()
    # And a pass finds it all still to be done.
    assert len(cluster.converge().writes) == len(writes) + 2


def test_a_quota_that_is_deleted_by_a_dry_run_is_still_there(cluster):
    # The server looks at either the query of a DELETE or its body: a mark in the query alone deletes.
    name = cluster.converged_team()
    cluster.api("DELETE", cluster.quota_path(name))
    cluster.api("POST", f"{NAMESPACES}/team-{name}/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
        "spec": {"scopes": ["NotTerminating"], "hard": {"pods": "4"}}})
    uid = cluster.quota(name)["metadata"]["uid"]
    result = ask(cluster, "-o", "json")
    assert f"delete {cluster.quota_path(name)}" in result.writes
    assert cluster.quota(name)["metadata"]["uid"] == uid
    assert opinions(result, name) == [("ResourceQuota", "delete", "accepted"),
                                      ("ResourceQuota", "create", "notChecked")]


def test_what_stands_on_a_new_namespace_is_not_checked(cluster):
    name = cluster.create_team()
    assert opinions(ask(cluster, "-o", "json"), name) == [
        ("TeamSpace", "update", "accepted"), ("Namespace", "create", "accepted"),
        ("ResourceQuota", "create", "notChecked"), ("TeamSpace", "update", "accepted")]
    result = ask(cluster)
    assert said(rf"^\. ResourceQuota/team-{name}/team-quota +not checked: namespace team-{name} is not created yet$",
                result.stdout)
    assert result.stdout.endswith(
        "Plan: 2 to create, 2 to change. The server accepts 3; 1 not checked.\n")
    assert cluster.namespace(name) is None


def test_what_a_policy_refuses_shows_before_it_happens(cluster):
    refused, fine = cluster.create_team(), cluster.create_team()
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{refused}"}}
    with refusing_policy(cluster, "namespaces", f"object.metadata.name != 'team-{refused}'", "no such team here",
                         NAMESPACES, space):
        plain, value = ask(cluster), ask(cluster, "-o", "json")
    assert plain.code == value.code == 1
    line, = said("^! ", plain.stdout)
    assert said(rf"^! Namespace/team-{refused} +the server refuses it: POST {NAMESPACES}: 4\d\d .*no such team here",
                line)
    assert plain.stdout.splitlines()[-1].endswith("The server accepts 5, refuses 1; 2 not checked.")
    assert opinions(value, refused)[1] == ("Namespace", "create", "refused")
    assert opinions(value, fine)[1] == ("Namespace", "create", "accepted")
    change = next(change for change in document(value)["changes"] if change["server"]["answer"] == "refused")
    assert change["server"]["reason"] == "WriteFailed" and "no such team here" in change["server"]["message"]


def test_a_right_that_lacks_is_named(cluster, without):
    name = cluster.converged_team()
    cluster.patch_quota(name, {"pods": "99"})
    without("", "resourcequotas", "patch")
    result = ask(cluster)
    assert result.code == 1
    assert said(rf'^! ResourceQuota/team-{name}/team-quota +the server refuses it: forbidden: user "cnpa-op" cannot '
                r"patch resourcequotas: cnpa-op rbac \| kubectl apply -f -$", result.stdout)


def test_a_deletion_is_asked_about_and_the_archive_folder_looked_at(cluster):
    name = cluster.converged_team()
    cluster.delete_team(name)
    result = ask(cluster, "-o", "json")
    assert opinions(result, name) == [("TeamSpace", "archive", "accepted"), ("TeamSpace", "update", "accepted")]
    assert cluster.team(name)["metadata"]["finalizers"] and not cluster.archive.exists()
    nowhere = ask(cluster, archive=cluster.home / "none" / "archive")
    assert said(rf"^! .*/{name}\.json +it can't be written: archive folder .*: make its parent folder first$",
                nowhere.stdout)
    assert nowhere.stdout.endswith("Plan: 1 to release. The server accepts 1. Archives can't be written.\n")


def test_a_converged_cluster_is_asked_nothing(cluster):
    cluster.converged_team()
    result = ask(cluster)
    assert (result.code, result.stdout, result.stderr, result.writes) == (0, "No differences.\n", "", [])


@pytest.mark.parametrize("flags", [[], ["--once"], ["-o", "json"]], ids=" ".join)
def test_server_without_diff_is_wrong_usage(cluster, flags):
    result = cluster.run("reconcile", "--server", *flags)
    assert (result.code, result.only_line, result.requests) == (
        2, "cnpa-op: --server: it is the changes of --diff that the server is asked about: add --diff", [])


# A server that does as it likes --------------------------------------------------------------------------------------


def run_where(bench, does, *flags, on=f"POST {NAMESPACES} team-alpha"):
    """Runs it against a server that does that with one write: of TeamSpaces alpha and gamma, which are new."""
    def respond(request):
        if request.is_write and described(request) == on:
            return does(request, b"")
        return answer_sanely(request, NEW)
    return bench.run_against(respond, "--diff", "--server", *flags)


@pytest.mark.parametrize("does, line", [
    (status(400, 'admission webhook "old.example" does not support dry run', "BadRequest"),
     r"^\. Namespace/team-alpha +not checked: .*webhook \"old.example\" does not support dry run$"),
    (status(409, 'namespaces "team-alpha" already exists', "AlreadyExists", name="team-alpha", kind="namespaces"),
     r"^\. Namespace/team-alpha +it has changed since it was read; run again: .*already exists$"),
    (status(500, "etcdserver: request timed out", "InternalError"),
     r"^\. Namespace/team-alpha +not checked: .*request timed out$"),
    (lambda request, good: Request.close(request), r"^\. Namespace/team-alpha +not checked: .*without an answer"),
    (answers(200, b"<html></html>"), r"^\. Namespace/team-alpha +not checked: .*the answer is not the API server's$"),
], ids=["webhook", "another was faster", "storage", "no answer", "a proxy"])
def test_what_is_no_answer_is_told_apart_from_a_refusal(bench, does, line):
    outcome = run_where(bench, does)
    assert outcome.result.code == 1
    assert said(line, outcome.result.stdout), outcome
    assert not said("^! |may still have been applied", outcome.result.stdout)
    assert all("dryRun=All" in request.target for request in outcome.requests if request.is_write)


def test_a_server_that_goes_away_leaves_a_plan_that_says_so(bench):
    def respond(request):
        return request.reset() if request.is_write else answer_sanely(request, NEW)

    outcome = bench.run_against(respond, "--diff", "--server", "-o", "json")
    value = document(outcome.result)
    assert outcome.result.code == 1 and len(value["changes"]) == 8
    assert {change["server"]["answer"] for change in value["changes"]} == {"notChecked"}
    assert all(change["server"]["message"] for change in value["changes"])


def test_a_signal_ends_it_with_what_is_known(bench):
    held = []

    def respond(request):
        if request.is_write:
            held.append(request)
            return request.hold()
        return answer_sanely(request, NEW)

    with bench.started(respond, "--diff", "--server", "--concurrency=1", "-o", "json") as (process, _):
        wait_for(lambda: held, "a write")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == 143
    value = json.loads(output)
    Draft202012Validator(SCHEMA).validate(value)
    assert {change["server"]["answer"] for change in value["changes"]} == {"notChecked"}
    assert any("told to end" in change["server"]["message"] for change in value["changes"])
    assert len(held) == 1
