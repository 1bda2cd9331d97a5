# SPDX-License-Identifier: Apache-2.0
"""`cnpa-op reconcile`, the loop, as a process: what it does, what it says and how it ends."""

import fcntl
import os
import re
import select
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from harness import BINARY, TEAMS, children, environment, run_binary, said, spoken, wait_for

FAST = "--interval=200ms"


def private_kilobytes(pid, kinds="Clean|Dirty"):
    """Returns how much memory only this process has, between two passes: a child shares all of it.

    What is Clean is of files, and somebody else's too whenever another process runs the same binary.
    """
    found = []

    def measured():
        if children(pid):
            return False
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        found[:] = re.findall(rf"^Private_(?:{kinds}): +(\d+) kB", rollup, re.M)
        return not children(pid)
    wait_for(measured, "the pause between two passes", pause=0.001)
    return sum(map(int, found))


@pytest.fixture
def loop(cluster):
    with cluster.started("reconcile", FAST) as started:
        yield started


def end(loop, number=signal.SIGTERM):
    loop.signal(number)
    return loop.finish(10)


def test_a_team_space_becomes_a_namespace_and_what_is_changed_by_hand_comes_back(cluster, loop):
    name = cluster.create_team(pods=4)
    wait_for(lambda: cluster.quota(name), "the quota is there")
    wait_for(lambda: cluster.ready(name).get("status") == "True", "the team space is ready")
    cluster.patch_quota(name, {"pods": "99"})
    wait_for(lambda: cluster.hard(name)["pods"] == "4", "the quota is repaired")
    cluster.delete_team(name)
    wait_for(lambda: cluster.team(name) is None, "the finalizer is off")
    assert cluster.archived(f"{name}.json")["name"] == name
    result = end(loop)
    assert result.code == 0
    assert said(rf"^\+ Namespace/team-{name} ", result.lines)
    assert said(rf"^~ ResourceQuota/team-{name}/team-quota +pods 99 -> 4: was changed by ", result.lines)
    assert said(r"^1 team space: 1 deleted; ", result.lines)


def test_a_loop_with_nothing_to_do_writes_nothing_and_says_nothing(cluster):
    cluster.converged_team()
    mark = cluster.mark()
    with cluster.started("reconcile", FAST) as loop:
        wait_for(lambda: len(cluster.requests(mark)) >= 30, "ten passes")
        result = end(loop)
    assert (result.code, result.stdout, result.stderr, result.writes) == (0, "", "", [])


def test_a_refusal_is_a_line_when_it_begins_and_a_line_when_it_is_over(cluster, loop):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    wait_for(lambda: cluster.ready(name).get("reason") == "NamespaceConflict", "the condition says so")
    mark = cluster.mark()
    wait_for(lambda: len(cluster.requests(mark)) >= 15, "five more passes")
    cluster.patch_namespace(name, {"metadata": {"labels": {"platform.labhub.io/teamspace": name}}})
    wait_for(lambda: cluster.ready(name).get("status") == "True", "the namespace is taken over")
    wait_for(lambda: said("over after", spoken(loop)), "it is told")
    result = end(loop)
    assert len(said(r"^! TeamSpace/", result.lines)) == 1
    over, = said("over after", result.lines)
    assert re.fullmatch(rf"cnpa-op: over after \d+ passes in .*: TeamSpace/{name}: NamespaceConflict", over)
    assert len(said("team spaces?:", result.lines)) == 1, "a sum only where something was done"


def test_a_server_that_is_away_is_told_once_and_asked_less_and_less_often(cluster):
    cluster.converged_team()
    server = cluster.plane.component("kube-apiserver")
    with cluster.started("reconcile", FAST, "-v") as loop:
        wait_for(lambda: said("-> 200", spoken(loop)), "a pass")
        server.kill()
        try:
            time.sleep(6)
        finally:
            server.start()
        wait_for(lambda: said("over after", spoken(loop)), "it is told that it is over", 90)
        result = end(loop)
    away = said(r"^cnpa-op: cannot reach https://", result.lines)
    assert len(away) == 1, result.stderr
    over, = said("over after", result.lines)
    passes = int(re.search(r"over after (\d+) passes", over)[1])
    # 200 ms, 400 ms, ... 6.4 s: without the stretching there would be thirty.
    assert 3 <= passes <= 9, over


