# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests; what they hand out is in support/harness.py and support/raw_support.py."""

import copy
import os
import shutil
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent / "support"))

from harness import (BINARY, LABEL, NAMESPACES, ROLE, TEAMS, Cluster, ControlPlane, allowed, install,  # noqa: E402
                     wait_for)
from raw_support import Bench  # noqa: E402


@pytest.fixture(scope="session", autouse=True)
def binary():
    """The binary under test: $CNPA_OP, or that of the build folder."""
    if not os.access(BINARY, os.X_OK):
        pytest.exit(f"no binary to test at {BINARY}: build it, or set CNPA_OP", returncode=4)
    return BINARY


@pytest.fixture(scope="session")
def plane(binary):
    """The control plane that most tests share, with the CRD and the rights that the binary itself prints."""
    with ControlPlane() as plane:
        install(plane)
        yield plane


@pytest.fixture
def cluster(plane, tmp_path):
    """The shared control plane, without any TeamSpace at the beginning and at the end of a test."""
    cluster = Cluster(plane, tmp_path)
    yield cluster
    cluster.clean()


@pytest.fixture
def open_folder():
    """A folder that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="cnpa-op-e2e-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def bench(tmp_path_factory):
    """What a pass needs to run against a RawServer."""
    return Bench(tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def outcomes(request, bench):
    """The rows of a file that were chosen, run some at a time, since they mostly wait: a future Outcome by name."""
    calls = [test.callspec for test in request.session.items if test.path == request.path and hasattr(test, "callspec")]
    rows = [call.params["row"] for call in calls if "row" in call.params]
    with ThreadPoolExecutor(8) as pool:
        yield {row.name: pool.submit(row.run, bench) for row in rows}


@pytest.fixture
def without(cluster):
    """A function that takes one right away, and another one when called again, until the test is over."""
    whole = cluster.api("GET", ROLE)["rules"]
    rules = copy.deepcopy(whole)

    def put(rules):
        cluster.api("PUT", ROLE, cluster.api("GET", ROLE) | {"rules": rules})

    def has(group, resource, verb):
        name = {"resourcequotas": "team-quota", "customresourcedefinitions": "teamspaces.platform.labhub.io"}.get(
            resource, "") if verb != "create" else ""
        resource, _, subresource = resource.partition("/")
        return allowed(cluster.plane, "cnpa-op", verb, resource, group, name, subresource)

    def take(group, resource, verb):
        for rule in rules:
            if group in rule["apiGroups"] and resource in rule["resources"] and verb in rule["verbs"]:
                rule["verbs"].remove(verb)
        put([rule for rule in rules if rule["verbs"]])
        wait_for(lambda: not has(group, resource, verb), "the right is gone")
        taken.append((group, resource, verb))

    taken = []
    yield take
    put(whole)
    for right in taken:
        wait_for(lambda: has(*right), "the right is back")


@pytest.fixture
def work(cluster):
    """One team for each kind of step, by the name of the step."""
    names = {step: cluster.create_team(cluster.new_name(step)) for step in ("unlabeled", "drifted", "scoped",
                                                                            "unobserved", "leaving", "quotaless")}
    cluster.converge()
    names["new"] = cluster.create_team(cluster.new_name("new"))
    cluster.patch_namespace(names["unlabeled"], {"metadata": {"labels": {LABEL: None}}})
    cluster.patch_quota(names["drifted"], {"pods": "99"})
    cluster.api("DELETE", cluster.quota_path(names["quotaless"]))
    cluster.api("DELETE", cluster.quota_path(names["scoped"]))
    cluster.api("POST", f"{NAMESPACES}/team-{names['scoped']}/resourcequotas", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
        "spec": {"scopes": ["NotTerminating"], "hard": {"pods": "4"}}})
    cluster.patch(f"{TEAMS}/{names['unobserved']}/status", {"status": {"observedGeneration": 0}})
    cluster.delete_team(names["leaving"])
    return names
