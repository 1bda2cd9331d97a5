# SPDX-License-Identifier: Apache-2.0
"""CRDs other than the binary's own, a CRD that is missing or being deleted, and a server that starts.

They have a control plane of their own (contract, section 4).
"""

import json
import re

import pytest

from harness import (CRD, FINALIZER, LABEL, PLAIN_CRD, ROLES, TEAMS, Cluster, ControlPlane, allowed, install,
                     own_requests, plain_crd, print_manifest, remove_crd, run_binary, said, use_crd, wait_for,
                     watch_count)

LONG_NAME = "a" * 59
DOTTED_NAME = "a.b"
ARCHIVE_LONG_NAME = "x" * 200


@pytest.fixture(scope="module")
def own_plane(binary):
    with ControlPlane() as plane:
        yield plane


@pytest.fixture
def bare(own_plane, tmp_path):
    """A control plane whose CRD a test may spoil."""
    cluster = Cluster(own_plane, tmp_path)
    yield cluster
    cluster.clean()


def make_plain(cluster):
    """Makes the CRD that has no rules and no conditions the cluster's, unless it is."""
    there = cluster.api("GET", CRD, allow=(404,))
    if there is None or "conditions" in json.dumps(there["spec"]):
        use_crd(cluster, PLAIN_CRD)


@pytest.fixture
def plain(bare):
    """With the CRD that has no rules and no conditions."""
    make_plain(bare)
    return bare


# Without rules ------------------------------------------------------------------------------------------------------


def test_crd_without_conditions_gets_observed_generation_and_namespace_alone_and_it_is_said_once(plain):
    first, second = plain.create_team(), plain.create_team()
    result = plain.once()
    assert result.code == 0, result
    for name in (first, second):
        assert plain.team(name)["status"] == {"observedGeneration": 1, "namespace": f"team-{name}"}
    assert len(said("conditions", result.lines)) == 1, result.stderr
    again = plain.once()
    assert (again.code, again.writes) == (0, [])


def without_namespace_uid():
    """Returns our CRD as it was before it had status.namespaceUID."""
    manifest = print_manifest("crd")
    head, _, rest = manifest.partition("              namespaceUID:\n")
    return head + rest[rest.index("              conditions:\n"):]


@pytest.mark.parametrize("may_read_crd", [True, False], ids=["with-the-right", "without-the-right"])
def test_older_crd_costs_no_write_and_an_upgrade_one_each(bare, may_read_crd):
    use_crd(bare, without_namespace_uid())
    names = [bare.create_team(), bare.create_team()]
    if not may_read_crd:
        take_right_away(bare, "customresourcedefinitions")
    assert bare.once().code == 0
    assert "namespaceUID" not in bare.team(names[0])["status"]
    assert (bare.once().code, bare.once().writes) == (0, [])
    # There a namespace without any mark is a conflict.
    bare.patch_namespace(names[1], {"metadata": {"labels": {LABEL: None}, "ownerReferences": None}})
    assert bare.once().code == 1
    assert bare.ready(names[1])["reason"] == "NamespaceConflict"
    bare.patch_namespace(names[1], {"metadata": {"labels": {LABEL: names[1]}}})
    bare.converge()
    if not may_read_crd:
        return
    install(bare.plane, crd=print_manifest("crd"))
    told = [{"op": "add", "path": "/status/namespaceUID", "value": "x"}]
    wait_for(lambda: bare.plane.request("PATCH", f"{TEAMS}/{names[0]}/status?dryRun=All&fieldValidation=Strict", told,
                                        content_type="application/json-patch+json").status == 200,
             "the new schema is in force")
    upgraded = bare.once()
    assert [write.rpartition("/")[2] for write in upgraded.writes] == ["status", "status"], upgraded
    assert len(said("namespaceUID none -> ", upgraded.lines)) == 2 and not said("removed", upgraded.lines)
    for name in names:
        assert bare.team(name)["status"]["namespaceUID"] == bare.namespace(name)["metadata"]["uid"]
    quiet = bare.once()
    assert quiet.writes == [] and not said("customresourcedefinitions", map(str, quiet.requests))


