# SPDX-License-Identifier: Apache-2.0
"""`cnpa-op check`: each thing that may be wrong is named with its remedy, and nothing is written anywhere."""

import base64
import json
import os
import re
import signal
import socket
import subprocess
from datetime import datetime, timedelta, timezone

import pytest
from jsonschema import Draft202012Validator

from harness import (CRD, NAMESPACES, PLAIN_CRD, REPOSITORY, TEAMS, Cluster, ControlPlane, api, install, plain_crd, print_manifest,
                     remove_crd, said, use_crd, wait_for)

REVIEWS = ("/apis/authentication.k8s.io/v1/selfsubjectreviews",
           "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
API = "platform.labhub.io"
NEEDED = [
    (API, "teamspaces", "list"),
    (API, "teamspaces", "patch"),
    (API, "teamspaces/status", "patch"),
    ("", "namespaces", "list"),
    ("", "namespaces", "create"),
    ("", "namespaces", "patch"),
    ("", "resourcequotas", "create"),
    ("", "resourcequotas", "list"),
    ("", "resourcequotas", "patch"),
    ("", "resourcequotas", "delete"),
]
GRANT = "cnpa-op rbac | kubectl apply -f -"
MEND_CRD = "cnpa-op crd | kubectl apply -f -"
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


class Checked:
    """A run of `check`: `code`, and its lines by what they are about."""

    def __init__(self, result):
        self.result = result
        self.code = result.code
        *self.rows, self.summary = result.stdout.splitlines()
        assert result.stderr == "", result

    def marks(self, mark):
        """Returns what the lines with this mark are about, each once."""
        return {row.split()[1] for row in self.rows if row.split()[0] == mark}

    def row(self, kind, subject=""):
        """Returns the only line on `kind`, or on `subject` of it."""
        row, = said(rf"^\S+ +{kind} +{re.escape(subject)}", self.rows)
        return row


def check(cluster, *flags, **options):
    """Runs `check`, and asserts that it asked, of the server, only what stores nothing."""
    result = cluster.run("check", *flags, **options)
    for request in result.requests:
        assert request.verb in ("get", "list") or (request.verb == "create" and request.path in REVIEWS), request
    return Checked(result)


# All is well --------------------------------------------------------------------------------------------------------


def test_all_is_well_for_the_user_with_the_least_rights(cluster):
    checked = check(cluster)
    assert checked.code == 0, checked.result
    assert checked.marks("ok") == {"kubeconfig", "certificate", "server", "identity", "crd", "rights", "lists",
                                   "archive", "clock"}
    assert len(checked.rows) == 14
    assert checked.summary == "Ready."
    assert 'user "cnpa-op"' in checked.row("identity")
    assert f"{cluster.plane.server} is Kubernetes v" in checked.row("server")
    assert "verified by the kubeconfig's CA" in checked.row("server")
    assert str(cluster.plane.user_kubeconfig) in checked.row("kubeconfig")
    assert len({row.index(row.split(None, 2)[2]) for row in checked.rows}) == 1  # aligned


def test_nothing_is_written_to_the_server_or_to_the_disk(cluster):
    before = sorted(path.name for path in cluster.home.iterdir())
    team = cluster.create_team()
    result = check(cluster).result
    assert {str(request) for request in result.requests if request.verb == "create"} == {
        f"create {path}" for path in REVIEWS}
    assert cluster.team(team).get("status") is None
    assert cluster.namespace(team) is None
    assert sorted({path.name for path in cluster.home.iterdir()} - {"empty.yaml", "run"}) == before
    cluster.archive.mkdir(mode=0o700)
    check(cluster)
    assert list(cluster.archive.iterdir()) == []


def test_output_json_is_one_document_with_the_same_facts(cluster, without):
    without("", "namespaces", "create")
    without("apiextensions.k8s.io", "customresourcedefinitions", "get")
    text = check(cluster)
    result = cluster.run("check", "-o", "json")
    document = json.loads(result.stdout)
    Draft202012Validator(json.loads((REPOSITORY / "docs" / "check.schema.json").read_text())).validate(document)
    assert (result.code, result.stderr) == (1, "")
    assert list(document) == ["version", "failed", "warnings", "checks"]
    assert (document["version"], document["failed"], document["warnings"]) == (1, 1, 2)
    marks = {"ok": "ok", "warn": "warn", "fail": "FAIL", "not checked": "-"}
    assert len(document["checks"]) == len(text.rows)
    for entry, row in zip(document["checks"], text.rows):
        assert list(entry) == ["kind", "subject", "status", "detail", "remedy"]
        assert row.split()[:2] == [marks[entry["status"]], entry["kind"]]
        assert (entry["remedy"] is None) == (entry["status"] in ("ok", "not checked"))
        if entry["kind"] not in ("clock", "certificate", "archive"):  # these change with time
            assert row.endswith(entry["detail"] + (f": {entry['remedy']}" if entry["remedy"] else ""))
    failed, = (entry for entry in document["checks"] if entry["status"] == "fail")
    assert failed == {"kind": "rights", "subject": "namespaces", "status": "fail",
                      "detail": "missing create (granted: list, watch, patch)", "remedy": GRANT}


def test_color_is_used_only_where_it_was_asked_for(cluster):
    plain, colored = check(cluster), cluster.run("check", "--color=always")
    assert "\x1b" not in plain.result.stdout
    assert re.sub(r"\x1b\[[\d;]*m", "", colored.stdout) == plain.result.stdout
    assert colored.stdout.count("\x1b[32m") == 14


# Who we are ---------------------------------------------------------------------------------------------------------


def test_administrator_is_told_to_use_a_user_of_its_own(cluster):
    checked = check(cluster, kubeconfig=cluster.plane.admin_kubeconfig)
    assert checked.code == 0
    assert checked.marks("warn") == {"identity"}
    assert f"system:masters, system:authenticated: has all rights: give it a user of its own: {GRANT}" in checked.row(
        "identity")
    assert checked.summary.endswith("1 warning.")


def test_user_of_a_token_without_rights_gets_a_remedy_with_its_name(cluster):
    checked = check(cluster, kubeconfig=cluster.plane.token_kubeconfig)
    assert checked.code == 1
    assert 'user "cnpa-op-token"' in checked.row("identity")
    for subject in ("teamspaces:", "teamspaces/status:", "namespaces:", "resourcequotas:"):
        assert checked.row("rights", subject).startswith("FAIL")
        assert checked.row("rights", subject).endswith("cnpa-op rbac --user cnpa-op-token | kubectl apply -f -")
    assert said("certificate", checked.rows) == [checked.row("server")]  # it has none


def test_service_account_gets_a_remedy_with_its_name(cluster):
    name = f"check-{os.getpid()}"
    api(cluster.plane, "POST", f"{NAMESPACES}/default/serviceaccounts",
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
    token = api(cluster.plane, "POST", f"{NAMESPACES}/default/serviceaccounts/{name}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
    checked = check(cluster, kubeconfig=cluster.plane.kubeconfig_for("check-account", token=token))
    assert checked.code == 1
    assert f'user "system:serviceaccount:default:{name}"' in checked.row("identity")
    assert checked.row("rights", "namespaces:").endswith(
        f"cnpa-op rbac --serviceaccount default:{name} | kubectl apply -f -")
    assert token not in checked.result.stdout


@pytest.mark.parametrize("token, words", [("secret-of-yesterday", "refuses our credentials"),
                                          (None, "took no credentials")])
def test_who_is_not_let_in_is_told_so_and_what_follows_is_not_checked(cluster, token, words):
    checked = check(cluster, kubeconfig=cluster.plane.kubeconfig_for("stranger", token=token))
    assert checked.code == 3
    assert checked.marks("FAIL") == {"identity"}
    assert checked.marks("-") == {"crd", "rights", "lists"}
    assert checked.marks("ok") == {"kubeconfig", "server", "archive", "clock"}
    assert words in checked.row("identity")
    assert not token or token not in checked.result.stdout


@pytest.mark.parametrize("until, code, words", [
    (timedelta(days=20), 0, "is valid until"),
    (timedelta(days=13), 0, "for 1[23]d.* more: renew it"),
    (timedelta(days=-1), 3, "expired on .*: renew it"),
], ids=["good", "soon", "expired"])
def test_end_of_the_client_certificate_is_told_before_it_comes(cluster, until, code, words):
    now = datetime.now(timezone.utc)
    certificate = cluster.plane.issue_client("cnpa-op", not_before=now - timedelta(days=2), not_after=now + until)
    checked = check(cluster, kubeconfig=cluster.plane.kubeconfig_for("ends", certificate=certificate))
    assert checked.code == code
    assert re.search(words, checked.row("certificate"))
    assert checked.row("certificate").startswith("ok" if words == "is valid until" else "warn")


# Rights -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("right", NEEDED, ids=lambda right: f"{right[2]}-{right[1]}")
def test_right_that_lacks_is_named_and_no_other(cluster, without, right):
    without(*right)
    checked = check(cluster)
    assert checked.code == 1
    row, = said("^FAIL", checked.rows)
    assert re.search(rf"^FAIL  rights       {right[1]}: missing {right[2]}( of team-quota)?(;| \(|:)", row)
    assert row.endswith(f": {GRANT}")


def test_right_to_read_the_crd_is_advised_only(cluster, without):
    without("apiextensions.k8s.io", "customresourcedefinitions", "get")
    checked = check(cluster)
    assert checked.code == 0
    assert checked.row("rights", "customresourcedefinitions").startswith("warn")
    assert "schema could not be compared" in checked.row("crd")
    assert said(r"get /apis/platform\.labhub\.io/v1alpha1$", map(str, checked.result.requests))


# Kubeconfig and server ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["]: garbage", "kind: Pod\n", None], ids=["garbage", "kind", "missing"])
def test_kubeconfig_that_cannot_be_used_is_two_and_the_archive_is_looked_at_all_the_same(cluster, text):
    path = cluster.home / "kubeconfig"
    if text:
        path.write_text(text)
    checked = check(cluster, kubeconfig=path)
    assert checked.code == 2
    assert str(path) in checked.row("kubeconfig")
    assert checked.marks("FAIL") == {"kubeconfig"}
    assert checked.marks("-") == {"server", "identity", "crd", "rights", "lists", "clock"}
    assert checked.marks("ok") == {"archive"}
    document = json.loads(cluster.run("check", "-o", "json", kubeconfig=path).stdout)
    assert document["failed"] == 1


def test_wrong_usage_is_two_and_one_line(cluster):
    result = cluster.run("check", "--once")
    assert result.code == 2
    assert result.only_line.startswith("cnpa-op: '--once' is a flag of reconcile, not of check: ")


def test_insecure_skip_tls_verify_is_a_warning(cluster):
    certificate = cluster.plane.issue_client("cnpa-op")
    checked = check(cluster, kubeconfig=cluster.plane.kubeconfig_for("blind", certificate=certificate, cluster={
        "certificate-authority-data": None, "insecure-skip-tls-verify": True}))
    assert checked.code == 0
    assert checked.marks("warn") == {"kubeconfig"}
    assert "its certificate is not verified" in checked.row("server")


def test_server_that_is_down_is_three(cluster):
    with socket.socket() as unused:  # bound, and not listening
        unused.bind(("127.0.0.1", 0))
        address = f"https://127.0.0.1:{unused.getsockname()[1]}"
        checked = check(cluster, kubeconfig=cluster.plane.kubeconfig_for("down", token="x", server=address))
    assert checked.code == 3
    assert f"cannot reach {address}: connection refused" in checked.row("server")
    assert checked.marks("FAIL") == {"server"}
    assert checked.marks("-") == {"identity", "crd", "rights", "lists", "clock"}


def test_signal_ends_it_while_a_server_keeps_silent(cluster):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        kubeconfig = cluster.plane.kubeconfig_for("silent", token="x",
                                                  server=f"https://127.0.0.1:{silent.getsockname()[1]}")
        with cluster.started("check", kubeconfig=kubeconfig) as started:
            silent.accept()
            started.signal(signal.SIGTERM)
            result = started.finish()
    assert (result.code, result.stdout, result.stderr) == (143, "", "")


def test_server_with_the_certificate_of_another_authority_is_three(cluster):
    stranger = cluster.plane.issue_client("stranger")
    checked = check(cluster, kubeconfig=cluster.plane.kubeconfig_for("wrong-ca", token="x", cluster={
        "certificate-authority-data": base64.b64encode(stranger.certificate.read_bytes()).decode()}))
    assert checked.code == 3
    assert "not trusted" in checked.row("server")
    assert "certificate-authority" in checked.row("server")


def test_server_that_is_none_of_kubernetes_is_three(cluster):
    certificate = cluster.plane.issue_client("admin", ["system:masters"])
    checked = check(cluster, kubeconfig=cluster.plane.kubeconfig_for(
        "prefix", certificate=certificate, server=f"{cluster.plane.server}/prefix"))
    assert checked.code == 3
    assert checked.marks("FAIL") == {"server"}


# Archive folder -----------------------------------------------------------------------------------------------------


def test_archive_folder_that_is_open_to_others_is_a_warning(cluster):
    cluster.archive.mkdir()
    cluster.archive.chmod(0o755)
    checked = check(cluster)
    assert checked.code == 0
    assert checked.row("archive").startswith("warn")
    assert checked.row("archive").endswith(f"chmod 700 {cluster.archive}")


@pytest.mark.parametrize("place, words", [
    ("no/such/archive", "make its parent folder first: mkdir -p .*/no/such$"),
    ("file", "not a directory: .*--archive DIR$"),
    ("file/archive", "not a directory"),
])
def test_archive_folder_that_cannot_be_used_is_one(cluster, place, words):
    (cluster.home / "file").write_text("I am a file")
    checked = check(cluster, archive=cluster.home / place)
    assert checked.code == 1
    assert checked.marks("FAIL") == {"archive"}
    assert re.search(words, checked.row("archive"))
    assert not (cluster.home / "no").exists()


@as_root
@pytest.mark.parametrize("options, words", [("ro,mode=0700", "read-only file system"),
                                            ("size=4k,mode=0700", "no space left on device")], ids=["ro", "full"])
def test_archive_folder_that_only_a_write_finds_out_about_is_one(cluster, options, words):
    cluster.archive.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", cluster.archive]).returncode != 0:
        pytest.skip("cannot mount a tmpfs here")
    try:
        if "size" in options:
            (cluster.archive / "filler").write_bytes(b"x" * 4096)
        left = os.listdir(cluster.archive)
        checked = check(cluster)
        assert os.listdir(cluster.archive) == left
    finally:
        subprocess.run(["umount", cluster.archive], check=True)
    assert checked.code == 1
    assert words in checked.row("archive")


def test_archive_folder_must_be_given_in_a_pod(cluster):
    checked = check(cluster, archive=False, env={"KUBERNETES_SERVICE_HOST": "127.0.0.1",
                                                 "KUBERNETES_SERVICE_PORT": "1"})
    assert checked.code == 1
    assert checked.marks("FAIL") == {"archive"}
    assert checked.row("archive").endswith("--archive DIR")


def test_archive_folder_of_the_configuration_is_the_one_looked_at(cluster):
    (cluster.home / "config.yaml").write_text(f"archive: {cluster.home}/mine/\n")
    checked = check(cluster, "--config", cluster.home / "config.yaml", archive=False)
    assert checked.code == 0
    assert f"'{cluster.home}/mine' is not there yet" in checked.row("archive")
    assert not (cluster.home / "mine").exists()


# The CRD, on a control plane of its own -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_plane(binary):
    with ControlPlane() as plane:
        install(plane)
        yield plane


@pytest.fixture
def bare(own_plane, tmp_path):
    """A control plane that a test may spoil."""
    cluster = Cluster(own_plane, tmp_path)
    yield cluster
    cluster.clean()


def test_crd_that_is_missing_is_one(bare):
    remove_crd(bare)
    checked = check(bare)
    assert checked.code == 1
    assert checked.marks("FAIL") == {"crd"}
    assert checked.row("crd").endswith(f"the TeamSpace CRD is not installed: {MEND_CRD}")


def test_crd_without_conditions_is_a_warning(bare):
    use_crd(bare, PLAIN_CRD)
    checked = check(bare)
    assert checked.code == 0
    assert checked.marks("warn") == {"crd"}
    assert "no status.conditions" in checked.row("crd")
    assert checked.row("crd").endswith(MEND_CRD)


def test_crd_with_another_schema_is_one_and_each_field_is_named(bare):
    def spoil(version):
        properties = version["schema"]["openAPIV3Schema"]["properties"]
        properties["spec"]["properties"]["pods"] = {"type": "string"}
        properties["spec"]["properties"]["color"] = {"type": "string"}
        del properties["status"]["properties"]["namespace"]

    use_crd(bare, plain_crd(spoil))
    checked = check(bare)
    assert checked.code == 1
    assert checked.marks("FAIL") == {"crd"}
    assert ("spec.pods is string, not integer, status.namespace is missing: " + MEND_CRD) in checked.row("crd")
    assert "color" not in checked.row("crd")


def test_crd_without_the_status_subresource_is_one(bare):
    use_crd(bare, plain_crd(lambda version: version.pop("subresources")))
    checked = check(bare)
    assert checked.code == 1
    assert "has no status subresource" in checked.row("crd")


def test_crd_that_serves_another_version_or_scope_is_one(bare):
    other = plain_crd(lambda version: version.update(name="v1"))
    remove_crd(bare)
    bare.api("POST", CRD.rpartition("/")[0], other | {"spec": other["spec"] | {"scope": "Namespaced"}})
    wait_for(lambda: bare.plane.request("GET", "/apis/platform.labhub.io/v1/teamspaces").status == 200, "it is served")
    checked = check(bare)
    assert checked.code == 1
    assert "does not serve v1alpha1 (but v1), is not cluster scoped" in checked.row("crd")


def test_crd_that_is_being_deleted_is_one_and_the_remedy_of_all_of_it_helps(bare):
    use_crd(bare, print_manifest("crd"))
    name = bare.create_team(finalizers=["example.com/holds"])
    bare.api("DELETE", CRD)
    checked = check(bare)
    assert checked.code == 1
    assert "is being deleted" in checked.row("crd")
    bare.patch(f"{TEAMS}/{name}", {"metadata": {"finalizers": None}})
    wait_for(lambda: bare.api("GET", CRD, allow=(404,)) is None, "the CRD is gone")
    install(bare.plane)
    assert check(bare).code == 0


def test_server_that_is_not_ready_is_three_and_names_what_it_waits_for(bare):
    bare.plane.component("etcd").pause()
    try:
        wait_for(lambda: bare.plane.request("GET", "/readyz").status != 200, "the server has noticed")
        checked = check(bare)
    finally:
        bare.plane.component("etcd").resume()
    assert checked.code == 3
    assert checked.marks("FAIL") == {"server"}
    assert re.search(r"not ready: .*etcd", checked.row("server"))
    assert checked.marks("-") == {"crd", "rights", "lists"}
    wait_for(lambda: bare.plane.request("GET", "/readyz").status == 200, "it is ready again")
