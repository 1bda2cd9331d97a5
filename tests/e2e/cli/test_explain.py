# SPDX-License-Identifier: Apache-2.0
"""`cnpa-op explain` on a real control plane: one team space, what is wrong, who did it, and what becomes of it."""

import json
import re
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from harness import FINALIZER, LABEL, NAMESPACES, TEAMS, said, wait_for

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "explain.schema.json").read_text())
Draft202012Validator.check_schema(SCHEMA)
HOLD = "example.com/hold"


def explain(cluster, name, *flags, code=0):
    result = cluster.run("explain", name, *flags, "--kubeconfig", cluster.plane.user_kubeconfig,
                         "--archive", cluster.archive)
    assert result.code == code, result
    assert result.writes == []
    return result


def document(cluster, name, code=0):
    value = json.loads(explain(cluster, name, "-o", "json", code=code).stdout)
    Draft202012Validator(SCHEMA).validate(value)
    return value


def field(value, path):
    """Returns the field of that path, of whichever object."""
    found, = (field for one in value["objects"] for field in one["fields"] if field["path"] == path)
    return found


def first(result):
    return result.stdout.splitlines()[0]


def differences(value):
    return sorted(field["path"] for one in value["objects"] for field in one["fields"] if field["differs"])


def test_a_team_space_in_sync(cluster):
    name = cluster.converged_team(pods=4, cpu="1")
    wait_for(lambda: cluster.quota(name).get("status", {}).get("used"), "the quota is counted")
    result = explain(cluster, name)
    assert first(result) == f"TeamSpace {name} is in sync: a pass changes nothing."
    assert said(r"^ +pods +4 \(0 used\) += +cnpa-op, \d+s ago$", result.stdout)
    assert said(r"^ +owner +this TeamSpace += +cnpa-op, \d+s ago$", result.stdout)
    assert result.stdout.splitlines()[-1] == f"Archives of {name}: none in {cluster.archive}"
    value = document(cluster, name)
    assert (value["standing"], value["changes"], differences(value), value["holds"]) == ("InSync", 0, [], [])
    assert [one["kind"] for one in value["objects"]] == ["TeamSpace", "Namespace", "ResourceQuota"]
    assert field(value, "metadata.finalizers")["lastWriter"]["manager"] == "cnpa-op"
    assert value["objects"][0]["createdAt"] == cluster.team(name)["metadata"]["creationTimestamp"]


def test_a_drift_says_first_what_and_who_and_what_becomes_of_it(cluster):
    name = cluster.converged_team(pods=4)
    cluster.kubectl("patch", "resourcequota", "team-quota", "-n", f"team-{name}", "--type=merge",
                    "-p", '{"spec":{"hard":{"pods":"99"}}}')
    cluster.kubectl("label", "namespace", f"team-{name}", f"{LABEL}-")
    lines = explain(cluster, name).stdout.splitlines()
    assert lines[0] == f"TeamSpace {name} is not in sync: the next pass makes 2 changes."
    changes = [line.strip() for line in lines[1:3]]
    # The very words of --diff, but for the age and the place of the columns.
    planned = cluster.diff().stdout.splitlines()[:-1]
    words = re.compile(r"\d+s ago| +")
    assert [words.sub(" ", line) for line in changes] == [words.sub(" ", line) for line in planned]
    assert said(r"^~ +pods +99( \(\d+ used\))? +4 +kubectl-patch, \d+s ago$", "\n".join(lines))
    assert said(rf"^\+ +label +none +{name} +removed, by whom is not known$", "\n".join(lines))
    value = document(cluster, name)
    assert (value["standing"], value["changes"]) == ("OutOfSync", 2)
    assert differences(value) == [f"metadata.labels['{LABEL}']", "spec.hard.pods"]
    assert field(value, "spec.hard.pods")["lastWriter"]["manager"] == "kubectl-patch"
    assert field(value, f"metadata.labels['{LABEL}']")["removed"]


def test_a_spec_that_is_not_applied_yet_is_nobodys_drift(cluster):
    name = cluster.converged_team(pods=4)
    cluster.patch_team(name, {"spec": {"pods": 5}})
    assert first(explain(cluster, name)).endswith("Its spec was changed: generation 2 is there, 1 was applied.")


