# SPDX-License-Identifier: Apache-2.0
"""Servers that can't be reached or are not to be trusted, a row each: exit code 3, one line, in time."""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from dataclasses import dataclass

import pytest

from harness import BINARY, environment
from authority import days
from kubectl_support import Proxy, server_context
from raw_server import RawServer
from raw_support import AT_ONCE, GRACE, LATE, RETRIED, SPARE, TO_THE_END, answer_sanely, check_one_line, table


@contextlib.contextmanager
def nobody(bench):
    """An address at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    yield bench.kubeconfig(f"https://127.0.0.1:{port}")


@contextlib.contextmanager
def no_such_name(bench):
    yield bench.kubeconfig("https://no-such-server.invalid:6443")


@contextlib.contextmanager
def full_house(bench):
    """An address that takes no more connections, and does not say so: a SYN gets no answer."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as guests:
        for _ in range(3):
            guest = guests.enter_context(socket.socket())
            guest.setblocking(False)
            guest.connect_ex(listener.getsockname())
        yield bench.kubeconfig(f"https://127.0.0.1:{listener.getsockname()[1]}")


@contextlib.contextmanager
def silent(bench):
    """An address that takes connections, and never says a word on them, not even of TLS."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield bench.kubeconfig(f"https://127.0.0.1:{listener.getsockname()[1]}")


@contextlib.contextmanager
def without_tls(bench):
    """An address that talks plain HTTP."""
    def talk():
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTPS request?\n")

    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        threading.Thread(target=talk, daemon=True).start()
        yield bench.kubeconfig(f"https://127.0.0.1:{listener.getsockname()[1]}")
        listener.shutdown(socket.SHUT_RDWR)


def presents(certificate, authority=lambda bench: bench.authority):
    """A server with another certificate; the kubeconfig trusts `authority`."""
    @contextlib.contextmanager
    def reach(bench):
        with RawServer(certificate(bench), answer_sanely) as server:
            yield bench.kubeconfig(server.address, authority(bench))
            assert server.requests == [], "a request was sent to a server that is not to be trusted"
    return reach


@dataclass(frozen=True)
class Unreached:
    """A server that can't be reached: `reach` is a context manager that makes a kubeconfig for it."""

    name: str
    reach: object
    says: str
    within: float = AT_ONCE

    def run(self, bench):
        with self.reach(bench) as kubeconfig:
            return bench.run(kubeconfig)


@table(
    Unreached("connection refused", nobody, "cannot reach .*: connection refused", RETRIED),
    Unreached("a name that does not resolve", no_such_name, "resolve", TO_THE_END),
    Unreached("a connection that never comes", full_house, LATE, TO_THE_END),
    Unreached("silence instead of TLS", silent, LATE, TO_THE_END),
    Unreached("HTTP instead of TLS", without_tls, "TLS", RETRIED),
    Unreached("a certificate of another authority", presents(lambda bench: bench.elsewhere.server("a")),
              "the server's certificate is not trusted"),
    Unreached("a certificate for another name",
              presents(lambda bench: bench.elsewhere.server("b"), lambda bench: bench.elsewhere),
              "the server's certificate is for another name"),
    Unreached("a certificate that has expired", presents(lambda bench: bench.authority.server("c", days(-9), days(-1))),
              "the server's certificate has expired: renew it"),
    Unreached("a certificate that is not valid yet",
              presents(lambda bench: bench.authority.server("d", days(1), days(9))), "is not valid yet: compare"),
)
def test_server_that_can_not_be_reached(row, outcomes):
    outcome = outcomes[row.name].result()
    assert outcome.result.code == 3, outcome
    check_one_line(outcome, row.says)
    assert outcome.seconds < row.within, outcome


# What the machine trusts -----------------------------------------------------------------------------------------------


def machine_trusting(folder, *authorities):
    """Returns the command under which a program runs on a machine that trusts `authorities` and nobody else: in a mount
    namespace of its own, with `folder` in place of /etc/ssl/certs, in both forms, bundle and folder."""
    folder.mkdir()
    if authorities:
        bundle = "".join(authority.certificate.read_text() for authority in authorities)
        (folder / "ca-certificates.crt").write_text(bundle)
    for authority in authorities:
        (folder / f"{subject_hash(authority.certificate)}.0").write_text(authority.certificate.read_text())
    return with_mounted(folder, "/etc/ssl/certs")


def with_mounted(path, over):
    """Returns the command under which a program sees `path` in place of `over`: in a mount namespace of its own."""
    under = ["unshare", "--mount", "sh", "-c", f"mount --bind {path} {over} && exec \"$@\"", "sh"]
    try:
        subprocess.run([*under, "true"], check=True, capture_output=True)
    except subprocess.CalledProcessError as error:
        pytest.skip(f"needs root and a mount namespace: {error.stderr}")
    return under


def subject_hash(certificate):
    return subprocess.run(["openssl", "x509", "-noout", "-subject_hash", "-in", certificate], check=True,
                          capture_output=True, text=True).stdout.strip()


def pass_under(under, bench, tmp_path, kubeconfig):
    return subprocess.run([*under, BINARY, *map(str, bench.arguments(kubeconfig))], timeout=60, text=True,
                          env=environment(tmp_path) | {"PATH": os.environ["PATH"]}, capture_output=True)