def test_crd_without_conditions_is_no_reason_not_to_linger(plain):
    name = plain.create_team(pods=4)
    assert plain.once().code == 0
    mark = plain.mark()
    with plain.started("reconcile", "--interval=1h", "--linger=1h"):
        wait_for(lambda: watch_count(plain, mark) == 3, "it watches")
        plain.patch_quota(name, {"pods": "99"})
        wait_for(lambda: plain.hard(name)["pods"] == "4", "it is repaired")


def test_crd_without_conditions_that_may_not_be_read_is_known_by_its_published_schema(plain):
    older = plain.converged_team()
    newer = plain.create_team()
    refused = plain.create_team(LONG_NAME)

    def check():
        result = plain.once()
        assert said(rf"TeamSpace/{refused} +InvalidName", result.lines), result.stderr
        assert plain.team(newer)["status"] == {"observedGeneration": 1, "namespace": f"team-{newer}"}
        assert len(said("conditions", result.lines)) == 1, result.stderr
        assert said("1 refused; 5 writes", result.lines), "each of them was taken"
        again = plain.once()
        assert (again.code, again.writes) == (1, []), again
        plain.api("DELETE", f"{TEAMS}/{refused}")
        assert plain.converge() and plain.once().writes == []
        assert plain.team(older)["status"] == {"observedGeneration": 1, "namespace": f"team-{older}"}

    without_reading_crds(plain, check)


@pytest.mark.parametrize("name", [LONG_NAME, DOTTED_NAME], ids=["long", "dot"])
def test_name_that_no_namespace_can_have_is_invalid_name_and_others_go_on(plain, name):
    plain.create_team(name)
    other = plain.create_team()
    result = plain.once()
    assert result.code == 1
    assert said(r"InvalidName", result.lines)
    assert plain.namespace(other)
    again = plain.once()
    assert (again.code, again.writes) == (1, [])


@pytest.mark.parametrize("name", [LONG_NAME, DOTTED_NAME], ids=["long", "dot"])
def test_team_space_with_an_invalid_name_can_still_be_deleted(plain, name):
    plain.create_team(name)
    plain.once()
    assert plain.team(name)["metadata"]["finalizers"] == [FINALIZER]
    plain.delete_team(name)
    plain.converge()
    assert plain.team(name) is None
    assert plain.archived(f"{name}.json")["name"] == name


def test_archive_of_a_name_that_no_file_could_bear_is_shortened_and_has_the_full_name_inside(plain):
    plain.create_team(ARCHIVE_LONG_NAME, finalizers=[FINALIZER])
    uid = plain.team(ARCHIVE_LONG_NAME)["metadata"]["uid"]
    plain.delete_team(ARCHIVE_LONG_NAME)
    plain.converge()
    record = plain.archived(f"{'x' * 100}.{uid}.json")
    assert (record["name"], record["uid"]) == (ARCHIVE_LONG_NAME, uid)


@pytest.mark.parametrize("cpu", ["abc", "", "-1", "0", "1x", "1e4000000000", "1" * 200],
                         ids=["word", "empty", "negative", "zero", "suffix", "huge-exponent", "long"])
def test_cpu_that_is_no_quantity_is_invalid_quantity_for_this_one_only_and_never_sent_on(plain, cpu):
    bad = plain.create_team(cpu=cpu)
    good = plain.create_team()
    result = plain.once()
    assert result.code == 1
    assert said(rf"TeamSpace/{bad} +InvalidQuantity: .*spec\.cpu", result.lines)
    assert plain.namespace(bad) is None
    assert plain.hard(good) == {"pods": "4", "requests.cpu": "1"}
    again = plain.once()
    assert (again.code, again.writes) == (1, [])


def test_valid_quantity_that_only_a_plain_crd_takes_is_kept_by_value(plain):
    name = plain.create_team(cpu="1.2345678901")
    plain.converge()
    assert plain.hard(name)["requests.cpu"] == "1235m"
    assert plain.once().writes == []


