# SPDX-License-Identifier: Apache-2.0
"""Text that others wrote, in bytes that no terminal and no JSON parser takes: what is made of it is UTF-8, one line,
and bounded, wherever it comes in and wherever it goes out."""

import json
import os
import re
import socket
import subprocess

import pytest
import yaml

from fault_support import fault_plane, lab  # noqa: F401
from harness import BINARY, NAMESPACES, TEAMS, environment
from proxy import Answer, Respond
from raw_server import RawServer
from raw_support import NEW, answer_sanely, list_of, listed, quota, space, team

PAGE = b"<html>\n<h1>Fehlgeschlagen: f\xfcr \x80\xe2\x82</h1>\x1b]0;pwned\x07\x9b31m\xe2\x80\xae\xc2\x9b2J\r\n</html>"
WORDS = "for \x1b]0;pwned\x07\x1b[31m \x9b31m \u202egpj.exe \x7f\r\nnobody"  # in a JSON string: valid UTF-8
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def check_text(what, data):
    """Bytes are UTF-8, and hold nothing but line feeds that a terminal obeys."""
    text = data.decode()
    assert not OBEYED.search(text), f"{what}: {text!r}"
    return text


def run(*arguments, home, **extra):
    done = subprocess.run([BINARY, *map(str, arguments)], env=environment(home, extra), cwd=home, timeout=30,
                          stdin=subprocess.DEVNULL, capture_output=True)
    return done.returncode, check_text("stdout", done.stdout), check_text("stderr", done.stderr)


def refuses(answer):
    """A server that answers each write so, and is sane otherwise."""
    def respond(request):
        return answer(request) if request.is_write else answer_sanely(request, NEW)
    return respond


def page(request, code=403):
    request.answer(code, PAGE, {"Content-Type": b"text/html; f\xfcr \x1b[31m".decode("latin-1")})


def status(request):
    request.answer(403, {"kind": "Status", "apiVersion": "v1", "message": WORDS, "reason": WORDS, "code": 403,
                         "details": {"causes": [{"reason": WORDS, "message": WORDS, "field": WORDS}]}})


@pytest.mark.parametrize("answer", [page, status])
@pytest.mark.parametrize("flags", [["--once", "-o", "json"], ["--once", "--log-format=json", "-v"], ["--once"],
                                   ["--once", "--log-format=journal"], ["--diff", "--server", "-o", "json"],
                                   ["--diff", "--server"]], ids=" ".join)
def test_what_a_server_says_is_printed_as_text(bench, answer, flags):
    with RawServer(bench.certificate, refuses(answer)) as server:
        config = bench.kubeconfig(server.address)
        home = bench.new_folder()
        code, out, err = run("reconcile", *flags, "--kubeconfig", config, "--archive", home / "archive", home=home)
    assert code == 1, err
    if "-o" in flags:
        assert "Fehlgeschlagen: f\ufffdr" in out or "nobody" in out, out
        json.loads(out)
    if "--log-format=json" in flags:
        assert [json.loads(line)["level"] for line in err.splitlines()], err


@pytest.mark.parametrize("command", [["check", "-o", "json"], ["check"], ["get"], ["reconcile", "--once", "-o", "json"],
                                     ["explain", "alpha", "-o", "yaml"]], ids=" ".join)
def test_a_server_that_answers_nothing_but_pages(bench, command):
    with RawServer(bench.certificate, lambda request: page(request, 400)) as server:
        home = bench.new_folder()
        code, out, err = run(*command, "--kubeconfig", bench.kubeconfig(server.address), home=home)
    assert code in (1, 3), err
    if "json" in command:
        assert "Fehlgeschlagen: f\ufffdr" in json.dumps(json.loads(out), ensure_ascii=False)
    assert "Fehlgeschlagen" in out + err


def test_what_the_cluster_holds_is_shown_as_text_and_kept_in_documents(bench):
    def respond(request):
        items = {"teamspaces": [team("alpha")], "namespaces": [space("alpha")],
                 "resourcequotas": [quota("alpha") | {"spec": {"hard": {WORDS: "1", "pods": WORDS}}}]}
        if request.path == TEAMS:  # by its name
            return request.answer(200, list_of("teamspaces", items["teamspaces"]))
        return answer_sanely(request, items)

    with RawServer(bench.certificate, respond) as server:
        config, home = bench.kubeconfig(server.address), bench.new_folder()
        results = {name: run(*arguments, "--kubeconfig", config, home=home) for name, arguments in {
            "explain": ["explain", "alpha"], "explain json": ["explain", "alpha", "-o", "json"],
            "explain yaml": ["explain", "alpha", "-o", "yaml"], "diff": ["reconcile", "--diff"],
            "diff json": ["reconcile", "--diff", "-o", "json"], "get": ["get", "-o", "wide"]}.items()}
    assert "gpj.exe" in results["explain"][1] and "gpj.exe" in results["diff"][1]

    def values(document):
        return [field["from"] for change in document["changes"] for field in change["fields"] if field["from"]]

    assert WORDS in values(json.loads(results["diff json"][1]))
    document = json.loads(results["explain json"][1])
    assert any(WORDS in text for text in strings(document))
    assert list(strings(yaml.safe_load(results["explain yaml"][1]))) == list(strings(document))