def test_on_a_terminal_it_says_what_it_does_and_when(cluster):
    name = cluster.converged_team()
    main, terminal = os.openpty()
    process = subprocess.Popen([BINARY, *map(str, cluster.arguments("reconcile", FAST, "--color=never"))],
                               env=environment(cluster.home), stdin=subprocess.DEVNULL, stderr=terminal)
    os.close(terminal)
    text = bytearray()

    def lines():
        if select.select([main], [], [], 0)[0]:
            text.extend(os.read(main, 65536))
        return text.decode().splitlines()
    try:
        wait_for(lambda: said("a pass .*every", lines()), "it says what it does")
        cluster.patch_quota(name, {"pods": "99"})
        wait_for(lambda: said("^.*1 team space: 1 changed", lines()), "it says what it did")
    finally:
        process.terminate()
        code = process.wait(10)
        os.close(main)
    first, *others = text.decode().splitlines()
    clock = "[0-2][0-9]:[0-5][0-9]:[0-6][0-9] "
    assert re.fullmatch(clock + r'cnpa-op: https://[^ ]+ \(context "[^"]+", [^ ]+\): 1 team space in sync; '
                        "a pass (as soon as there is something to do, or )?every [0-9.]+ m?s", first)
    assert re.match(clock + f"~ ResourceQuota/team-{name}/team-quota +pods 99 -> 4: ", others[0])
    assert all(re.match(clock, line) for line in others) and not said("a pass .*every", others)
    assert code == 0


@pytest.mark.parametrize("flag, number, code", [
    (FAST, signal.SIGTERM, 0),
    (FAST, signal.SIGINT, 0),
    ("--once", signal.SIGTERM, -signal.SIGTERM),
    ("--once", signal.SIGHUP, -signal.SIGHUP),
], ids=["loop-SIGTERM", "loop-SIGINT", "once-SIGTERM", "once-SIGHUP"])
def test_a_signal_in_the_midst_of_its_start_ends_a_loop_with_0_and_a_pass_at_once(cluster, flag, number, code):
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    # More warnings than the pipe takes: it gets no further until they are read.
    ignored = {f"CNPA_OP_{'X' * 60}{i}": "1" for i in range(100)}
    process = subprocess.Popen([BINARY, *map(str, cluster.arguments("reconcile", flag))],
                               env=environment(cluster.home, ignored), stdin=subprocess.DEVNULL, stderr=writer)
    os.close(writer)
    try:
        assert os.read(reader, 1) == b"c"
        process.send_signal(number)
        while os.read(reader, 65536):
            pass
        assert process.wait(10) == code
    finally:
        process.kill()
        process.wait()
        os.close(reader)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_within_five_seconds_in_the_midst_of_its_writes_and_the_next_pass_goes_on(cluster, number):
    teams = cluster.create_teams([cluster.new_name() for _ in range(60)])
    with cluster.started("reconcile", FAST, "--concurrency=1") as loop:
        loop.wait_for_writes(10)
        began = time.monotonic()
        result = end(loop, number)
    assert time.monotonic() - began < 5
    assert result.code == 0
    assert said(r"^60 team spaces: .* left for the next pass; ", result.lines)
    cluster.converge()
    assert all(cluster.ready(name).get("status") == "True" for name in teams)


def test_nothing_is_left_of_it_when_the_supervisor_is_killed(cluster):
    cluster.create_teams([cluster.new_name() for _ in range(60)])
    with cluster.started("reconcile", FAST, "--concurrency=1") as loop:
        loop.wait_for_writes(5)
        child, = children(loop.process.pid)
        loop.kill()
    wait_for(lambda: not Path(f"/proc/{child}").exists(), "the pass has gone with it", 30)


