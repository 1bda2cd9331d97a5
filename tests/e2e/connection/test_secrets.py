# SPDX-License-Identifier: Apache-2.0
"""What proves who we are is nowhere but where it has to be: not in what is printed, at the chattiest level and in every
format, not in what is written, not in what others see of the process, not in what a plugin inherits.

Every kind of credential is used against a server that takes it, one that refuses it and one that is away, and stands
next to every mistake. Then all that came out is searched for each piece of it of some length, and for its base64 forms.
"""

import base64
import json
import os
import re
import resource
import signal
import secrets
import socket
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from authority import Authority
from harness import BINARY, environment, run_binary, wait_for
from kubectl_support import Proxy, answer, config, new_folder, plugin
from raw_server import RawServer, Request
from raw_support import ITEMS, answer_sanely, answers

PIECE = 12  # bytes of a secret that tell it from anything else
COMMANDS = {
    "pass": ["reconcile", "--once", "--log-level=debug"],
    "pass-json": ["reconcile", "--once", "--log-level=debug", "--log-format=json"],
    "pass-journal": ["reconcile", "--once", "--log-level=debug", "--log-format=journal"],
    "diff": ["reconcile", "--diff", "--log-level=debug"],
    "check": ["check", "-v"],
    "check-json": ["check", "-v", "-o", "json"],
}


def forms(secret):
    """Returns a secret as it is, and in base64, alone and after one or two other bytes."""
    data = secret.encode()
    return [secret, *(base64.b64encode(b"x" * shift + data).decode()[4 * bool(shift):-4] for shift in range(3))]


def pieces(texts):
    """Returns every piece of the secrets, and of their other forms."""
    return {form[start:start + PIECE] for text in texts for form in forms(text)
            for start in range(len(form) - PIECE + 1)}


def body(pem):
    """Returns what is secret of a PEM file: the lines between the first one and the last."""
    return "".join(pem.splitlines()[1:-1])


def new_secret(kind):
    return f"{kind}-{secrets.token_hex(16)}"


# ---------------------------------------------------------------------------------------------------------------------
# Kinds of credentials, and mistakes around them


@dataclass
class Kind:
    """A kubeconfig with secrets: a text with @server@ and @proxy@ in it, other files, variables."""

    name: str
    text: str
    secrets: list
    files: dict = field(default_factory=dict)
    env: dict = field(default_factory=dict)
    header: str = None  # that a server gets


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """A client certificate as PEM and as base64 of that, and what is secret of it."""
    authority = Authority(tmp_path_factory.mktemp("pki"), ("127.0.0.1", "0.0.0.0"))
    client = authority.client("alice")
    pems = {"certificate": client.certificate.read_text(), "key": client.key.read_text()}
    return authority, pems


def bearer(token):
    return f"Bearer {token}"