# With the binary's own CRD over older objects -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def ruled_after_plain(own_plane, tmp_path_factory):
    """Objects of the plain CRD under the binary's own: what an upgrade of the CRD leaves."""
    cluster = Cluster(own_plane, tmp_path_factory.mktemp("upgrade"))
    make_plain(cluster)
    cluster.clean()
    cluster.create_team(DOTTED_NAME)
    bad_cpu = cluster.create_team(cpu="abc")
    own_plane.kubectl("apply", "--server-side", "--force-conflicts", "-f", "-", input=print_manifest("crd"))
    wait_for(lambda: own_plane.request("POST", f"{TEAMS}?dryRun=All", {
        "apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "metadata": {"name": "b.c"},
        "spec": {"pods": 1}}).status == 422, "the rules are in force")
    return bad_cpu


def test_older_objects_that_break_the_rules_are_told_in_their_status_and_can_be_deleted(bare, ruled_after_plain):
    bad_cpu = ruled_after_plain
    result = bare.once()
    assert result.code == 1
    assert bare.ready(DOTTED_NAME)["reason"] == "InvalidName"
    assert bare.ready(bad_cpu)["reason"] == "InvalidQuantity"
    assert "observedGeneration" not in bare.team(bad_cpu)["status"]
    again = bare.once()
    assert (again.code, again.writes) == (1, [])
    for name in (DOTTED_NAME, bad_cpu):
        bare.delete_team(name)
    bare.converge()
    assert bare.api("GET", TEAMS)["items"] == []


# Spoilt CRDs --------------------------------------------------------------------------------------------------------


def test_crd_without_the_status_subresource_is_found_out_and_said(bare):
    use_crd(bare, plain_crd(lambda version: version.pop("subresources")))
    name = bare.create_team()
    result = bare.once()
    assert result.code == 1
    assert said(r"status", result.lines), result.stderr
    assert bare.hard(name) == {"pods": "4", "requests.cpu": "1"}
    version = bare.team(name)["metadata"]["resourceVersion"]
    assert bare.once().code == 1
    assert bare.team(name)["metadata"]["resourceVersion"] == version


def test_crd_that_loses_the_status_subresource_is_found_out_although_all_have_a_whole_status(bare):
    use_crd(bare, print_manifest("crd"))
    behind, conflicting = bare.converged_team(), bare.converged_team()
    crd = bare.api("GET", CRD)
    for version in crd["spec"]["versions"]:
        version.pop("subresources")
    bare.api("PUT", CRD, crd)
    wait_for(lambda: bare.plane.request("PATCH", f"{TEAMS}/{behind}/status", {}).status == 404, "it is gone")
    bare.patch_team(behind, {"spec": {"pods": 5}})
    bare.patch_namespace(conflicting, {"metadata": {"labels": {LABEL: None},
                                                    "ownerReferences": [bare.owner_reference(behind)]}})
    for expected in ([f"patch {bare.quota_path(behind)}"], []):
        result = bare.once()
        assert (result.code, [str(write) for write in result.writes]) == (1, expected), result
        assert said("CrdUnfit: the TeamSpace CRD has no status subresource", result.lines), result.stderr
    assert said("CrdUnfit", bare.diff().stdout)


def test_crd_that_prunes_a_field_that_we_write_is_found_out_and_said(bare):
    def prune(version):
        del version["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["namespace"]

    use_crd(bare, plain_crd(prune))
    name = bare.create_team()
    result = bare.once()
    assert result.code == 1
    assert said(r"namespace", said(r"status", result.lines)), result.stderr
    version = bare.team(name)["metadata"]["resourceVersion"]
    assert bare.once().code == 1
    assert bare.team(name)["metadata"]["resourceVersion"] == version


def test_team_space_that_does_not_decode_is_unreadable_and_others_go_on(bare):
    def loosen(version):
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}

    use_crd(bare, plain_crd(loosen))
    bad = bare.create_team(pods="four", cpu="1")
    good = bare.create_team(pods=4, cpu="1")
    result = bare.once()
    assert result.code == 1
    assert said(rf"TeamSpace/{bad} ", result.lines)
    assert bare.namespace(bad) is None
    assert bare.namespace(good)
    again = bare.once()
    assert (again.code, again.writes) == (1, [])


