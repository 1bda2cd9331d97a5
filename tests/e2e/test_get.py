# SPDX-License-Identifier: Apache-2.0
"""`cnpa-op get` on a real control plane: the team spaces as people want to see them."""

import json

from harness import NAMESPACES, wait_for


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
    assert get(cluster, "-o", "name").stdout.split() == [
        f"teamspace.platform.labhub.io/{name}" for name in (first, second)]


def test_json_and_yaml_are_the_same_document(cluster):
    name = cluster.converged_team(pods=4, cpu="500m")
    document = json.loads(get(cluster, "-o", "json").stdout)
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
