# SPDX-License-Identifier: Apache-2.0
"""The tar ball: what it holds, and that it runs where there is nothing but glibc."""

import http.server
import re
import ssl
import threading

import pytest

from package_support import GLIBC, REPOSITORY, UNITS, files_below, run

LOADER = "ld-linux-x86-64.so.2"


@pytest.fixture(scope="module")
def folder(tarball, tmp_path_factory):
    """What the tar ball unpacks."""
    folder = tmp_path_factory.mktemp("tarball")
    run("tar", "-C", folder, "-xzf", tarball)
    (only,) = folder.iterdir()
    return only


@pytest.fixture
def server(tmp_path):
    """The URL of a server with TLS that knows no path, and a kubeconfig for it below /tmp of a root folder."""
    certificate, key = tmp_path / "server.crt", tmp_path / "server.key"
    run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)

    class Quiet(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b'{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}'
            self.send_response(404)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"""
apiVersion: v1
kind: Config
clusters: [{{name: a, cluster: {{server: "https://localhost:{server.server_port}", certificate-authority: a.crt}}}}]
users: [{{name: a, user: {{token: secret}}}}]
contexts: [{{name: a, context: {{cluster: a, user: a}}}}]
current-context: a
""", certificate.read_text()
    server.shutdown()
    thread.join()
    server.server_close()


def needed_by(path):
    return set(re.findall(r"NEEDED.*\[(\S+)\]", run("readelf", "-d", path).stdout))


def test_it_is_one_folder_of_its_version_that_belongs_to_root(tarball):
    version = re.match(r"cnpa-op-(.*)-linux-", tarball.name)[1]
    for line in run("tar", "-tvzf", tarball, "--numeric-owner").stdout.splitlines():
        assert line.split()[1] == "0/0" and line.split()[5].startswith(f"cnpa-op-{version}/"), line


def test_it_holds_all_that_is_installed_and_the_license_of_each_library(folder):
    files = files_below(folder)
    assert {"README", "LICENSE", "bin/cnpa-op", "share/man/man1/cnpa-op.1", "share/man/man5/cnpa-op-config.5",
            "share/bash-completion/completions/cnpa-op", "share/zsh/site-functions/_cnpa-op",
            "share/fish/vendor_completions.d/cnpa-op.fish", "share/doc/cnpa-op/docs/install.md",
            "share/doc/cnpa-op/examples/crd.yaml", *(f"lib/systemd/system/{unit}" for unit in UNITS)} <= files
    for unit in UNITS:
        assert (folder / "lib/systemd/system" / unit).read_bytes() == (REPOSITORY / "systemd" / unit).read_bytes()
    licenses = {path.rpartition("/")[2] for path in files if "/licenses/" in path}
    assert {"zlib1g", "libstdc++6", "libfmt-dev", "libyaml-cpp-dev"} <= licenses


def test_every_library_that_is_needed_is_in_it_or_is_glibc_s(folder):
    here = {path.name for path in (folder / "lib").glob("*.so*")}
    for path in [folder / "bin/cnpa-op", *(folder / "lib").glob("*.so*")]:
        assert needed_by(path) <= here | set(GLIBC) | {LOADER}, path
    assert not any(name.startswith(("libstdc++", "libgcc", "libfmt", "libyaml-cpp")) for name in here)


def test_the_readme_names_the_glibc_that_it_really_needs(folder):
    versions = set()
    for path in [folder / "bin/cnpa-op", *(folder / "lib").glob("*.so*")]:
        versions |= {tuple(map(int, version.split(".")))
                     for version in re.findall(r"GLIBC_([\d.]+)", run("objdump", "-T", path).stdout)}
    said = re.search(r"needs glibc ([\d.]+) or later", (folder / "README").read_text())[1]
    assert tuple(map(int, said.split("."))) == max(versions)
    assert "@" not in re.sub(r"cnpa-op@\*", "", (folder / "README").read_text())


def test_it_runs_where_there_is_only_glibc(bare):
    (version,) = (bare.root / "opt").iterdir()
    binary = f"/opt/{version.name}/bin/cnpa-op"
    assert bare(binary, "version").stdout.startswith("cnpa-op ")
    for line in bare(f"/lib64/{LOADER}", "--list", binary).stdout.splitlines():
        is_glibc = any(name in line for name in (*GLIBC, LOADER, "linux-vdso"))
        assert is_glibc or f"/opt/{version.name}/bin/../lib/" in line, line


def test_it_runs_through_a_link(bare):
    (version,) = (bare.root / "opt").iterdir()
    (bare.root / "opt/cnpa-op").symlink_to(version.name)
    (bare.root / "bin").mkdir()
    (bare.root / "bin/cnpa-op").symlink_to("/opt/cnpa-op/bin/cnpa-op")
    assert bare("/bin/cnpa-op", "version").stdout.startswith("cnpa-op ")


def test_it_speaks_tls_where_there_is_only_glibc(bare, server):
    kubeconfig, certificate = server
    (version,) = (bare.root / "opt").iterdir()
    (bare.root / "tmp/kubeconfig").write_text(kubeconfig)
    (bare.root / "tmp/a.crt").write_text(certificate)
    command = ("reconcile", "--once", "--kubeconfig", "/tmp/kubeconfig", "--archive", "/tmp")
    said = bare(f"/opt/{version.name}/bin/cnpa-op", *command, check=False)
    assert said.returncode == 3 and "no Kubernetes API at https://localhost:" in said.stdout, said.stdout