def test_unreadable_team_space_can_still_be_deleted(bare):
    def loosen(version):
        version["schema"]["openAPIV3Schema"]["properties"]["spec"] = {
            "type": "object", "x-kubernetes-preserve-unknown-fields": True}

    use_crd(bare, plain_crd(loosen))
    name = bare.create_team(pods="four", cpu="1", finalizers=[FINALIZER])
    bare.delete_team(name)
    assert bare.once().code == 0
    assert bare.team(name) is None
    assert bare.archived(f"{name}.json")["name"] == name


# No list of TeamSpaces -----------------------------------------------------------------------------------------------

APPLY = "cnpa-op crd | kubectl apply -f -"
EDIT = "serve v1alpha1 as well, as cnpa-op crd prints it: kubectl edit crd teamspaces.platform.labhub.io"
RESCOPE = f"the scope can't be changed: delete the CRD, and with it its objects, then: {APPLY}"


def check_unread(cluster, says, *, server=None, of_check=None):
    """Checks that whatever lists TeamSpaces ends with 3 and this one line, and that `check` fails with its words."""
    kubeconfig = cluster.plane.user_kubeconfig
    if server:
        user = cluster.plane.issue_client("cnpa-op")
        kubeconfig = cluster.plane.kubeconfig_for("elsewhere", certificate=user, server=server)
    for arguments in (["reconcile", "--once"], ["reconcile", "--diff"], ["get"], ["explain", "red"]):
        result = run_binary([*cluster.arguments(*arguments, kubeconfig=False), "--kubeconfig", kubeconfig], cluster.home)
        assert (result.code, result.stdout) == (3, ""), result
        assert result.only_line.startswith(f"cnpa-op: {says}"), result
    checked = cluster.run("check", kubeconfig=kubeconfig)
    assert checked.code == (3 if server else 1), checked
    assert said("^FAIL .*" + re.escape(of_check or says.removeprefix("the TeamSpace CRD ")), checked.stdout.splitlines())


def without_reading_crds(cluster, check):
    """Runs `check` while the right to read CRDs is missing."""
    role = cluster.api("GET", f"{ROLES}/cnpa-op")
    take_right_away(cluster, "customresourcedefinitions")
    try:
        check()
    finally:
        cluster.api("PUT", f"{ROLES}/cnpa-op", cluster.api("GET", f"{ROLES}/cnpa-op") | {"rules": role["rules"]})
        wait_for(lambda: allowed(cluster.plane, "cnpa-op", "get", "customresourcedefinitions", "apiextensions.k8s.io",
                                 "teamspaces.platform.labhub.io"), "the right is back")


def test_missing_crd_and_names_that_another_crd_has_are_three_and_told_apart(bare):
    use_crd(bare, print_manifest("crd"))
    remove_crd(bare)
    unknown = "the TeamSpace CRD is not installed, or the server does not accept its names (only who may read CRDs can tell): "
    check_unread(bare, f"the TeamSpace CRD is not installed: {APPLY}")
    without_reading_crds(bare, lambda: check_unread(bare, unknown + APPLY))
    other = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": "teams.platform.labhub.io"}, "spec": PLAIN_CRD["spec"] | {"names": {
                 "plural": "teams", "singular": "team", "kind": "TeamSpace", "listKind": "TeamSpaceList"}}}
    crds = CRD.rpartition("/")[0]
    bare.api("POST", crds, other)
    try:
        wait_for(lambda: bare.plane.request("GET", TEAMS.replace("teamspaces", "teams")).status == 200, "it is served")
        bare.plane.kubectl("apply", "-f", "-", input=print_manifest("crd"))
        wait_for(lambda: bare.api("GET", CRD)["status"].get("conditions"), "the server has looked at the names")
        check_unread(bare, 'the TeamSpace CRD is not established ("TeamSpaceList" is already in use): another CRD has that '
                           "name, and must give it up: kubectl get crd | grep labhub.io")
        without_reading_crds(bare, lambda: check_unread(bare, unknown + APPLY))
    finally:
        bare.api("DELETE", f"{crds}/teams.platform.labhub.io")
    wait_for(lambda: bare.once().code == 0, "the names are free, and nothing needs to be applied")


