# SPDX-License-Identifier: Apache-2.0
"""--manage-crd: the pass keeps the CRD as the binary knows it, and never takes anything of it away."""

import json
import time

import pytest
import yaml

from harness import CRD, Cluster, ControlPlane, allowed, print_manifest, said, use_crd, wait_for

MARK = {"app.kubernetes.io/managed-by": "cnpa-op", "platform.labhub.io/installation": "default"}
CRD_NAME = "teamspaces.platform.labhub.io"
OBJECT = f"CustomResourceDefinition/{CRD_NAME}"


@pytest.fixture(scope="module")
def own_plane(binary):
    with ControlPlane() as plane:
        yield plane


def permit(plane):
    plane.kubectl("apply", "-f", "-", input=print_manifest("rbac", "--manage-crd"))
    wait_for(lambda: allowed(plane, "cnpa-op", "create", "customresourcedefinitions", "apiextensions.k8s.io"),
             "RBAC is in force")


@pytest.fixture
def cluster(own_plane, tmp_path):
    """A cluster without a CRD."""
    permit(own_plane)
    cluster = Cluster(own_plane, tmp_path)
    cluster.clean()
    cluster.api("DELETE", CRD, allow=(404,))
    wait_for(lambda: cluster.api("GET", CRD, allow=(404,)) is None, "the CRD is gone")
    return cluster


def crd(cluster):
    return cluster.api("GET", CRD)


def known():
    return yaml.safe_load(print_manifest("crd"))


def pods_of(spec):
    return spec["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["pods"]


def test_a_missing_crd_is_created_and_its_team_spaces_are_served_in_the_same_pass(cluster):
    plan = cluster.diff("--manage-crd")
    assert plan.code == 1 and plan.writes == []
    assert said(rf"^\+ {OBJECT} +is missing$", plan.stdout)
    assert said("^Plan: 1 to create", plan.stdout)
    first = cluster.once("--manage-crd")
    assert (first.code, len(first.writes)) == (0, 1), first
    assert said(rf"^\+ {OBJECT} +is missing$", first.lines)
    assert said("^0 team spaces: in sync; other objects: 1 changed; 1 write in ", first.lines)
    assert crd(cluster)["metadata"]["labels"] == MARK
    name = cluster.create_team(pods=3)
    assert cluster.once("--manage-crd").code == 0
    assert cluster.hard(name)["pods"] == "3"
    quiet = cluster.once("--manage-crd")
    assert (quiet.code, quiet.lines, quiet.writes) == (0, [], [])
    assert cluster.diff("--manage-crd").stdout == "No differences.\n"


def test_without_the_flag_no_crd_is_read_or_created(cluster):
    result = cluster.once()
    assert result.code == 3 and result.writes == []
    assert cluster.api("GET", CRD, allow=(404,)) is None


def test_an_older_crd_is_upgraded_and_what_somebody_changed_comes_back(cluster):
    older = known()
    del older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["namespaceUID"]
    use_crd(cluster, older)
    permit(cluster.plane)
    upgraded = cluster.once("--manage-crd")
    assert (upgraded.code, len(upgraded.writes)) == (0, 1), upgraded
    assert said(r"namespaceUID none -> \{", upgraded.lines) and said("managed-by none -> cnpa-op", upgraded.lines)
    pods_of(older["spec"])["maximum"] = 7
    changed = crd(cluster)["spec"]
    pods_of(changed)["maximum"] = 7
    cluster.patch(CRD, {"spec": changed})
    repaired = cluster.once("--manage-crd")
    assert (repaired.code, len(repaired.writes)) == (0, 1), repaired
    assert said(r"properties\.pods\.maximum 7 -> 50: was changed by \S+", repaired.lines)
    assert pods_of(crd(cluster)["spec"])["maximum"] == 50
    assert cluster.once("--manage-crd").writes == []


@pytest.mark.parametrize("what", ["a field", "a version", "a column"])
def test_a_newer_crd_is_left_alone_and_that_is_said(cluster, what):
    newer = known()
    version = newer["spec"]["versions"][0]
    if what == "a field":
        version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["gpus"] = {"type": "integer"}
    elif what == "a version":
        newer["spec"]["versions"].append(json.loads(json.dumps(version)) | {"name": "v1", "storage": False})
    else:
        version["additionalPrinterColumns"].append({"name": "GPUs", "type": "integer", "jsonPath": ".spec.gpus"})
    use_crd(cluster, newer)
    before = crd(cluster)["metadata"]["resourceVersion"]
    result = cluster.once("--manage-crd")
    assert (result.code, result.writes) == (0, [])
    assert said("the TeamSpace CRD has what this version does not know, and is left alone: spec.versions", result.lines)
    assert crd(cluster)["metadata"]["resourceVersion"] == before


def test_the_crd_of_another_installation_is_left_alone(cluster):
    assert cluster.once("--manage-crd", "--installation=blue").code == 0
    assert crd(cluster)["metadata"]["labels"] == MARK | {"platform.labhub.io/installation": "blue"}
    result = cluster.once("--manage-crd")
    assert (result.code, result.writes) == (1, [])
    assert said(rf"^! {OBJECT} +NotOurs: it is kept by the installation 'blue'", result.lines)


def test_json_has_the_subject_of_each_change(cluster):
    document = json.loads(cluster.diff("--manage-crd", "-o", "json").stdout)
    assert document["version"] == 2
    change, = document["changes"]
    assert change["subject"] == {"kind": "CustomResourceDefinition", "name": CRD_NAME} and "teamSpace" not in change
    assert (change["verb"], change["reason"]) == ("create", "Missing")


def test_missing_permission_is_named(cluster):
    cluster.plane.kubectl("apply", "-f", "-", input=print_manifest("rbac"))
    wait_for(lambda: not allowed(cluster.plane, "cnpa-op", "create", "customresourcedefinitions",
                                 "apiextensions.k8s.io"), "the permission is gone")
    began = time.monotonic()
    result = cluster.once("--manage-crd")
    assert time.monotonic() - began < 10, "it does not wait for what it could not create"
    assert result.code == 3 and cluster.api("GET", CRD, allow=(404,)) is None
    assert said("cannot create customresourcedefinitions", result.stderr), result