def test_authority_in_the_kubeconfig_is_trusted_in_place_of_the_machines(bench, tmp_path):
    under = machine_trusting(tmp_path / "certs", bench.authority)
    with RawServer(bench.certificate, answer_sanely) as server:
        kubeconfig = bench.kubeconfig(server.address, bench.elsewhere)
        check_not_trusted(pass_under(under, bench, tmp_path, kubeconfig), server)
        edit(kubeconfig, {"certificate-authority": ""})
        assert pass_under(under, bench, tmp_path, kubeconfig).returncode == 0


def test_authority_in_the_kubeconfig_is_trusted_of_a_proxy_too(bench, tmp_path):
    under = machine_trusting(tmp_path / "certs", bench.authority)
    with RawServer(bench.certificate, answer_sanely) as server, tls_proxy(server, bench.authority) as proxy:
        kubeconfig = bench.kubeconfig(server.address, bench.elsewhere)
        edit(kubeconfig, {"proxy-url": proxy})
        check_not_trusted(pass_under(under, bench, tmp_path, kubeconfig), server, "the proxy's certificate is not trusted")
        edit(kubeconfig, {"certificate-authority": str(bench.authority.certificate)})
        assert pass_under(under, bench, tmp_path, kubeconfig).returncode == 0


def test_authority_in_the_kubeconfig_is_trusted_behind_a_proxy_too(bench, tmp_path):
    under = machine_trusting(tmp_path / "certs", bench.elsewhere)
    with RawServer(bench.elsewhere.server("e"), answer_sanely) as server, tls_proxy(server, bench.authority) as proxy:
        kubeconfig = bench.kubeconfig("https://elsewhere.example:6443")
        edit(kubeconfig, {"proxy-url": proxy})
        check_not_trusted(pass_under(under, bench, tmp_path, kubeconfig), server)
        both = tmp_path / "both.crt"
        both.write_text(bench.authority.certificate.read_text() + bench.elsewhere.certificate.read_text())
        edit(kubeconfig, {"certificate-authority": str(both)})
        assert pass_under(under, bench, tmp_path, kubeconfig).returncode == 0


@contextlib.contextmanager
def tls_proxy(server, authority):
    """The URL of a proxy to `server` that speaks TLS itself, with a certificate of `authority`."""
    proxy = Proxy(server.port, server_context(authority))
    try:
        yield f"https://127.0.0.1:{proxy.port}"
    finally:
        proxy.close()


def check_not_trusted(result, server, words="the server's certificate is not trusted"):
    assert result.returncode == 3, result
    assert words in result.stderr, result
    assert server.requests == [], "a request was sent to a server that is not to be trusted"


def test_machine_that_trusts_nobody_is_told_apart(bench, tmp_path):
    under = machine_trusting(tmp_path / "certs")
    with RawServer(bench.certificate, answer_sanely) as server:
        kubeconfig = bench.kubeconfig(server.address)
        edit(kubeconfig, {"certificate-authority": ""})
        result = pass_under(under, bench, tmp_path, kubeconfig)
    assert result.returncode == 3, result
    assert re.search("no authorities to verify the server's certificate by .*: set 'certificate-authority', or install "
                     "ca-certificates", result.stderr), result.stderr


def edit(kubeconfig, cluster):
    """Changes fields of the kubeconfig's only cluster."""
    document = json.loads(kubeconfig.read_text())
    document["clusters"][0]["cluster"].update(cluster)
    kubeconfig.write_text(json.dumps(document))


# A name server that does not answer -----------------------------------------------------------------------------------


@pytest.fixture
def mute_name_server(tmp_path):
    """The command under which a program asks a name server that never answers: in a mount namespace of its own."""
    settings = tmp_path / "resolv.conf"
    settings.write_text("nameserver 127.0.0.77\noptions timeout:30 attempts:5\n")
    under = with_mounted(settings, "/etc/resolv.conf")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        try:
            server.bind(("127.0.0.77", 53))
        except OSError as error:
            pytest.skip(f"needs root and port 53 of 127.0.0.77: {error}")
        server.settimeout(10)
        yield under, server


@pytest.mark.parametrize("timeout, told, code, within", [
    (2, None, 3, 2 + SPARE), (30, signal.SIGTERM, 143, GRACE + SPARE)], ids=["timeout", "SIGTERM"])
def test_name_server_that_does_not_answer_holds_up_nobody(bench, tmp_path, mute_name_server, timeout, told, code,
                                                          within):
    under, server = mute_name_server
    arguments = bench.arguments(bench.kubeconfig("https://cluster.example.com:6443"), timeout=timeout)
    command = [*under, BINARY, *map(str, arguments)]
    began = time.monotonic()
    with subprocess.Popen(command, env=environment(tmp_path) | {"PATH": os.environ["PATH"]}, text=True,
                          stderr=subprocess.PIPE) as process:
        server.recv(1024)  # the question
        if told:
            process.send_signal(told)
            began = time.monotonic()
        said_of_it = process.communicate(timeout=60)[1]
    assert process.returncode == code, said_of_it
    assert time.monotonic() - began < within
    if not told:
        assert re.fullmatch(r"cnpa-op: cannot reach https://cluster\.example\.com:6443: .*\n", said_of_it), said_of_it