def kinds(pems):
    """Returns each Kind by its name."""
    token, password, other = new_secret("token"), new_secret("password"), new_secret("other")
    basic = "Basic " + base64.b64encode(f"ann:{password}".encode()).decode()
    encoded = {f"client-{name}-data": base64.b64encode(pem.encode()).decode() for name, pem in pems.items()}
    halves = [*map(body, pems.values()), *(text[40:-60] for text in encoded.values())]
    proxied = {"proxy-url": f"http://ann:{password}@127.0.0.1:@proxy@"}
    pair = answer(clientCertificateData=pems["certificate"], clientKeyData=pems["key"])
    by_plugin = plugin(env=[{"name": "PASSWORD", "value": other}], args=["--password", password])
    made = [
        Kind("token", config({"token": token}), [token], header=bearer(token)),
        Kind("token file", config({"tokenFile": "token"}), [token], {"token": token + "\n"}, header=bearer(token)),
        Kind("basic", config({"username": "ann", "password": password}), [password, basic], header=basic),
        Kind("certificate", config(encoded), halves),
        Kind("certificate in files", config({"client-certificate": "crt", "client-key": "key"}), halves,
             {"crt": pems["certificate"], "key": pems["key"]}),
        Kind("plugin with token", config(by_plugin), [token, password, other], {"answer": answer(token=token)},
             header=bearer(token)),
        Kind("plugin with certificate", config(by_plugin), [password, other, *halves], {"answer": pair}),
        Kind("plugin that knows the cluster", config(plugin(provideClusterInfo=True), proxied), [token, password],
             {"answer": answer(token=token)}, header=bearer(token)),
        Kind("proxy", config({"token": token}, proxied), [token, password], header=bearer(token)),
        Kind("proxy by variable", config({"token": token}, {"server": "https://0.0.0.0:@port@"}), [token, password],
             env={"HTTPS_PROXY": f"http://ann:{password}@127.0.0.1:@proxy@"}, header=bearer(token)),
        Kind("socks proxy", config({"token": token}, {"proxy-url": proxied["proxy-url"].replace("http", "socks5")}),
             [token, password], header=bearer(token)),
        Kind("other users", config({"token": token}) + f"- name: b\n  user: {json.dumps(encoded | {'token': other})}\n",
             [token, other, *halves], header=bearer(token)),
        Kind("impersonation", config({"token": token, "as": "jo"}), [token], header=bearer(token)),
    ]
    return {kind.name: kind for kind in made}


NAMES = list(kinds({"certificate": "-\nx\n-", "key": "-\nx\n-"}))


