# SPDX-License-Identifier: Apache-2.0
"""Which cluster, with which credentials: every way that works, and one line for each that does not."""

import base64
import os
import shutil
import socket
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from harness import NAMESPACES, allowed, api, print_manifest, said, wait_for

ACCOUNT_FOLDER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@pytest.fixture(scope="module")
def user(plane):
    """A client certificate of user cnpa-op."""
    return plane.issue_client("cnpa-op")


@pytest.fixture(scope="module")
def token_rights(plane):
    """Gives the user with the token, and a service account, the rights of cnpa-op."""
    manifests = []
    for arguments in (["--user", "cnpa-op-token"], ["--serviceaccount", "default:cnpa-op"]):
        name = "cnpa-op-" + arguments[0].strip("-")
        manifests.append(print_manifest("rbac", *arguments).replace("  name: cnpa-op\n", f"  name: {name}\n")
                         .replace("name: cnpa-op}\n", f"name: {name}}}\n", 1))
        plane.kubectl("apply", "-f", "-", input=manifests[-1])
    wait_for(lambda: allowed(plane, "cnpa-op-token", "list", "teamspaces", "platform.labhub.io"),
             "the user with the token has rights")
    yield
    for manifest in manifests:
        plane.kubectl("delete", "--ignore-not-found", "-f", "-", input=manifest)
    wait_for(lambda: not allowed(plane, "cnpa-op-token", "list", "teamspaces", "platform.labhub.io"),
             "the user with the token has none any more")


def check_works(cluster, **options):
    """Runs a pass that must make a team's namespace."""
    name = cluster.create_team()
    result = cluster.once(**options)
    assert result.code == 0, result
    assert cluster.namespace(name)
    return result


def check_refused(cluster, code, words, **options):
    """Runs a pass and a diff that must end with `code`, one line that holds `words`, and without a write.

    Returns the line.
    """
    name = cluster.create_team()
    results = [cluster.once(**options), cluster.diff(**options)]
    assert cluster.namespace(name) is None
    for result in results:
        assert result.code == code, result
        assert result.writes == []
        assert result.only_line.startswith("cnpa-op: ")
        for word in [words] if isinstance(words, str) else words:
            assert said(word, [result.only_line]), result.only_line
    return results[0].only_line


def write(folder, text, name="kubeconfig"):
    path = folder / name
    path.write_text(text)
    return path


def encode(path):
    return base64.b64encode(path.read_bytes()).decode()


# What works ---------------------------------------------------------------------------------------------------------


def test_client_certificate_inside_the_kubeconfig(cluster, user):
    check_works(cluster, kubeconfig=cluster.plane.kubeconfig_for("inline", certificate=user))


def test_client_certificate_and_ca_from_files(cluster, user):
    check_works(cluster, kubeconfig=cluster.plane.kubeconfig_for("files", certificate=user, inline=False))


def test_relative_paths_are_relative_to_the_kubeconfig(cluster, user, tmp_path):
    folder = tmp_path / "conf"
    folder.mkdir()
    shutil.copy(user.certificate, folder / "me.crt")
    shutil.copy(user.key, folder / "me.key")
    shutil.copy(cluster.plane.authority.certificate, folder / "ca.crt")
    text = cluster.plane.kubeconfig_for("relative", cluster={"certificate-authority-data": None,
                                                             "certificate-authority": "ca.crt"},
                                        user={"client-certificate": "me.crt", "client-key": "me.key"}).read_text()
    check_works(cluster, kubeconfig=write(folder, text))


def test_token(cluster, token_rights):
    check_works(cluster, kubeconfig=cluster.plane.token_kubeconfig)


def test_token_from_a_file_with_a_line_break_at_its_end(cluster, token_rights, tmp_path):
    token = write(tmp_path, cluster.plane.token + "\n", "token")
    check_works(cluster, kubeconfig=cluster.plane.kubeconfig_for("token-file", user={"tokenFile": str(token)}))


def test_token_file_beats_the_token_beside_it(cluster, token_rights, tmp_path):
    token = write(tmp_path, cluster.plane.token, "token")
    check_works(cluster, kubeconfig=cluster.plane.kubeconfig_for("both-tokens", token="old",
                                                                 user={"tokenFile": str(token)}))


def test_tls_server_name_is_verified_in_place_of_the_address(cluster, user):
    check_works(cluster, kubeconfig=cluster.plane.kubeconfig_for(
        "server-name", certificate=user, cluster={"tls-server-name": "kubernetes.test"}))


def test_server_by_name_instead_of_address(cluster, user):
    check_works(cluster, kubeconfig=cluster.plane.kubeconfig_for(
        "by-name", certificate=user, server=f"https://localhost:{cluster.plane.port}/"))


