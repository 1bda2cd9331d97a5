# SPDX-License-Identifier: Apache-2.0
"""The least rights: they suffice, and each one that lacks breaks only its own step (contract, section 4)."""

import pytest

from harness import (FINALIZER, LABEL, NAMESPACES, ROLE, TEAMS, Cluster, ControlPlane, allowed, install, said, wait_for)

API = "platform.labhub.io"
LISTS = [("", "namespaces", "list"), ("", "resourcequotas", "list"), (API, "teamspaces", "list")]
STEPS = [
    (API, "teamspaces", "patch"),
    (API, "teamspaces/status", "patch"),
    ("", "namespaces", "create"),
    ("", "namespaces", "patch"),
    ("", "resourcequotas", "create"),
    ("", "resourcequotas", "patch"),
    ("", "resourcequotas", "delete"),
]


def words(right):
    return f"{right[2]}-{right[1]}"


def done(cluster, work):
    """Returns the steps of `work` that were done."""
    def hard(step):
        quota = cluster.quota(work[step])
        return quota is not None and quota["spec"] == {"hard": {"pods": "4", "requests.cpu": "1"}}

    new = cluster.team(work["new"])
    facts = {
        "unlabeled": cluster.namespace(work["unlabeled"])["metadata"]["labels"].get(LABEL) == work["unlabeled"],
        "drifted": hard("drifted"),
        "quotaless": hard("quotaless"),
        "scoped": hard("scoped"),
        "unobserved": cluster.team(work["unobserved"])["status"]["observedGeneration"] == 1,
        "leaving": cluster.team(work["leaving"]) is None,
        "new": new.get("status", {}).get("observedGeneration") == 1,
    }
    return {step for step, is_done in facts.items() if is_done}


EVERYTHING = {"unlabeled", "drifted", "quotaless", "scoped", "unobserved", "leaving", "new"}
BROKEN = {
    (API, "teamspaces", "patch"): {"new", "leaving"},
    (API, "teamspaces/status", "patch"): {"new", "unobserved"},
    ("", "namespaces", "create"): {"new"},
    ("", "namespaces", "patch"): {"unlabeled"},
    ("", "resourcequotas", "create"): {"new", "scoped", "quotaless"},
    ("", "resourcequotas", "patch"): {"drifted"},
    ("", "resourcequotas", "delete"): {"scoped"},
}


def test_rights_are_exactly_those_that_the_contract_needs(cluster):
    rights = {(group, resource, verb, tuple(rule.get("resourceNames", [])))
              for rule in cluster.api("GET", ROLE)["rules"]
              for group in rule["apiGroups"] for resource in rule["resources"] for verb in rule["verbs"]}
    assert rights == {
        (API, "teamspaces", "list", ()),
        (API, "teamspaces", "watch", ()),
        (API, "teamspaces", "patch", ()),
        (API, "teamspaces/status", "patch", ()),
        ("", "namespaces", "list", ()),
        ("", "namespaces", "watch", ()),
        ("", "namespaces", "create", ()),
        ("", "namespaces", "patch", ()),
        ("", "resourcequotas", "create", ()),
        ("", "resourcequotas", "list", ("team-quota",)),
        ("", "resourcequotas", "watch", ("team-quota",)),
        ("", "resourcequotas", "patch", ("team-quota",)),
        ("", "resourcequotas", "delete", ("team-quota",)),
        ("apiextensions.k8s.io", "customresourcedefinitions", "get", ("teamspaces.platform.labhub.io",)),
    }


def test_every_kind_of_step_passes_with_these_rights(cluster, work):
    cluster.converge()
    assert done(cluster, work) == EVERYTHING
    assert cluster.once().writes == []


@pytest.mark.parametrize("right", LISTS, ids=words)
def test_list_that_fails_is_never_a_plan(cluster, work, without, right):
    without(*right)
    for result in (cluster.once(), cluster.diff()):
        assert (result.code, result.writes) == (3, [])
        line = result.only_line
        assert f'user "cnpa-op" cannot list {right[1]}' in line
        assert line.endswith("cnpa-op rbac | kubectl apply -f -")
    assert done(cluster, work) == set()


