# SPDX-License-Identifier: Apache-2.0
"""`cnpa-op get` on a real control plane: the team spaces as people want to see them."""

import json

from jsonschema import Draft202012Validator

from harness import NAMESPACES, REPOSITORY, run_binary, wait_for

SCHEMA = json.loads((REPOSITORY / "docs" / "get.schema.json").read_text())
Draft202012Validator.check_schema(SCHEMA)


def rows(result):
    """Returns the table as lists of words, without its head."""
    return [line.split() for line in result.stdout.splitlines()[1:]]


def get(cluster, *arguments):
    return cluster.run("get", *arguments, "--kubeconfig", cluster.plane.user_kubeconfig)


def test_the_table_has_what_is_used_of_what_is_allowed_and_how_each_team_space_is(cluster):
    name = cluster.converged_team(pods=4, cpu="2")
    cluster.api("POST", f"{NAMESPACES}/team-{name}/pods", {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"},
        "spec": {"containers": [{"name": "x", "image": "x", "resources": {"requests": {"cpu": "1500m"}}}]}})
    wait_for(lambda: cluster.quota(name)["status"]["used"]["pods"] == "1", "the pod is counted")
    result = get(cluster)
    assert (result.code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].split() == ["NAME", "NAMESPACE", "PODS", "CPU", "READY", "REASON", "AGE"]
    row, = rows(result)
    assert row[:6] == [name, f"team-{name}", "1/4", "1500m/2", "True", "Reconciled"]
    assert result.writes == []


def test_what_no_pass_has_looked_at_and_what_is_refused_is_seen_at_once(cluster):
    new, refused = sorted([cluster.create_team(cluster.new_name("a")), cluster.create_team(cluster.new_name("b"))])
    cluster.create_namespace(refused)
    assert [row[:6] for row in rows(get(cluster))] == [
        [new, "-", "-", "-", "Unknown", "Pending"], [refused, "-", "-", "-", "Unknown", "NamespaceConflict"]]
    wide = get(cluster, new, "-o", "wide").stdout.splitlines()
    assert wide[0].split()[-3:] == ["OBSERVED", "DIFFERENCES", "MESSAGE"]
    assert wide[1].split()[7:9] == ["-/1", "4"]


def test_drift_is_seen_in_the_table_until_a_pass_has_repaired_it(cluster):
    edited, deleted, changed, fine = sorted(cluster.converged_team() for _ in range(4))
    cluster.patch_quota(edited, {"pods": "99"})
    cluster.api("DELETE", cluster.quota_path(deleted))
    cluster.patch_team(changed, {"spec": {"pods": 9}})

    def reasons():
        return {row[0]: (row[4], row[5]) for row in rows(get(cluster))}

    assert reasons() == {edited: ("True", "Drift"), deleted: ("True", "Drift"), changed: ("True", "Pending"),
                         fine: ("True", "Reconciled")}
    items = json.loads(get(cluster, edited, "-o", "json").stdout)["items"]
    assert [(item["state"], item["differences"]) for item in items] == [("Drift", 1)]
    assert "\x1b[33mDrift\x1b[0m" in get(cluster, "--color=always").stdout
    cluster.converge()
    assert set(reasons().values()) == {("True", "Reconciled")}


def test_names_choose_and_an_unknown_one_is_a_line_and_code_1(cluster):
    first, second = sorted([cluster.converged_team(), cluster.converged_team()])
    assert [row[0] for row in rows(get(cluster, second))] == [second]
    result = get(cluster, "nobody", first)
    assert result.code == 1
    assert [row[0] for row in rows(result)] == [first]
    assert result.lines == ["cnpa-op: there is no TeamSpace 'nobody'"]
    assert get(cluster, f"team-{first}").lines == [
        f"cnpa-op: there is no TeamSpace 'team-{first}': did you mean '{first}'?"]


def test_what_get_prints_as_names_is_taken_back_wherever_a_name_is(cluster):
    names = sorted([cluster.converged_team(), cluster.converged_team()])
    printed = get(cluster, "-o=name").stdout.split()
    assert printed == [f"teamspace.platform.labhub.io/{name}" for name in names]
    assert [row[0] for row in rows(get(cluster, *printed))] == names
    assert cluster.run("explain", printed[0], "--kubeconfig", cluster.plane.user_kubeconfig).code == 0
    assert cluster.once("--only", ",".join(printed)).code == 0