def test_insecure_skip_tls_verify_works_and_is_warned_of(cluster, user):
    kubeconfig = cluster.plane.kubeconfig_for("insecure", certificate=user, cluster={
        "certificate-authority-data": None, "insecure-skip-tls-verify": True})
    result = check_works(cluster, kubeconfig=kubeconfig)
    assert said("insecure-skip-tls-verify", result.lines)


def test_context_is_chosen_by_its_name(cluster, user):
    kubeconfig = cluster.plane.kubeconfig_for("contexts", certificate=user)
    text = kubeconfig.read_text().replace('current-context: "contexts"', 'current-context: "none-such"')
    kubeconfig = write(cluster.home, text)
    check_works(cluster, kubeconfig=kubeconfig, env={"CNPA_OP_CONTEXT": "contexts"})


def test_variable_kubeconfig_is_found(cluster):
    check_works(cluster, kubeconfig=False, env={"KUBECONFIG": cluster.plane.user_kubeconfig})


def test_variable_kubeconfig_is_a_list_and_missing_files_are_skipped(cluster, user):
    text = cluster.plane.kubeconfig_for("split", certificate=user).read_text()
    users = text.index("users:")
    contexts = text.index("contexts:")
    first = write(cluster.home, text[:contexts], "clusters.yaml")
    second = write(cluster.home, "kind: Config\n" + text[contexts:users], "contexts.yaml")
    third = write(cluster.home, "kind: Config\n" + text[users:], "users.yaml")
    check_works(cluster, kubeconfig=False, env={"KUBECONFIG": f"{first}:{cluster.home}/missing:{second}:{third}"})


def test_credentials_directory_of_systemd_is_found(cluster):
    shutil.copy(cluster.plane.user_kubeconfig, cluster.home / "kubeconfig")
    check_works(cluster, kubeconfig=False, env={"CREDENTIALS_DIRECTORY": cluster.home})


def test_kubeconfig_of_the_home_folder_is_found(cluster):
    (cluster.home / ".kube").mkdir()
    shutil.copy(cluster.plane.user_kubeconfig, cluster.home / ".kube" / "config")
    check_works(cluster, kubeconfig=False)


def test_flag_beats_variable_kubeconfig(cluster):
    check_works(cluster, env={"KUBECONFIG": cluster.home / "missing"})


