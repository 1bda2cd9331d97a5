# SPDX-License-Identifier: Apache-2.0
"""The man pages and completions as man and the shells take them; that they are complete is tested in tests/docs."""

import os
import pty
import re
import select
import signal
import time

import pytest

from package_support import BUILD, run

MADE = BUILD / "generated"


@pytest.fixture
def typed(tmp_path):
    """A function that types lines into an interactive shell, and returns what the terminal shows after the last one."""

    def show(shell, setup, keys, awaited):
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "TERM": "dumb", "INPUTRC": "/dev/null"}
        child, terminal = pty.fork()
        if child == 0:
            os.execvpe(shell[0], shell, environment)
        try:
            os.write(terminal, f"{setup}; echo rea''dy\n".encode())
            read_until(terminal, "ready")
            os.write(terminal, keys.encode())
            return read_until(terminal, awaited)
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            os.close(terminal)

    return show


def read_until(terminal, awaited, seconds=20):
    shown, end = "", time.monotonic() + seconds
    while awaited not in shown:
        assert time.monotonic() < end, f"no '{awaited}' in: {shown}"
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 4096).decode(errors="replace")
    return shown


def bash_offers(*words):
    """What bash offers for the last word of a line."""
    script = f"""source {MADE}/cnpa-op.bash
        COMP_WORDS=({' '.join(f"'{word}'" for word in words)}); COMP_CWORD={len(words) - 1}
        _cnpa_op; printf '%s\\n' "${{COMPREPLY[@]}}" """
    return run("bash", "--norc", "-c", script).stdout.split()


def fish_offers(line, home):
    said = run("fish", "--no-config", "-c", f"source {MADE}/cnpa-op.fish; complete -C '{line}'",
               env={"HOME": str(home), "PATH": "/usr/bin:/bin"}).stdout
    return [entry.split("\t")[0] for entry in said.splitlines()]


@pytest.mark.parametrize("page", ["cnpa-op.1", "cnpa-op-config.5"])
def test_man_has_nothing_to_say_against_a_page(page):
    assert run("groff", "-man", "-ww", "-z", MADE / page).stdout == ""
    shown = run("man", "-l", MADE / page, env={"MANWIDTH": "100", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}).stdout
    assert "SEE ALSO" in shown


def test_man_shows_each_flag_that_help_shows():
    shown = run("man", "-l", MADE / "cnpa-op.1", env={"MANWIDTH": "100", "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    for command in ("reconcile", "get", "explain", "check", "crd", "rbac", "unit", "version"):
        flags = re.findall(r"^(?:  -\w, |      )(--[\w-]+)", run(BUILD / "cnpa-op", command, "--help").stdout, re.M)
        assert len(flags) >= 3
        for flag in flags:
            assert re.search(rf"^ +(-\w, )?{flag}( |$)", shown.stdout, re.M), f"{flag} of {command}"


def test_bash_zsh_and_fish_find_no_fault_in_the_syntax():
    run("bash", "-n", MADE / "cnpa-op.bash")
    run("zsh", "-f", "-n", MADE / "_cnpa-op")
    run("fish", "--no-config", "-n", MADE / "cnpa-op.fish")


def test_bash_completes_a_flag_when_tab_is_pressed(typed):
    bash = ["bash", "--norc", "--noprofile", "-i"]
    typed(bash, f"source {MADE}/cnpa-op.bash", "cnpa-op reconcile --ti\t", "--timeout ")


def test_zsh_completes_a_flag_when_tab_is_pressed(typed):
    setup = f"PS1='$ '; fpath=({MADE} $fpath); autoload -Uz compinit; compinit -D -u"
    typed(["zsh", "-f", "-i"], setup, "cnpa-op reconcile --ti\t", "--timeout")


def test_fish_completes_commands_flags_and_words(tmp_path):
    assert fish_offers("cnpa-op reconcile --ti", tmp_path) == ["--timeout"]
    assert fish_offers("cnpa-op rec", tmp_path) == ["reconcile"]
    assert fish_offers("cnpa-op check --output j", tmp_path) == ["json"]
    assert fish_offers("cnpa-op crd --ti", tmp_path) == []


@pytest.mark.parametrize("line, offered", [
    (("cnpa-op", "re"), ["reconcile"]),
    (("cnpa-op", "reconcile", "--ti"), ["--timeout"]),
    (("cnpa-op", "crd", "--ti"), []),
    (("cnpa-op", "check", "--output", ""), ["text", "json"]),
    (("cnpa-op", "check", "--output", "="), ["text", "json"]),
    (("cnpa-op", "check", "--output", "=", "j"), ["json"]),
    (("cnpa-op", "check", "-o", "j"), ["json"]),
    (("cnpa-op", "get", "-o", ""), ["text", "wide", "json", "yaml", "name"]),
    (("cnpa-op", "explain", "-o", ""), ["text", "json", "yaml"]),
    (("cnpa-op", "-v", "reconcile", "--once", "--al"), ["--allow-crd-deletion"]),
    (("cnpa-op", "reconcile", "--timeout", ""), []),
])
def test_bash_offers(line, offered):
    assert bash_offers(*line) == offered


def test_bash_offers_files_also_with_spaces_and_only_folders_for_the_archive(tmp_path):
    (tmp_path / "a file").touch()
    (tmp_path / "folder").mkdir()
    script = f"""source {MADE}/cnpa-op.bash; cd {tmp_path}
        for flag in --kubeconfig --archive; do
          COMP_WORDS=(cnpa-op check $flag ''); COMP_CWORD=3; _cnpa_op; printf '%s\\n' "${{COMPREPLY[@]}}" .
        done"""
    said = run("bash", "--norc", "-c", script).stdout.splitlines()
    assert sorted(said[:said.index(".")]) == ["a file", "folder"]
    assert said[said.index(".") + 1:] == ["folder", "."]