def test_crd_of_another_version_or_scope_is_three_and_says_what_it_is(bare):
    remove_crd(bare)
    other = plain_crd(lambda version: version.update(name="v1"))
    bare.plane.kubectl("apply", "-f", "-", input=json.dumps(other))
    wait_for(lambda: bare.plane.request("GET", TEAMS.replace("v1alpha1", "v1")).status == 200, "it is served")
    says = f"the TeamSpace CRD does not serve v1alpha1 (but v1): {EDIT}"
    check_unread(bare, says)
    without_reading_crds(bare, lambda: check_unread(bare, says))
    remove_crd(bare)
    namespaced = PLAIN_CRD | {"spec": PLAIN_CRD["spec"] | {"scope": "Namespaced"}}
    bare.plane.kubectl("apply", "-f", "-", input=json.dumps(namespaced))
    wait_for(lambda: bare.plane.request("GET", TEAMS).status == 200, "it is served")
    bare.plane.kubectl("apply", "-f", "-", input=json.dumps({
        "apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace",
        "metadata": {"name": "red", "namespace": "default"}, "spec": {"pods": 4, "cpu": "1"}}))
    says = f"the TeamSpace CRD is not cluster scoped: {RESCOPE}"
    check_unread(bare, says)
    without_reading_crds(bare, lambda: check_unread(bare, says))
    bare.api("DELETE", CRD)


def test_address_that_leads_to_no_api_is_three_and_named(bare):
    server = f"{bare.plane.server}/wrong/path"
    check_unread(bare, f"no Kubernetes API at {server}: check 'server' in the kubeconfig, its path included "
                       '(context "elsewhere", ', server=server,
                 of_check=f"no Kubernetes API server answers at {server}: check 'server' in the kubeconfig")


def test_conversion_that_fails_fails_check_in_the_servers_words(bare):
    remove_crd(bare)
    version = PLAIN_CRD["spec"]["versions"][0]
    older, newer = ([version | {"storage": stored == "v1alpha1"}, version | {"name": "v1beta1", "storage": stored != "v1alpha1"}]
                    for stored in ("v1alpha1", "v1beta1"))
    spec = PLAIN_CRD["spec"]
    install(bare.plane, crd=json.dumps(PLAIN_CRD | {"spec": spec | {"versions": older}}))
    bare.create_team("older")
    bare.plane.kubectl("apply", "-f", "-", input=json.dumps(PLAIN_CRD | {"spec": spec | {
        "versions": newer, "conversion": {"strategy": "Webhook", "webhook": {
            "conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/convert"}}}}}))
    try:
        wait_for(lambda: bare.plane.request("POST", f"{TEAMS}?dryRun=All", {
            "apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "metadata": {"name": "probe"},
            "spec": {"pods": 4, "cpu": "1"}}).status == 500, "what is created must be converted")
        bare.plane.request("POST", TEAMS.replace("v1alpha1", "v1beta1"), {
            "apiVersion": "platform.labhub.io/v1beta1", "kind": "TeamSpace", "metadata": {"name": "newer"},
            "spec": {"pods": 4, "cpu": "1"}})
        wait_for(lambda: b"Kind=TeamSpace failed" in bare.plane.request("GET", TEAMS).body, "the list tells why")
        # A pass would take as long again to say the same.
        result = bare.run("check")
        assert result.code == 1, result
        line, = said("connection refused", result.stdout.splitlines())
        assert line.startswith("FAIL  lists ") and "see that the webhook of its spec.conversion answers" in line
        assert said("^ok +crd |^warn +crd ", result.stdout.splitlines())
    finally:
        bare.plane.kubectl("apply", "-f", "-", input=json.dumps(PLAIN_CRD | {"spec": spec | {
            "versions": newer, "conversion": {"strategy": "None"}}}))
        wait_for(lambda: bare.plane.request("GET", TEAMS).status == 200, "it converts")


# A CRD that is being deleted ----------------------------------------------------------------------------------------


def delete_crd(cluster):
    cluster.api("DELETE", CRD)
    wait_for(lambda: all("deletionTimestamp" in item["metadata"] for item in cluster.api("GET", TEAMS)["items"]),
             "every TeamSpace bears a deletionTimestamp")