@pytest.fixture
def service_account(cluster, token_rights):
    """The folder of a pod's service account, at its fixed place."""
    if os.geteuid() != 0:
        pytest.skip("needs root: the folder of a service account has a fixed place")
    if ACCOUNT_FOLDER.exists():
        pytest.skip(f"{ACCOUNT_FOLDER} is there: these tests run in a pod")
    plane = cluster.plane
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "cnpa-op"}}
    plane.request("POST", f"{NAMESPACES}/default/serviceaccounts", account)
    token = api(plane, "POST", f"{NAMESPACES}/default/serviceaccounts/cnpa-op/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})["status"]["token"]
    top = ACCOUNT_FOLDER
    while not top.parent.exists():
        top = top.parent
    ACCOUNT_FOLDER.mkdir(parents=True)
    (ACCOUNT_FOLDER / "token").write_text(token)
    shutil.copy(plane.authority.certificate, ACCOUNT_FOLDER / "ca.crt")
    yield {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": plane.port}
    shutil.rmtree(top)


def test_service_account_of_a_pod_is_found(cluster, service_account):
    check_works(cluster, kubeconfig=False, env=service_account)


def test_kubeconfig_beats_the_service_account_of_a_pod(cluster, service_account):
    (ACCOUNT_FOLDER / "token").write_text("refused")
    check_works(cluster, env=service_account)


def test_a_context_never_means_the_service_account_of_a_pod(cluster, service_account):
    cluster.create_team()
    (cluster.home / "config.yaml").write_text("context: prod\n")
    for flags, env in ((["--context", "prod"], {}), (["--config", "config.yaml"], {}), ([], {"CNPA_OP_CONTEXT": "prod"})):
        result = cluster.once(*flags, kubeconfig=False, env=service_account | env)
        assert (result.code, result.requests) == (2, [])
        assert "no context \"prod\": a pod's service account has none" in result.only_line


def test_service_account_without_rights_is_told_by_its_name(cluster, service_account):
    api(cluster.plane, "DELETE", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cnpa-op-serviceaccount")
    wait_for(lambda: cluster.plane.kubectl("auth", "can-i", "list", "teamspaces", check=False,
                                           kubeconfig=cluster.plane.kubeconfig_for(
                                               "account", token=(ACCOUNT_FOLDER / "token").read_text())
                                           ).returncode != 0, "the rights are gone")
    line = check_refused(cluster, 3, "forbidden", kubeconfig=False, env=service_account)
    assert "system:serviceaccount:default:cnpa-op" in line


# What the kubeconfig says is wrong: 2 -------------------------------------------------------------------------------


def test_no_kubeconfig_anywhere_names_the_places(cluster):
    if Path("/etc/rancher/k3s/k3s.yaml").exists():
        pytest.skip("this machine runs k3s")
    line = check_refused(cluster, 2, "no kubeconfig found", kubeconfig=False)
    for place in ("--kubeconfig", "$KUBECONFIG", f"{cluster.home}/.kube/config", "service account",
                  "/etc/rancher/k3s/k3s.yaml"):
        assert place in line


def test_missing_kubeconfig(cluster):
    check_refused(cluster, 2, ["nowhere", "no such file"], kubeconfig="nowhere")


def test_folder_as_kubeconfig(cluster):
    check_refused(cluster, 2, "is a directory", kubeconfig=cluster.home)


@pytest.mark.parametrize("text, words", [
    ("]: garbage", ["not YAML", "line 1"]),
    ("just words", "not a kubeconfig"),
    ("", "not a kubeconfig"),
    ("kind: Pod\n", "its kind is 'Pod'"),
    ("kind: Config\nclusters: 5\n", "'clusters' is not a list"),
    ("kind: Config\n", "current-context"),
    ("\x00\x01\x02", "not"),
], ids=["yaml", "words", "empty", "kind", "clusters", "no-context", "bytes"])
def test_garbage_as_kubeconfig(cluster, text, words):
    check_refused(cluster, 2, words, kubeconfig=write(cluster.home, text))


def test_context_that_is_not_there_names_those_that_are(cluster):
    line = check_refused(cluster, 2, 'no context "prod"', env={"CNPA_OP_CONTEXT": "prod"})
    assert "cnpa-op" in line.partition("there is:")[2]


def test_context_with_a_cluster_that_is_not_there(cluster):
    text = cluster.plane.user_kubeconfig.read_text().replace('cluster: "control-plane"', "cluster: gone")
    check_refused(cluster, 2, ['no cluster "gone"', "control-plane"], kubeconfig=write(cluster.home, text))


def test_context_with_a_user_that_is_not_there(cluster):
    text = cluster.plane.user_kubeconfig.read_text().replace('user: "cnpa-op"', "user: gone")
    check_refused(cluster, 2, 'no user "gone"', kubeconfig=write(cluster.home, text))


@pytest.mark.parametrize("clusters, users, words", [
    ({"server": None}, {}, "server: missing"),
    ({"server": "http://127.0.0.1:1"}, {}, "https"),
    ({"server": "not a url"}, {}, "'https://not a url' is not an address"),
    ({"certificate-authority-data": "%%%"}, {}, "certificate-authority-data"),
    ({"certificate-authority-data": "Z2FyYmFnZQ=="}, {}, ["certificate-authority", "no PEM certificate"]),
    ({"certificate-authority-data": None, "certificate-authority": "nowhere.crt"}, {}, ["nowhere.crt", "no such file"]),
    ({"certificate-authority": "also.crt"}, {}, "both certificate-authority and certificate-authority-data"),
    ({"insecure-skip-tls-verify": True}, {}, "insecure-skip-tls-verify"),
    ({}, {"client-key-data": None}, "client-key: missing"),
    ({}, {"client-certificate-data": None}, "client-certificate: missing"),
    ({}, {"client-key-data": "Z2FyYmFnZQ=="}, ["client key", "no PEM private key"]),
    ({}, {"client-certificate-data": "Z2FyYmFnZQ=="}, ["client certificate", "no PEM certificate"]),
    ({}, {"client-certificate-data": None, "client-certificate": "nowhere.crt"}, ["nowhere.crt", "no such file"]),
    ({}, {"tokenFile": "nowhere.token"}, ["tokenFile", "nowhere.token", "no such file"]),
    ({}, {"tokenFile": "/dev/null"}, ["tokenFile", "empty"]),
    ({}, {"token": "a\nb"}, ["token", "line break"]),
], ids=lambda value: ",".join(value) if isinstance(value, dict) else "")
def test_field_of_the_kubeconfig_that_is_wrong_is_named(cluster, user, clusters, users, words):
    kubeconfig = cluster.plane.kubeconfig_for("wrong", certificate=user, cluster=clusters, user=users)
    line = check_refused(cluster, 2, words, kubeconfig=kubeconfig)
    assert str(kubeconfig) in line


def test_key_of_another_certificate(cluster, user):
    other = cluster.plane.issue_client("cnpa-op")
    kubeconfig = cluster.plane.kubeconfig_for("mixed", certificate=user, user={"client-key-data": encode(other.key)})
    check_refused(cluster, 2, "does not belong to the client certificate", kubeconfig=kubeconfig)


# What the server refuses, or a server that is another: 3 ------------------------------------------------------------


def test_ca_of_another_cluster(cluster, user, tmp_path):
    # A client certificate is as good a stranger as any: it has signed nothing.
    kubeconfig = cluster.plane.kubeconfig_for("wrong-ca", certificate=user, cluster={
        "certificate-authority-data": encode(user.certificate)})
    line = check_refused(cluster, 3, ["not trusted", "certificate-authority"], kubeconfig=kubeconfig)
    assert cluster.plane.server in line


def test_no_ca_at_all_is_not_trusted(cluster, user):
    kubeconfig = cluster.plane.kubeconfig_for("no-ca", certificate=user, cluster={"certificate-authority-data": None})
    check_refused(cluster, 3, ["not trusted", "certificate-authority"], kubeconfig=kubeconfig)


def test_wrong_server_name(cluster, user):
    kubeconfig = cluster.plane.kubeconfig_for("wrong-name", certificate=user, cluster={
        "tls-server-name": "other.test"})
    check_refused(cluster, 3, ["for another name", "tls-server-name"], kubeconfig=kubeconfig)


def test_expired_client_certificate(cluster):
    now = datetime.now(timezone.utc)
    expired = cluster.plane.issue_client("cnpa-op", not_before=now - timedelta(days=2),
                                         not_after=now - timedelta(days=1))
    kubeconfig = cluster.plane.kubeconfig_for("expired", certificate=expired)
    line = check_refused(cluster, 3, ["unauthorized", "client certificate is expired|client certificate.*expired on"],
                         kubeconfig=kubeconfig)
    assert "renew" in line
    assert str(kubeconfig) in line


def test_client_certificate_that_is_not_valid_yet(cluster):
    now = datetime.now(timezone.utc)
    early = cluster.plane.issue_client("cnpa-op", not_before=now + timedelta(days=1),
                                       not_after=now + timedelta(days=2))
    check_refused(cluster, 3, ["unauthorized", "valid only from"],
                  kubeconfig=cluster.plane.kubeconfig_for("early", certificate=early))


def test_token_that_the_server_refuses(cluster):
    kubeconfig = cluster.plane.kubeconfig_for("refused", token="secret-of-yesterday")
    line = check_refused(cluster, 3, ["unauthorized", "refuses our credentials"], kubeconfig=kubeconfig)
    assert str(kubeconfig) in line
    assert "secret-of-yesterday" not in line


def test_no_credentials_at_all(cluster):
    kubeconfig = cluster.plane.kubeconfig_for("anonymous")
    check_refused(cluster, 3, ["unauthorized", "no credentials"], kubeconfig=kubeconfig)


def test_nobody_listens_at_the_address(cluster, user):
    with socket.socket() as unused:  # bound, and not listening: refused for as long as this test runs
        unused.bind(("127.0.0.1", 0))
        address = f"https://127.0.0.1:{unused.getsockname()[1]}"
        kubeconfig = cluster.plane.kubeconfig_for("closed", certificate=user, server=address)
        line = check_refused(cluster, 3, f"cannot reach {address}: connection refused", kubeconfig=kubeconfig)
    assert '(context "closed", ' in line


def test_name_that_nobody_knows(cluster, user):
    kubeconfig = cluster.plane.kubeconfig_for("unknown-host", certificate=user, server="https://nowhere.invalid:6443")
    check_refused(cluster, 3, "cannot reach https://nowhere.invalid:6443: .*resolve", kubeconfig=kubeconfig)


def test_server_that_speaks_no_tls(cluster, user):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"https://127.0.0.1:{server.getsockname()[1]}"
        kubeconfig = cluster.plane.kubeconfig_for("silent", certificate=user, server=address)
        # It accepts and never says a word.
        check_refused(cluster, 3, f"cannot reach {address}: no (connection|answer)( within|: --timeout is over)",
                      kubeconfig=kubeconfig, env={"CNPA_OP_TIMEOUT": "1s"})


def test_server_path_that_is_not_the_api(cluster, user):
    kubeconfig = cluster.plane.kubeconfig_for("path", certificate=user, server=cluster.plane.server + "/prefix")
    result = cluster.once(kubeconfig=kubeconfig)
    assert (result.code, result.writes) == (3, [])
    assert len(result.lines) == 1