def mistakes(pems):
    """Returns Kinds that no server gets to see: a secret stands beside a mistake, or is one."""
    token = new_secret("token")
    key = base64.b64encode(pems["key"].encode()).decode()
    certificate = base64.b64encode(pems["certificate"].encode()).decode()
    plain = config({"token": "TOKEN"})

    def raw(name, value):
        return Kind(name, plain.replace('"TOKEN"', value.format(token)), [token])

    def printed(name, prints):
        return Kind(f"plugin prints {name}", config(plugin()), [token], {"answer": prints})

    def proxy(name, url):
        return Kind(f"proxy {name}", config({"token": token}, {"proxy-url": url.format(token)}), [token])

    return [
        raw("token of two lines", '"{0}\\n{0}"'),
        raw("token in a list", '["{}"]'),
        raw("token as a key", '{{"{}": 1}}'),
        raw("quote that never ends", '"{}'),
        raw("brace that never ends", '{{"{}"'),
        raw("two colons", "{}: b"),
        raw("percent", "%{}"),
        raw("at", "@{}"),
        raw("backquote", "`{}"),
        raw("unknown escape", '"{}\\q"'),
        raw("tag", "!{} x"),
        raw("user is the token", "a\n- name: b\n  user: {}"),
        raw("list is the token", "a\nclusters: {}"),
        raw("no colon", "a\n    {}"),
        raw("and basic", '"{}"\n    username: ann\n    password: x'),
        Kind("token file of two lines", config({"tokenFile": "file"}), [token], {"file": f"{token}\n{token}"}),
        Kind("name with a colon", config({"username": f"ann:{token}", "password": token}), [token]),
        Kind("key is no base64", config({"client-key-data": key[:-80] + "%" + key[-80:],
                                         "client-certificate-data": certificate}), [key[40:-80], body(pems["key"])]),
        Kind("key without certificate", config({"client-key-data": key}), [key[40:-60], body(pems["key"])]),
        Kind("key for certificate", config({"client-key-data": key, "client-certificate-data": key}),
             [key[40:-60], body(pems["key"])]),
        Kind("key cut in half", config({"client-key-data": base64.b64encode(pems["key"][:100].encode()).decode(),
                                        "client-certificate-data": certificate}), [body(pems["key"])[:60]]),
        Kind("key twice", config({"client-key-data": key, "client-key": "key"}), [key[40:-60], body(pems["key"])],
             {"key": pems["key"]}),
        Kind("certificate as CA and insecure", config({"token": token}, {"insecure-skip-tls-verify": True}), [token]),
        Kind("token for the context", config({"token": token}).replace("current-context: a", "current-context: b"),
             [token]),
        Kind("plugin fails", config(plugin()), [token], {
            "answer": "", "plugin.sh": f"#!/bin/sh\necho {token}\nexit 1"}),
        Kind("plugin that never ends", config(plugin()), [token], {
            "answer": "", "plugin.sh": f"#!/bin/sh\necho {token}\nexec sleep 20"}),
        Kind("plugin prints too much", config(plugin()), [token], {
            "answer": "", "plugin.sh": f"#!/bin/sh\nyes {token} | head -c 3000000"}),
        printed("garbage", token),
        printed("half", answer(token=token)[:-3]),
        printed("two documents", answer(token=token) * 2),
        printed("another version", answer("v1beta1", token=token)),
        printed("a list", json.dumps([token])),
        printed("a kind", answer().replace("ExecCredential", token)),
        printed("a version", answer().replace("/v1", "/" + token)),
        printed("a time", answer(token="x", expirationTimestamp=token)),
        printed("an unknown field", json.dumps({token: token})),
        printed("a wrong type", answer(token=[token])),
        printed("a map", answer(token={token: token})),
        printed("two lines", answer(token=f"{token}\n{token}")),
        printed("a certificate", answer(clientCertificateData=token, clientKeyData=token)),
        printed("half a certificate", answer(clientKeyData=token)),
        proxy("is ftp", "ftp://ann:{}@127.0.0.1:1"),
        proxy("has no scheme", "ann:{}@127.0.0.1:1"),
        proxy("has a bad port", "http://ann:{}@127.0.0.1:x"),
        proxy("has no host", "http://ann:{}@"),
        proxy("has a blank", "http://ann:{} @127.0.0.1:1"),
        Kind("proxy by variable has a bad port", config({"token": token}, {"server": "https://0.0.0.0:1"}), [token],
             env={"HTTPS_PROXY": f"http://ann:{token}@127.0.0.1:x"}),
        proxy("password has an @", "http://ann:{}@word@127.0.0.1:1"),
        *(Kind(f"address {what}", config({"token": "t"}, {"server": address}), [token]) for what, address in (
            ("that is away", f"https://ann:{token}@127.0.0.1:@port@"),
            ("with a bad port", f"https://ann:{token}@127.0.0.1:x"),
            ("of http", f"http://ann:{token}@127.0.0.1:1"))),
        Kind("key in place of its file", config({"client-key": pems["key"], "client-certificate-data": certificate}),
             [body(pems["key"])]),
        Kind("key in base64 in place of its file", config({"client-key": key, "client-certificate-data": certificate}),
             [key[40:-60]]),
        Kind("query of the address", config({"token": token}, {"server": f"ftp://127.0.0.1/?token={token}"}), [token]),
        Kind("not a list", "kind: Config\nusers:\n  token: " + token + "\n", [token]),
        Kind("not a kubeconfig", token, [token]),
    ]


MISTAKES = [kind.name for kind in mistakes({"certificate": "-\nx\n-", "key": "-\nx\n-"})]

# ---------------------------------------------------------------------------------------------------------------------
# Servers and runs

