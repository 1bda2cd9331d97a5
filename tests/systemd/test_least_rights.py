# SPDX-License-Identifier: Apache-2.0
"""What docs/systemd.md has one type, word for word."""

import re

import pytest

from support import REPOSITORY, drop_in, put_kubeconfig

KUBECONFIG = "/etc/cnpa-op/kubeconfig"
ADMIN = "/root/admin.kubeconfig"


def blocks(heading, language):
    """Returns the code blocks below a heading of docs/systemd.md."""
    text = (REPOSITORY / "docs" / "systemd.md").read_text()
    section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.S)


@pytest.fixture
def made(host, plane):
    """The machine after the commands of the document were run there."""
    put_kubeconfig(host, plane.admin_kubeconfig, ADMIN)
    commands, = blocks("Least rights", "sh")
    environment = {"PATH": f"{plane.bin_folder}:/usr/sbin:/usr/bin:/sbin:/bin", "KUBECONFIG": ADMIN, "HOME": "/root",
                   "KUBECACHEDIR": "/root/kubectl-cache"}
    host.run("sh", "-c", commands, environment=environment)
    yield host
    host.run("rm", "-rf", "/etc/cnpa-op", ADMIN)


def test_the_documented_commands_make_a_kubeconfig_that_suffices(made, cluster):
    name = cluster.create_team()
    mark = cluster.mark()
    made.run("cnpa-op", "reconcile", "--once", "--kubeconfig", KUBECONFIG, "--archive", "/root/archive")
    assert cluster.quota(name)
    users = {event["user"]["username"] for event in cluster.plane.audit_since(mark)
             if event["userAgent"].startswith("cnpa-op/")}
    assert users == {"cnpa-op"}


def test_the_documented_kubeconfig_has_no_right_but_those_of_rbac(made, cluster):
    done = cluster.kubectl("auth", "can-i", "--list", kubeconfig=made.path(KUBECONFIG))
    resources = {line.split()[0] for line in done.stdout.splitlines()[1:] if not line.startswith(" ")}
    assert resources - {"selfsubjectreviews.authentication.k8s.io", "selfsubjectaccessreviews.authorization.k8s.io",
                        "selfsubjectrulesreviews.authorization.k8s.io"} == {
        "teamspaces.platform.labhub.io", "teamspaces.platform.labhub.io/status", "namespaces", "resourcequotas",
        "customresourcedefinitions.apiextensions.k8s.io", "events.events.k8s.io"}


def test_the_documented_commands_leave_a_file_that_only_root_reads(made):
    assert made.run("stat", "-c", "%U:%G %a", KUBECONFIG).stdout.strip() == "root:root 600"


def test_the_documented_commands_leave_no_key_elsewhere(made):
    assert made.run("grep", "-rl", "PRIVATE KEY", "/tmp", check=False).stdout == ""


def test_the_documented_drop_in_has_the_unit_use_that_kubeconfig(made, cluster):
    made.write_file("/etc/rancher/k3s/k3s.yaml", "nothing", 0o600)
    text, = blocks("Least rights", "ini")
    drop_in(made, "cnpa-op-diff.service", "least-rights", text)
    cluster.converged_team()
    made.systemctl("start", "cnpa-op-diff.service")