def test_a_name_is_a_name_though_a_command_is_called_so(cluster):
    names = sorted(["check", "explain", "reconcile"])
    for name in names:
        cluster.converged_team(name)
    cluster.patch_quota("reconcile", {"pods": "99"})
    flags = ["--kubeconfig", cluster.plane.user_kubeconfig]
    for name in names:
        assert [row[0] for row in rows(get(cluster, name))] == [name]
        assert [row[0] for row in rows(cluster.run(*flags, "get", "--", name))] == [name]
        told = cluster.run("explain", name, *flags)
        assert (told.code, told.writes) == (0, [])
        assert told.stdout.startswith(f"TeamSpace {name} is ")
    assert cluster.hard("reconcile")["pods"] == "99"


def test_who_may_list_team_spaces_alone_sees_those_and_what_the_rest_takes(cluster):
    name = cluster.converged_team(pods=4, cpu="500m")
    kubeconfig = cluster.plane.kubeconfig_for("tenant", certificate=cluster.plane.issue_client("tenant"))
    cluster.kubectl("apply", "-f", "-", input=json.dumps({
        "apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "tenant"},
             "rules": [{"apiGroups": ["platform.labhub.io"], "resources": ["teamspaces"], "verbs": ["get", "list"]}]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "tenant"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "tenant"},
             "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "tenant"}]}]}))

    def shown(*arguments):
        return run_binary([*arguments, "--kubeconfig", kubeconfig], cluster.home)

    try:
        wait_for(lambda: shown("get").code == 0, "the role is in force")
        result = shown("get")
        row, = rows(result)
        assert row[:6] == [name, f"team-{name}", "?/4", "?/500m", "True", "Reconciled"]
        line, = result.lines
        assert line.startswith("cnpa-op: warning: shown is only what the team spaces themselves say: forbidden: "
                               'user "tenant" cannot list ')
        assert line.endswith(
            ": get needs to list teamspaces, namespaces and resourcequotas; ask a cluster admin for it")
        document = json.loads(shown("get", "-o", "json").stdout)
        Draft202012Validator(SCHEMA).validate(document)
        assert document["items"][0]["differences"] is None
        told = shown("explain", name)
        assert told.code == 3
        assert "cnpa-op rbac" not in told.stderr + result.stderr
        assert "explain needs to list teamspaces, namespaces, and the resourcequotas of the team's" in told.only_line
    finally:
        cluster.kubectl("delete", "clusterrole,clusterrolebinding", "tenant")
    stranger = cluster.plane.kubeconfig_for("stranger2", certificate=cluster.plane.issue_client("stranger2"))
    refused = run_binary(["get", "--kubeconfig", stranger], cluster.home)
    assert refused.code == 3
    assert 'user "stranger2" cannot list' in refused.only_line and "cnpa-op rbac" not in refused.only_line


def test_json_and_yaml_are_the_same_document(cluster):
    name = cluster.converged_team(pods=4, cpu="500m")
    document = json.loads(get(cluster, "-o", "json").stdout)
    Draft202012Validator(SCHEMA).validate(document)
    assert (document["version"], document["kind"]) == (1, "TeamSpaces")
    item, = document["items"]
    assert (item["name"], item["namespace"], item["state"], item["ready"]) == (name, f"team-{name}", "Reconciled", True)
    assert item["pods"]["limit"] == "4" and item["cpu"]["limit"] == "500m"
    assert item["createdAt"] == cluster.team(name)["metadata"]["creationTimestamp"]
    yaml = get(cluster, "-o", "yaml").stdout
    assert yaml.startswith('version: 1\nkind: "TeamSpaces"\nitems:\n  - name: ')
    assert f'createdAt: "{item["createdAt"]}"' in yaml and "observedGeneration: 1\n" in yaml


def test_no_team_space_at_all_is_said_and_no_failure(cluster):
    result = get(cluster)
    assert (result.code, result.stdout) == (0, "")
    assert result.lines == ["cnpa-op: no TeamSpaces found"]


def test_what_can_not_be_read_has_the_codes_of_a_pass(cluster):
    assert cluster.run("get", "--kubeconfig", "/nowhere").code == 2
    away = cluster.home / "away"
    away.write_text("{current-context: a, clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1'}}],"
                    " contexts: [{name: a, context: {cluster: a}}]}")
    result = cluster.run("get", "--kubeconfig", away)
    assert (result.code, result.stdout) == (3, "")
    assert "cannot reach https://127.0.0.1:1: connection refused" in result.only_line


def test_failures_are_one_document_too(cluster):
    result = cluster.run("get", "-o", "json", "--kubeconfig", "/nowhere")
    document = json.loads(result.stdout)
    Draft202012Validator(SCHEMA).validate(document)
    assert result.code == 2
    assert [f"cnpa-op: {document['error']}"] == result.lines
    yaml = cluster.run("get", "-o", "yaml", "--kubeconfig", "/nowhere").stdout
    assert yaml.startswith('version: 1\nkind: "TeamSpaces"\nerror: ')