def test_a_pass_that_is_killed_is_named_and_the_next_one_goes_on(cluster):
    teams = cluster.create_teams([cluster.new_name() for _ in range(60)])
    with cluster.started("reconcile", FAST, "--concurrency=1") as loop:
        loop.wait_for_writes(5)
        child, = children(loop.process.pid)
        assert Path(f"/proc/{child}/comm").read_text() == "cnpa-op-pass\n"
        assert Path(f"/proc/{child}/cmdline").read_bytes().rstrip(b"\0") == b"cnpa-op-pass"
        os.kill(child, signal.SIGKILL)
        wait_for(lambda: all(cluster.ready(name).get("status") == "True" for name in teams), "all are ready", 60)
        wait_for(lambda: said("over after 1 pass", spoken(loop)), "it is told that it is over")
        result = end(loop)
    assert said("^cnpa-op: a pass was ended by SIGKILL$", result.lines)


def test_a_pass_that_hangs_is_killed_and_named(cluster):
    cluster.converged_team()
    with cluster.started("reconcile", FAST, "--timeout=1s") as loop:
        wait_for(lambda: children(loop.process.pid), "a pass", pause=0.001)
        for child in children(loop.process.pid):
            os.kill(child, signal.SIGSTOP)
        wait_for(lambda: said("a pass did not end within 11 s: killed", spoken(loop)), "it is told", 60)
        wait_for(lambda: said("over after 1 pass", spoken(loop)), "the next pass was fine")
        assert end(loop).code == 0


def test_its_configuration_is_read_anew_and_a_broken_one_is_named_and_not_taken(cluster):
    config = cluster.home / "config.yaml"
    config.write_text("interval: 1h\n")
    with cluster.started("reconcile", "--config", config) as loop:
        name = cluster.create_team()
        wait_for(lambda: cluster.ready(name), "the first pass")
        config.write_text("interval: 1h\nintervall: 3s\n")
        other = cluster.create_team()
        loop.signal(signal.SIGHUP)
        wait_for(lambda: cluster.ready(other), "a pass at once")
        wait_for(lambda: said(rf"^cnpa-op: {config}:2: unknown key 'intervall': did you mean 'interval'\?: "
                              "the configuration stays as it was$", spoken(loop)), "it is named")
        config.write_text("interval: 200ms\n")
        loop.signal(signal.SIGHUP)
        wait_for(lambda: said("^cnpa-op: configuration read anew; a pass follows$", spoken(loop)), "it is taken")
        mark = cluster.mark()
        wait_for(lambda: len(cluster.requests(mark)) >= 9, "passes at the new interval")
        assert end(loop).code == 0


def test_it_says_how_it_is_when_asked(cluster, loop):
    mark = cluster.mark()
    wait_for(lambda: len(cluster.requests(mark)) >= 9, "three passes")
    loop.signal(signal.SIGUSR1)
    wait_for(lambda: said(r"^cnpa-op: \d+ passes in .*, the last one .* ago, of .*: 0 team spaces in sync; "
                          r"(the next one in|a pass has been running for) .*; 0 problems now$", spoken(loop)), "it says")


def test_two_loops_side_by_side_leave_each_other_in_peace(cluster, loop):
    teams = [cluster.create_team() for _ in range(5)]
    with cluster.started("reconcile", FAST) as other:
        wait_for(lambda: all(cluster.ready(name).get("status") == "True" for name in teams), "all are ready")
        for name in teams:
            cluster.patch_quota(name, {"pods": "99"})
        wait_for(lambda: all(cluster.hard(name)["pods"] == "4" for name in teams), "all are repaired")
        time.sleep(1)
        mark = cluster.mark()
        wait_for(lambda: len(cluster.requests(mark)) >= 30, "ten passes")
        assert cluster.writes(mark) == []
        result = end(other)
    assert result.code == 0 and not said("^!|error|warning", result.lines), result.stderr


