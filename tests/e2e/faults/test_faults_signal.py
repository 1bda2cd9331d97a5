# SPDX-License-Identifier: Apache-2.0
"""Passes that are told to end while the server keeps them waiting, and those whose readers have gone."""

import contextlib
import re
import signal
import threading
import time

import pytest

from harness import NAMESPACES, said, wait_for
from raw_support import GRACE, JARGON, LISTS, NEW, SPARE, answer_sanely, listed, writes_for

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
signals = pytest.mark.parametrize("number", CODES, ids=lambda number: number.name)


def stalls(stalled):
    """Never answers the requests of which `stalled(request)` is true."""
    return lambda request: request.hold() if stalled(request) else answer_sanely(request, NEW)


def is_list(request):
    return listed(request) in LISTS


def is_namespace(request):
    return request.is_write and request.path == NAMESPACES


@contextlib.contextmanager
def stalled_pass(bench, respond, stalled, *flags):
    """A pass that waits for the answer to a request of which `stalled(request)` is true."""
    with bench.started(respond, *flags) as (process, server):
        wait_for(lambda: any(map(stalled, server.requests)), "the request that stalls")
        yield process, server


def told(process, number, seconds):
    """Sends a signal and returns what the pass printed, which must end within `seconds`."""
    process.send_signal(number)
    began = time.monotonic()
    output = process.communicate(timeout=60)
    assert time.monotonic() - began < seconds, output
    return output


@signals
def test_signal_while_a_list_stalls(bench, number):
    with stalled_pass(bench, stalls(is_list), is_list) as (process, server):
        wait_for(lambda: len(server.requests) == len(LISTS), "all lists")
        stdout, stderr = told(process, number, GRACE + SPARE)
        assert len(server.requests) == len(LISTS), server.requests
    assert (process.returncode, stdout) == (CODES[number], "")
    line, = stderr.splitlines()
    assert re.search("told to end", line) and not JARGON.search(line), line


@signals
def test_signal_while_a_write_stalls(bench, number):
    with stalled_pass(bench, stalls(is_namespace), is_namespace, "--concurrency=1") as (process, server):
        before = len(server.requests)
        stdout, stderr = told(process, number, GRACE + SPARE)
        assert len(server.requests) == before, server.requests[before:]
    assert (process.returncode, stdout) == (CODES[number], "")
    assert said(r"^~ TeamSpace/alpha +finalizer .* added$", stderr), stderr  # what was done is reported
    assert said(r"^2 team spaces: .*left for the next pass; 1 writes? in ", stderr), stderr


def test_write_that_is_answered_within_the_grace_is_reported(bench):
    answer = threading.Event()

    def respond(request):
        if is_namespace(request):
            answer.wait(20)
        answer_sanely(request, NEW)

    with stalled_pass(bench, respond, is_namespace, "--concurrency=1") as (process, server):
        before = len(server.requests)
        threading.Timer(0.3, answer.set).start()
        stdout, stderr = told(process, signal.SIGTERM, GRACE + SPARE)
        assert len(server.requests) == before, server.requests[before:]
    assert process.returncode == 143
    assert said(r"^\+ Namespace/team-alpha ", stderr) and said("; 2 writes in ", stderr), stderr


@signals
def test_second_signal_ends_the_pass_at_once(bench, number):
    with stalled_pass(bench, stalls(is_list), is_list) as (process, _):
        process.send_signal(number)
        time.sleep(0.2)  # two of one kind that wait together are one
        told(process, number, GRACE / 2)
    assert process.returncode == -number


def test_second_signal_of_another_kind_ends_the_pass_at_once_too(bench):
    with stalled_pass(bench, stalls(is_list), is_list) as (process, _):
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        told(process, signal.SIGTERM, GRACE / 2)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("flags", [["--diff"], ["--once"]], ids=["diff", "once"])
def test_reader_that_has_gone_is_no_crash(bench, flags):
    with bench.started(lambda request: answer_sanely(request, NEW), *flags) as (process, _):
        process.stdout.close()
        stderr = process.stderr.read()
        assert process.wait(20) == (1 if flags == ["--diff"] else 0), stderr


def test_listener_that_has_gone_is_no_crash(bench):
    with bench.started(lambda request: answer_sanely(request, NEW)) as (process, server):
        process.stderr.close()
        assert process.wait(20) == 0
        assert len([request for request in server.requests if request.is_write]) == len(writes_for("alpha")) * 2