@pytest.mark.parametrize("right", STEPS, ids=words)
def test_right_that_lacks_breaks_only_its_step_and_is_told_with_verb_and_resource(cluster, work, without, right):
    without(*right)
    result = cluster.once()
    assert result.code == 1
    assert done(cluster, work) == EVERYTHING - BROKEN[right]
    told = said("forbidden", result.lines)
    assert len(told) == 1, result.stderr  # one line, however many team spaces it hits
    assert said(rf'user "cnpa-op" cannot {right[2]} {right[1]}\b.*cnpa-op rbac \| kubectl apply -f -', told)


@pytest.mark.parametrize("right", [right for right in STEPS if right[1] != "teamspaces/status"], ids=words)
def test_right_that_lacks_is_told_in_the_status_and_not_written_again(cluster, work, without, right):
    without(*right)
    cluster.once()
    for step in BROKEN[right] - {"leaving"}:
        ready = cluster.ready(work[step])
        assert (ready["status"], ready["reason"]) == ("False", "Forbidden")
        assert right[1] in ready["message"]
    again = cluster.once()
    assert again.code == 1
    assert not said("/status$", again.writes)


def test_pass_completes_the_work_once_the_right_is_there(cluster, work, without):
    without("", "namespaces", "create")
    assert cluster.once().code == 1
    cluster.plane.kubectl("apply", "-f", "-", input=cluster.run("rbac").stdout)
    wait_for(lambda: allowed(cluster.plane, "cnpa-op", "create", "namespaces"), "the right is back")
    cluster.converge()
    assert done(cluster, work) == EVERYTHING
    assert cluster.ready(work["new"])["reason"] == "Reconciled"


def test_pass_without_the_right_to_read_the_crd_asks_discovery(cluster, work, without):
    without("apiextensions.k8s.io", "customresourcedefinitions", "get")
    result = cluster.once()
    assert result.code == 0, result
    assert said(r"get /apis/platform\.labhub\.io/v1alpha1$", map(str, result.requests))
    assert done(cluster, work) == EVERYTHING


def test_user_without_any_right_is_told_so_in_one_line(cluster):
    name = cluster.create_team()
    certificate = cluster.plane.issue_client("nobody-in-particular")
    result = cluster.once(kubeconfig=cluster.plane.kubeconfig_for("no-rights", certificate=certificate))
    assert result.code == 3
    assert 'forbidden: user "nobody-in-particular" cannot list ' in result.only_line
    assert cluster.namespace(name) is None


# OwnerReferencesPermissionEnforcement, as on OpenShift --------------------------------------------------------------


@pytest.fixture(scope="module")
def strict_plane(binary):
    with ControlPlane(apiserver_flags=["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]) as plane:
        install(plane)
        yield plane


@pytest.fixture
def strict(strict_plane, tmp_path):
    cluster = Cluster(strict_plane, tmp_path)
    yield cluster
    cluster.clean()


def test_owner_references_permission_enforcement_needs_rbac_openshift_only_for_repairs(strict):
    name = strict.converged_team()  # making one needs no more than elsewhere
    strict.patch_namespace(name, {"metadata": {"ownerReferences": None}})
    refused = strict.once()
    assert refused.code == 1
    assert said(rf"{name}.*cannot set an ownerRef on a resource you can't delete", refused.lines), refused.stderr
    assert (strict.ready(name)["status"], strict.ready(name)["reason"]) == ("False", "WriteFailed")
    assert FINALIZER in strict.team(name)["metadata"]["finalizers"]

    strict.kubectl("apply", "-f", "-", input=strict.run("rbac", "--openshift").stdout)
    wait_for(lambda: allowed(strict.plane, "cnpa-op", "delete", "namespaces"), "the right is there")
    strict.converge()
    assert strict.namespace(name)["metadata"]["ownerReferences"] == [strict.owner_reference(name)]
    strict.delete_team(name)
    strict.converge()
    assert strict.team(name) is None