def test_a_refused_one_says_why_and_what_to_do(cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    assert cluster.once().code == 1
    result = explain(cluster, name)
    assert first(result) == f"TeamSpace {name} is refused, until somebody acts:"
    assert said(r"^  ! NamespaceConflict: .* hand it over .*: kubectl label namespace", result.stdout)
    assert said(rf"^Namespace/team-{name}  is not ours, nothing in it is touched", result.stdout)
    value = document(cluster, name)
    assert (value["standing"], value["reason"]) == ("Refused", "NamespaceConflict")
    assert value["message"] == cluster.ready(name)["message"]
    assert [one["presence"] for one in value["objects"]] == ["There", "Foreign"]


def test_a_new_one_has_nothing_yet(cluster):
    name = cluster.create_team(pods=3)
    result = explain(cluster, name)
    assert first(result) == f"TeamSpace {name} is new: the next pass makes 4 changes."
    assert said(rf"^Namespace/team-{name}  is not there, the next pass makes it$", result.stdout)
    assert said(r"^\+ +pods +none +3$", result.stdout)
    assert document(cluster, name)["standing"] == "New"


def test_a_deletion_that_another_finalizer_holds(cluster):
    name = cluster.create_team(finalizers=[HOLD])
    cluster.converge()
    cluster.delete_team(name)
    before = explain(cluster, name)
    assert said(rf"^TeamSpace {name} is being deleted, for \d+s: the next pass archives it and lets it go\.$",
                before.stdout)
    assert said(rf"^  - TeamSpace/{name}  finalizer {FINALIZER} removed$", before.stdout)
    cluster.converge()
    after = explain(cluster, name)
    assert said(r"nothing is left for cnpa-op to do, others hold it:$", first(after))
    assert said(rf"^  \. TeamSpace/{name} is held by the finalizer {HOLD}: whoever put it on must take it off$",
                after.stdout)
    assert said(rf"^  {name}\.json  archived \S+, uid \S+$", after.stdout)
    value = document(cluster, name)
    assert (value["standing"], value["changes"]) == ("Deleting", 0)
    assert value["holds"] == [{"kind": "TeamSpace", "name": name, "cause": HOLD, "message": None}]
    file, = value["archives"]["files"]
    assert (file["file"], file["uid"]) == (f"{name}.json", cluster.team(name)["metadata"]["uid"])


def test_a_namespace_that_can_not_end_says_what_is_left_in_it(cluster):
    name = cluster.converged_team()
    path = f"{NAMESPACES}/team-{name}/configmaps"
    cluster.api("POST", path, {"apiVersion": "v1", "kind": "ConfigMap",
                               "metadata": {"name": "stuck", "finalizers": [HOLD]}})
    try:
        cluster.api("DELETE", f"{NAMESPACES}/team-{name}")
        wait_for(lambda: any(condition["status"] == "True"
                             for condition in cluster.namespace(name)["status"].get("conditions", [])),
                 "the namespace says what is left")
        result = explain(cluster, name)
        assert first(result) == f"TeamSpace {name} waits for the end of its old namespace:"
        assert said(rf"^  \. Namespace/team-{name} is held by NamespaceFinalizersRemaining: .*{HOLD} in 1 resource",
                    result.stdout)
        value = document(cluster, name)
        assert (value["standing"], value["reason"]) == ("Waiting", "NamespaceTerminating")
        assert {hold["cause"] for hold in value["holds"]} == {
            "NamespaceContentRemaining", "NamespaceFinalizersRemaining"}
        cluster.delete_team(name)
        cluster.converge()
        wait_for(lambda: cluster.team(name) is None, "the TeamSpace is gone")
        gone = explain(cluster, name, code=1)
        assert said(rf"^Namespace/team-{name}  is being deleted, for \d+s", gone.stdout)
        assert said("is held by NamespaceContentRemaining", gone.stdout)
    finally:
        cluster.patch(f"{path}/stuck", {"metadata": {"finalizers": None}})


def test_archives_of_a_name_outlive_its_team_spaces(cluster):
    name = cluster.new_name()
    for _ in range(2):
        cluster.converged_team(name)
        cluster.delete_team(name)
        cluster.converge()
        cluster.wait_gone(name)
    (cluster.archive / f"{name}.other.json").write_text(json.dumps({"name": f"{name}.other", "uid": "u"}))
    result = explain(cluster, name, code=1)
    assert result.lines == [f"cnpa-op: there is no TeamSpace '{name}'"]
    assert first(result) == f"Archives of {name} in {cluster.archive}:"
    assert len(said(r"^  \S+  archived \S+, uid \S+$", result.stdout)) == 2
    value = document(cluster, name, code=1)
    assert (value["standing"], value["objects"]) == ("Unknown", [])
    assert [file["file"] for file in value["archives"]["files"]][0] == f"{name}.json"
    assert len({file["uid"] for file in value["archives"]["files"]}) == 2


@pytest.mark.parametrize("name", ["nobody", "No_Body", "a,b", "../x"])
def test_an_unknown_name_is_a_line_and_code_1(cluster, name):
    result = explain(cluster, name, code=1)
    assert result.lines == [f"cnpa-op: there is no TeamSpace '{name}'"]
    assert said("none in", result.stdout)


def test_an_archive_that_can_not_be_read_is_said(cluster):
    name = cluster.converged_team()
    cluster.archive.mkdir()
    (cluster.archive / f"{name}.json").write_text("{")
    assert said(rf"^  {name}\.json  can't be read: not JSON", explain(cluster, name).stdout)
    away = cluster.home / "file"
    away.write_text("")
    result = cluster.run("explain", name, "--kubeconfig", cluster.plane.user_kubeconfig, "--archive", away)
    assert (result.code, result.stdout.splitlines()[-1]) == (
        0, f"Archives of {name}: nobody can say, archive folder '{away}': not a directory")


def test_what_the_last_pass_ran_into_is_told(cluster, without):
    name = cluster.create_team()
    without("", "resourcequotas", "create")
    assert cluster.once().code == 1
    verdict, words, *changes = explain(cluster, name).stdout.splitlines()
    assert re.fullmatch(rf"TeamSpace {name} is refused by the server \(Forbidden, \d+s ago\); the next pass tries again:", verdict)
    assert re.match("  ! .*create resource", words)
    assert changes[0].startswith(f"  + ResourceQuota/team-{name}/team-quota")
    told = document(cluster, name)
    assert (told["standing"], told["reason"], told["lastReason"]) == ("Refused", None, "Forbidden")
    cluster.patch_team(name, {"spec": {"pods": 5}})
    verdict, *rest = explain(cluster, name).stdout.splitlines()
    assert "is not in sync" in verdict, "another spec was not tried yet"
    assert said(r"^  ! The last pass that tried said Forbidden, \d+s ago: .*create resource", rest)


def test_what_a_pass_is_told_to_leave_alone_is_said(cluster):
    name = cluster.create_team()
    other = cluster.run("explain", name, "--kubeconfig", cluster.plane.user_kubeconfig, env={"CNPA_OP_ONLY": "a,b"})
    assert other.lines == [
        f"cnpa-op: warning: this configuration has --only, so its passes leave TeamSpace '{name}' alone"]
    this = cluster.run("explain", name, "--kubeconfig", cluster.plane.user_kubeconfig,
                       env={"CNPA_OP_ONLY": f"a,{name}"})
    assert this.stderr == ""


def test_yaml_is_the_same_document(cluster):
    name = cluster.converged_team()
    yaml = explain(cluster, name, "-o", "yaml").stdout
    assert yaml.startswith('version: 1\nkind: "Explanation"\n') and f'teamSpace: "{name}"' in yaml


def test_it_asks_for_this_team_space_only(cluster):
    name = cluster.converged_team()
    cluster.create_team()
    asked = [request.uri.partition("&timeout")[0] for request in explain(cluster, name).requests]
    selector = "?fieldSelector=metadata.name%3D"
    assert sorted(asked) == sorted([
        f"{TEAMS}{selector}{name}", f"{NAMESPACES}{selector}team-{name}",
        f"{NAMESPACES}/team-{name}/resourcequotas{selector}team-quota"])


@pytest.mark.parametrize("group,resource", [("platform.labhub.io", "teamspaces"), ("", "namespaces"),
                                            ("", "resourcequotas")])
def test_a_right_that_lacks_is_named(cluster, without, group, resource):
    name = cluster.converged_team()
    without(group, resource, "list")
    result = explain(cluster, name, code=3)
    assert result.stdout == ""
    assert f"cannot list {resource}" in result.only_line and "cnpa-op rbac | kubectl apply -f -" in result.only_line


def test_what_can_not_be_read_or_is_asked_wrongly(cluster):
    assert cluster.run("explain", "x", "--kubeconfig", "/nowhere").code == 2
    for names in ([], ["a", "b"]):
        result = cluster.run("explain", *names)
        assert (result.code, result.only_line) == (
            2, "cnpa-op: explain takes the name of one team space: cnpa-op explain NAME")
    away = cluster.home / "away"
    away.write_text("{current-context: a, clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}],"
                    " contexts: [{name: a, context: {cluster: a}}]}")
    result = cluster.run("explain", "x", "--kubeconfig", away)
    assert (result.code, result.stdout) == (3, "")
    assert "cannot reach https://127.0.0.1:1: connection refused" in result.only_line


def test_an_unknown_name_comes_with_a_near_one(cluster):
    name = cluster.converged_team()
    for typed in (f"team-{name}", name + "x"):
        result = explain(cluster, typed, code=1)
        assert result.lines == [f"cnpa-op: there is no TeamSpace '{typed}': did you mean '{name}'?"]


def test_failures_are_one_document_too(cluster):
    result = cluster.run("explain", "alpha", "-o", "json", "--kubeconfig", "/nowhere")
    assert result.code == 2
    value = json.loads(result.stdout)
    Draft202012Validator(SCHEMA).validate(value)
    assert (value["teamSpace"], [f"cnpa-op: {value['error']}"]) == ("alpha", result.lines)