def strings(value):
    """Each string of a document, in order, but for times and ages of the run."""
    if isinstance(value, dict):
        for key, member in value.items():
            if not key.endswith("At"):
                yield from strings(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)
    elif isinstance(value, str):
        yield value


def test_the_loop_tells_its_manager_and_its_log_in_text_and_drops_no_line(bench):
    """The supervisor hears each line of a pass, however long a header is, and systemd takes each status."""
    long = "Warning: 299 - \"" + "x" * 70_000 + "\x1b[31m end\""

    def respond(request):
        send = request.send
        request.send = lambda data: send(data.replace(b"\r\n", b"\r\n" + long.encode() + b"\r\n", 1))
        if listed(request) == "namespaces" and len(server.requests) > 12:
            return request.answer(500, PAGE * 20)
        return answer_sanely(request, NEW)

    with RawServer(bench.certificate, respond) as server, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        home = bench.new_folder()
        address = home / "notify"
        manager.bind(str(address))
        manager.settimeout(20)
        arguments = ["reconcile", "--interval=100ms", "--timeout=3s", "--kubeconfig", bench.kubeconfig(server.address),
                     "--archive", home / "archive"]
        process = subprocess.Popen([BINARY, *map(str, arguments)], env=environment(home, {"NOTIFY_SOCKET": address}),
                                   cwd=home, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            told = []
            while not told or "Fehlgeschlagen" not in told[-1]:
                data = manager.recv(1 << 20)
                assert len(data) <= 4096, len(data)
                told.append(check_text("datagram", data))
        finally:
            process.terminate()
            out, err = process.communicate(timeout=10)
    assert "f\ufffdr" in told[-1] and "\n" not in told[-1]
    text = check_text("stderr", out + err)
    assert re.search(r"^cnpa-op: warning: the server warns: x+ \.\.\. x+ \[31m end$", text, re.M), text
    assert max(map(len, text.splitlines())) < 3000
    assert "report" not in text


def test_last_words_of_a_plugin_are_text(bench):
    home = bench.new_folder()
    plugin = home / "plugin"
    plugin.write_text("""#!/bin/sh
printf 'first\\nZugang verweigert f\\374r \\033[31m%02000d\\n' 1 >&2
exit 1
""")
    plugin.chmod(0o755)
    config = home / "kubeconfig"
    config.write_text(json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": WORDS,
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "contexts": [{"name": WORDS, "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"exec": {"apiVersion": "client.authentication.k8s.io/v1",
                                                  "interactiveMode": "Never", "command": str(plugin)}}}]}))
    config.chmod(0o600)
    for command in (["get"], ["check", "-o", "json"], ["reconcile", "--once", "--log-format=json"]):
        _, out, err = run(*command, "--kubeconfig", config, home=home)
        assert "Zugang verweigert f\ufffdr" in out + err and "gpj.exe" in out + err, out + err
        assert len(out + err) < 4000


def test_a_folder_with_a_name_in_latin_1(bench):
    home = bench.new_folder()
    folder = os.fsencode(home) + b"/f\xfcr\x1b[31m"
    with RawServer(bench.certificate, lambda request: answer_sanely(request, NEW)) as server:
        config = bench.kubeconfig(server.address)
        for command in (["check", "-o", "json"], ["check"], ["explain", "alpha", "-o", "json"], ["explain", "alpha"]):
            done = subprocess.run([BINARY, *command, "--kubeconfig", str(config), b"--archive", folder + b"/none"],
                                  env=environment(home), cwd=home, capture_output=True, timeout=30)
            text = check_text(command, done.stdout + done.stderr)
            assert "f\ufffdr" in text, text
            if "json" in command:
                json.loads(done.stdout)


def test_a_refusal_in_latin_1_is_written_into_the_status_once(lab):  # noqa: F811
    """The server keeps U+FFFD for a byte that is not UTF-8: compared with that byte it would differ for ever."""
    lab.make("latin")
    lab.proxy.add(Respond(Answer.of(403, PAGE, {"Content-Type": "text/html"}), verb="POST", path=NAMESPACES))
    lab.run()
    ready = next(c for c in lab.team_space("latin")["status"]["conditions"] if c["type"] == "Ready")
    assert "Fehlgeschlagen: f\ufffdr" in ready["message"] and not OBEYED.search(ready["message"]), ready
    before = len(lab.proxy.log)
    lab.run()
    writes = [(exchange.verb, exchange.path) for exchange in lab.proxy.log[before:] if exchange.is_write]
    assert writes == [("POST", NAMESPACES)], writes