WORLD = dict(ITEMS)
GONE = next(team for team in json.loads(json.dumps(ITEMS["teamspaces"])) if team["metadata"]["name"] == "beta")
GONE["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
WORLD["teamspaces"] = [ITEMS["teamspaces"][0], GONE]  # the one is made, the other one archived


def serve(request):
    """Answers as an API server does that takes whoever comes for jo and lets him do all."""
    path = request.path
    if path == "/version":
        return request.answer(200, {"gitVersion": "v1.37.2"})
    if path.endswith("/selfsubjectreviews"):
        return request.answer(201, json.loads(request.body) | {"status": {"userInfo": {"username": "jo"}}})
    if path.endswith("/selfsubjectaccessreviews"):
        return request.answer(201, json.loads(request.body) | {"status": {"allowed": True}})
    return answer_sanely(request, WORLD)


class Bank:
    """Runs of the binary with secrets, and what came out of them."""

    def __init__(self, folder, certificates):
        self.folder = folder
        self.authority, pems = certificates
        self.kinds, self.mistakes = kinds(pems), {kind.name: kind for kind in mistakes(pems)}
        certificate = self.authority.server("bank")
        refuse = answers(401, {"kind": "Status", "status": "Failure", "message": "Unauthorized", "code": 401})
        self.servers = {
            "fine": RawServer(certificate, serve),
            "refused": RawServer(certificate, lambda request: refuse(request, b"")),
            "stalled": RawServer(certificate, Request.hold),
        }

    def __enter__(self):
        for server in self.servers.values():
            server.__enter__()
        self.proxies = {name: Proxy(server.port) for name, server in self.servers.items()}
        self._unused = socket.socket()  # bound, and not listening
        self._unused.bind(("127.0.0.1", 0))
        return self

    def __exit__(self, *failure):
        for server, proxy in zip(self.servers.values(), self.proxies.values()):
            server.__exit__()
            proxy.close()
        self._unused.close()

    def write(self, kind, outcome):
        """Writes the files of a Kind for a server, and returns the kubeconfig and the variables of a run."""
        away = self._unused.getsockname()[1]
        port = self.servers[outcome].port if outcome in self.servers else away
        proxy = self.proxies[outcome].port if outcome in self.proxies else away
        words = {"@one@": f"https://127.0.0.1:{port}", "@port@": str(port), "@proxy@": str(proxy),
                 "@CA@": base64.b64encode(self.authority.certificate.read_bytes()).decode()}

        def filled(text):
            return re.sub("@[a-zA-Z]+@", lambda found: words.get(found[0], found[0]), text)

        folder = new_folder(self.folder, "conf")
        script = {"plugin.sh": f'#!/bin/sh\ncat "{folder}/answer"\n'} if kind.files else {}
        for name, text in {"config": kind.text, **script, **kind.files}.items():
            (folder / name).write_text(filled(text))
            (folder / name).chmod(0o700 if name.endswith(".sh") else 0o600)
        return folder / "config", {name: filled(value) for name, value in kind.env.items()}

    def arguments(self, command, kubeconfig, home, timeout=5):
        return [*COMMANDS[command], "--kubeconfig", kubeconfig, "--archive", home / "archive", f"--timeout={timeout}s",
                f"--request-timeout={timeout}s"]

    def run(self, kind, outcome, command, timeout):
        """Runs a command in a home folder of its own; returns its Result and that folder."""
        kubeconfig, env = self.write(kind, outcome)
        home = new_folder(self.folder, "run") / "home"
        home.mkdir()
        return run_binary(self.arguments(command, kubeconfig, home, timeout), home, env=env), home


def written(home):
    """Returns what stands in the files of a home folder, and in their names, but for the credentials that are kept."""
    kept = home / ".cache" / "cnpa-op" / "credentials"
    for path in sorted(home.rglob("*")):
        yield str(path.relative_to(home))
        if path.is_file() and path.parent != kept:
            yield path.read_bytes().decode("latin-1")
        elif path.is_file():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def assert_silent(kind, *texts):
    text = "\n".join(texts)
    found = sorted(piece for piece in pieces(kind.secrets) if piece in text)
    assert not found, f"{kind.name}: {found[0]!r} stands in {[t for t in texts if found[0] in t]}"


@pytest.fixture(scope="module")
def bank(tmp_path_factory, certificates):
    with Bank(tmp_path_factory.mktemp("secrets"), certificates) as bank:
        yield bank


# ---------------------------------------------------------------------------------------------------------------------
# What comes out


def test_search_finds_what_it_looks_for():
    secret = new_secret("token")
    basic = base64.b64encode(f"ann:{secret}".encode()).decode()
    for text in (secret, f"xx{secret[5:20]}xx", basic, base64.b64encode(b"-" + secret.encode()).decode()):
        with pytest.raises(AssertionError):
            assert_silent(Kind("", "", [secret]), "some text", text)
    assert_silent(Kind("", "", [secret]), "some text", new_secret("token"))


@pytest.mark.parametrize("outcome, codes", [("fine", (0, 1)), ("refused", (3,)), ("away", (3,))])
@pytest.mark.parametrize("name", NAMES)
def test_credentials_are_not_told(bank, name, outcome, codes):
    kind = bank.kinds[name]
    if outcome in bank.servers:
        bank.servers[outcome].requests.clear()
    timeout = 1 if outcome == "away" else 10
    with ThreadPoolExecutor(len(COMMANDS)) as pool:
        runs = list(pool.map(lambda command: bank.run(kind, outcome, command, timeout), COMMANDS))
    for command, (result, home) in zip(COMMANDS, runs):
        assert result.code in codes, (command, result)
        assert_silent(kind, result.stdout, result.stderr, *written(home))
        if outcome == "fine" and command == "pass":
            assert result.code == 0 and list(home.joinpath("archive").iterdir()), result
    if outcome in bank.servers:
        sent = {request.headers.get("authorization") for request in bank.servers[outcome].requests}
        assert sent == {kind.header}, "not what was to be kept secret"


@pytest.mark.parametrize("name", MISTAKES)
def test_credentials_beside_a_mistake_are_not_told(bank, name):
    kind = bank.mistakes[name]
    with ThreadPoolExecutor(len(COMMANDS)) as pool:
        runs = list(pool.map(lambda command: bank.run(kind, "away", command, 1), COMMANDS))
    for command, (result, home) in zip(COMMANDS, runs):
        assert result.code in (2, 3), (command, result)
        assert result.stdout or result.stderr
        assert_silent(kind, result.stdout, result.stderr, *written(home))


# ---------------------------------------------------------------------------------------------------------------------
# What others see of the process


def start(bank, kind):
    """Starts a pass that waits for its server, and returns the process and its home folder."""
    kubeconfig, env = bank.write(kind, "stalled")
    home = new_folder(bank.folder, "run") / "home"
    home.mkdir()
    arguments = bank.arguments("pass", kubeconfig, home, timeout=30)
    return subprocess.Popen([BINARY, *map(str, arguments)], cwd=home, env=environment(home, env), text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE), home


def shown(process):
    """Returns what others see of a process, root among them."""
    if os.geteuid() != 0:
        pytest.skip("needs root: nobody else is shown anything")
    proc = Path("/proc", str(process.pid))
    files = [proc / "cmdline", proc / "environ", *proc.glob("task/*/comm")]
    return [file.read_bytes().decode("latin-1") for file in files] + [os.readlink(fd) for fd in proc.glob("fd/*")]


def test_process_shows_nothing(bank):
    served = [kind for kind in bank.kinds.values() if not kind.env]  # a variable is there for all of its user's to see
    bank.servers["stalled"].requests.clear()
    started = [start(bank, kind) for kind in served]
    try:
        wait_for(lambda: len(bank.servers["stalled"].requests) >= 3 * len(served), "the lists of all", pause=0.01)
        for kind, (process, _) in zip(served, started):
            assert process.poll() is None
            assert_silent(kind, *shown(process))
            # It is what a core file is called after.
            assert Path(f"/proc/{process.pid}/comm").read_text() == Path(BINARY).name[:15] + "\n"
    finally:
        for process, _ in started:
            process.terminate()
        outputs = [process.communicate(timeout=30) for process, _ in started]
    for kind, (process, home), output in zip(served, started, outputs):
        assert process.returncode == 143, output
        assert_silent(kind, *output, *written(home))


# ---------------------------------------------------------------------------------------------------------------------
# What a plugin inherits

ASKED = '#!/bin/sh\nenv | sort >> "$HOME/env"\nls -l /proc/self/fd >> "$HOME/fds"\ncat "$HOME/answer"\n'


def test_plugin_inherits_no_secret_that_it_does_not_need(bank):
    token, password, own = new_secret("token"), new_secret("password"), new_secret("own")
    text = config(plugin(env=[{"name": "OWN", "value": own}]),
                  {"proxy-url": f"http://ann:{password}@127.0.0.1:@proxy@"})
    text += f"- name: b\n  user: {{token: {token}}}\n"
    kubeconfig, _ = bank.write(Kind("", text, [], {"plugin.sh": ASKED}), "fine")
    home = new_folder(bank.folder, "run") / "home"
    home.mkdir()
    (home / "answer").write_text(answer(token="t"))
    result = run_binary(bank.arguments("pass", kubeconfig, home), home)
    assert result.code == 0, result
    inherited = (home / "env").read_text()
    assert f"OWN={own}" in inherited
    assert_silent(Kind("", "", [token, password]), inherited)
    names = {line.partition("=")[0] for line in inherited.splitlines()} - {"PWD", "_", "SHLVL", "OLDPWD"}
    assert names == {"PATH", "HOME", "LANG", "CNPA_OP_CONFIG", "RUNTIME_DIRECTORY", "OWN", "KUBERNETES_EXEC_INFO"}
    descriptors = re.findall(r" (\d+) -> (\S+)", (home / "fds").read_text())
    assert {int(number) for number, file in descriptors if not file.startswith("/proc/")} == {0, 1, 2}


def test_plugin_that_is_run_again_is_not_told_the_refused_token(bank):
    refused = new_secret("refused")
    kubeconfig, _ = bank.write(Kind("", config(plugin(provideClusterInfo=True)), [], {"plugin.sh": ASKED}), "refused")
    home = new_folder(bank.folder, "run") / "home"
    home.mkdir()
    (home / "answer").write_text(answer(token=refused))
    for runs in (1, 2):
        result = run_binary(bank.arguments("pass", kubeconfig, home), home)
        assert result.code == 3, result
        assert (home / "env").read_text().count("KUBERNETES_EXEC_INFO=") == runs
    (home / "answer").unlink()
    assert_silent(Kind("", "", [refused]), result.stderr, *written(home))


# What a crash leaves, and what libraries write for those who listen ------------------------------------------------------


def test_neither_a_crash_nor_a_library_writes_secrets_to_the_disk(bank, tmp_path):
    def limitless():
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def dumps(command, **options):
        process = subprocess.Popen(command, cwd=tmp_path, preexec_fn=limitless, stderr=subprocess.DEVNULL, **options)
        try:
            if "stalled" in str(command):
                wait_for(lambda: bank.servers["stalled"].requests, "it has asked", pause=0.01)
        finally:
            process.send_signal(signal.SIGABRT)
        status = os.waitpid(process.pid, 0)[1]
        process.returncode = -os.WTERMSIG(status)
        return os.WCOREDUMP(status)

    kind = next(kind for kind in bank.kinds.values() if not kind.env)
    kubeconfig, _ = bank.write(kind, "stalled")
    stalled = tmp_path / "stalled.yaml"
    stalled.write_bytes(kubeconfig.read_bytes())
    stalled.chmod(0o600)
    keys = tmp_path / "keys"
    bank.servers["stalled"].requests.clear()
    assert not dumps([BINARY, *map(str, bank.arguments("pass", stalled, tmp_path, timeout=30))],
                     env=environment(tmp_path, {"SSLKEYLOGFILE": keys}))
    assert not keys.exists()
    if not dumps(["sleep", "60"]):
        pytest.skip("this machine writes no core files at all")