def test_what_is_wrong_at_the_start_ends_it_with_2(cluster):
    missing = cluster.run("reconcile", kubeconfig="/nowhere/config")
    assert missing.code == 2
    assert missing.only_line == "cnpa-op: kubeconfig: cannot read '/nowhere/config': no such file or directory"
    assert cluster.run("reconcile", "--interval=99ms").only_line == "cnpa-op: --interval: '99ms' is shorter than 100ms"
    assert cluster.run("reconcile", "-o", "json").code == 2


def test_a_kubeconfig_that_goes_later_is_told_once_and_does_not_end_it(cluster):
    kubeconfig = cluster.home / "kubeconfig"
    text = Path(cluster.plane.user_kubeconfig).read_text()
    kubeconfig.write_text(text)
    with cluster.started("reconcile", FAST, kubeconfig=kubeconfig) as loop:
        name = cluster.create_team()
        wait_for(lambda: cluster.ready(name), "a pass")
        kubeconfig.unlink()
        wait_for(lambda: said("no such file", spoken(loop)), "it is told")
        time.sleep(1.5)
        kubeconfig.write_text(text)
        wait_for(lambda: said("over after", spoken(loop)), "it is over", 60)
        result = end(loop)
    assert result.code == 0 and len(said("no such file", result.lines)) == 2, "one where it is over"


def test_a_kubeconfig_that_systemd_loaded_is_refused_with_paths_that_lead_nowhere(cluster, tmp_path):
    folder = tmp_path / "credentials"
    folder.mkdir()
    text = Path(cluster.plane.user_kubeconfig).read_text()
    (folder / "kubeconfig").write_text(re.sub(r'("?client-key)-data("?: *)("?)[^,}"\s]+("?)', r"\1\2\3client.key\4", text))
    result = run_binary(["reconcile", "--once"], cluster.home, env={"CREDENTIALS_DIRECTORY": folder})
    assert result.code == 2
    assert re.search(r"client-key: 'client.key' is relative to where the kubeconfig came from, .*"
                     r"kubectl config view --raw --flatten", result.only_line)
    (folder / "kubeconfig").write_text(text)
    assert run_binary(["reconcile", "--once"], cluster.home, env={"CREDENTIALS_DIRECTORY": folder}).code == 0


def test_a_service_manager_is_told_when_it_is_ready_and_how_it_is(cluster, tmp_path):
    cluster.converged_team()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + str(tmp_path / "notify"))
        manager.settimeout(20)
        process = subprocess.Popen([BINARY, *map(str, cluster.arguments("reconcile", FAST))],
                                   env=environment(cluster.home, {"NOTIFY_SOCKET": "@" + str(tmp_path / "notify"),
                                                                  "WATCHDOG_USEC": "900000"}))
        try:
            told = []
            while told.count("WATCHDOG=1") < 2 or len(told) < 6:
                told.append(manager.recv(4096).decode())
        finally:
            process.terminate()
            process.wait(10)
    assert told[0].startswith("EXTEND_TIMEOUT_USEC=")
    assert [line for line in told if line.startswith("READY=1")] == ["READY=1\nSTATUS=the first pass is at work"]
    assert "STATUS=1 team space in sync" in told


def test_it_takes_little_memory_and_no_more_the_longer_it_runs(cluster, loop):
    cluster.create_teams([cluster.new_name() for _ in range(100)])
    wait_for(lambda: said("^100 team spaces: ", spoken(loop)), "all are made", 60)
    before = private_kilobytes(loop.process.pid, "Dirty")
    mark = cluster.mark()
    wait_for(lambda: len(cluster.requests(mark)) >= 60, "twenty more passes", 60)
    assert private_kilobytes(loop.process.pid, "Dirty") <= before + 64
    assert private_kilobytes(loop.process.pid) < 4096
    assert len(list(Path(f"/proc/{loop.process.pid}/fd").iterdir())) <= 6
    assert cluster.api("GET", TEAMS)["items"]