def take_right_away(cluster, resource):
    """Takes the right to read CRDs away; install() of the next test brings it back."""
    role = cluster.api("GET", f"{ROLES}/cnpa-op")
    role["rules"] = [rule for rule in role["rules"] if resource not in rule["resources"]]
    cluster.api("PUT", f"{ROLES}/cnpa-op", role)
    wait_for(lambda: not allowed(cluster.plane, "cnpa-op", "get", resource, "apiextensions.k8s.io",
                                 "teamspaces.platform.labhub.io"), "the right is gone")


@pytest.mark.parametrize("may_read_crd", [True, False], ids=["by-the-crd", "by-discovery"])
def test_crd_being_deleted_holds_everything_until_allow_crd_deletion(bare, may_read_crd):
    use_crd(bare, print_manifest("crd"))
    names = [bare.create_team() for _ in range(3)]
    bare.converge()
    if not may_read_crd:
        take_right_away(bare, "customresourcedefinitions")
    delete_crd(bare)

    held = bare.once()
    assert (held.code, held.writes) == (1, []), held
    message, = said("CRD", held.lines)  # one, for all three
    assert "--allow-crd-deletion" in message
    assert not bare.archive.exists() or not bare.archives()
    for name in names:
        assert bare.team(name)["metadata"]["finalizers"] == [FINALIZER]
        assert "deletionTimestamp" not in bare.namespace(name)["metadata"]
    plan = bare.diff()
    assert (plan.code, plan.writes) == (1, [])

    released = bare.once("--allow-crd-deletion")
    assert released.code == 0, released
    assert bare.archives() == sorted(f"{name}.json" for name in names)
    wait_for(lambda: bare.api("GET", CRD, allow=(404,)) is None, "the CRD is gone")


def test_crd_is_read_for_a_deletion_that_waits_for_us_and_not_on_a_converged_cluster(bare):
    use_crd(bare, print_manifest("crd"))
    name = bare.converged_team()
    held = bare.converged_team(finalizers=["example.com/other"])
    bare.delete_team(held)
    bare.converge()
    assert not said("customresourcedefinitions", map(str, bare.once().requests))
    bare.delete_team(name)
    assert said(f"get {CRD}", map(str, bare.converge().requests))


def test_crd_deleted_and_made_anew_is_served_again(bare):
    use_crd(bare, print_manifest("crd"))
    name = bare.converged_team()
    assert bare.ready(name)["status"] == "True"


# The server ---------------------------------------------------------------------------------------------------------


def test_stopped_server_is_three_and_one_line_with_its_address(bare):
    use_crd(bare, print_manifest("crd"))
    server = bare.plane.component("kube-apiserver")
    server.kill()
    try:
        for arguments in (["--once"], ["--diff"]):
            result = run_binary(bare.arguments("reconcile", *arguments), bare.home)
            assert result.code == 3
            line = result.only_line
            assert line.startswith(f"cnpa-op: cannot reach {bare.plane.server}: connection refused")
            assert 'context "cnpa-op"' in line
            assert str(bare.plane.user_kubeconfig) in line
    finally:
        server.start()
        wait_for(lambda: bare.plane.request("GET", TEAMS).status == 200, "the CRD is served")


def test_starting_server_is_not_blamed_on_rbac_and_nothing_is_written(bare):
    use_crd(bare, print_manifest("crd"))
    name = bare.converged_team()
    server = bare.plane.component("kube-apiserver")
    server.kill()
    position = bare.plane.audit_position()
    server.start(wait=False)
    results = []

    def converged():
        results.append(run_binary(bare.arguments("reconcile", "--once"), bare.home))
        return results[-1].code == 0

    try:
        wait_for(converged, "a pass succeeds", 60)
    finally:
        server.wait_until_ready()
        wait_for(lambda: bare.plane.request("GET", TEAMS).status == 200, "the CRD is served")
    for result in results:
        assert result.code in (0, 3), result
        assert not said("forbidden|cnpa-op rbac|cnpa-op crd|unauthorized", result.lines), result.stderr
        assert len(result.lines) <= 1
    assert not [request for request in own_requests(bare.plane, position) if request.is_write]
    assert bare.ready(name)["status"] == "True"
