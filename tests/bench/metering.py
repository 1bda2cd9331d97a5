# SPDX-License-Identifier: Apache-2.0
"""What programs cost: one that ends by cnpa_meter (meter.cc), one that goes on by what the kernel tells of it."""

import contextlib
import json
import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from harness import BINARY
from harness import children as child_pids
from keeper import die_with_parent

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# Where what is built beside the program is: by default where the build folder of that binary has it.
BUILD = Path(os.environ.get("CNPA_OP_BENCH_BUILD", BINARY.parent)).resolve() / "tests" / "bench"
METER = BUILD / "cnpa_meter"


class MeasureError(RuntimeError):
    """A program that was to be measured failed; the message has what it said."""


@dataclass(frozen=True)
class Sample:
    """A run of a program. Of one that starts others `peak_bytes` is that of the largest of them all."""

    code: int
    wall_seconds: float
    cpu_seconds: float
    peak_bytes: int
    stdout: str
    stderr: str


def run(argv, env, *, keep_output=False, expect=0):
    """Runs a program to its end and returns its Sample; what it prints goes nowhere unless `keep_output`.

    Errors: MeasureError when it exits with another code than `expect`.
    """
    theirs, ours = os.pipe()
    with open(theirs) as report, subprocess.Popen(
            [METER, str(ours), *map(str, argv)], env=env, pass_fds=[ours], stdin=subprocess.DEVNULL, text=True,
            stdout=subprocess.PIPE if keep_output else subprocess.DEVNULL, stderr=subprocess.PIPE,
            preexec_fn=die_with_parent()) as process:
        os.close(ours)
        try:
            stdout, stderr = process.communicate()
        except BaseException:
            process.kill()  # the program dies with it
            raise
        line = report.read()
    if not line:
        raise MeasureError(f"{METER} failed: {stderr.strip()}")
    sample = Sample(**json.loads(line), stdout=stdout or "", stderr=stderr)
    if sample.code != expect:
        raise MeasureError(f"{' '.join(map(str, argv[:4]))} ... exited with {sample.code}: {stderr.strip()[-2000:]}")
    return sample


def cpu_seconds(pid, *, children=False):
    """Returns the CPU time of a process so far, in hundredths; with that of its children, ended or not, if asked."""
    def ticks(each, fields):
        stat = Path(f"/proc/{each}/stat").read_text()
        return sum(map(int, stat.rpartition(")")[2].split()[fields]))

    total = ticks(pid, slice(11, 15 if children else 13))
    for child in child_pids(pid) if children else []:
        with contextlib.suppress(OSError):  # it has ended meanwhile: its parent's count has it, from the next time on
            total += ticks(child, slice(11, 13))
    return total / TICKS_PER_SECOND


def resident_bytes(pid):
    """Returns how much memory a process and its children have now; what they share is counted once (PSS)."""
    total = 0
    for each in [pid, *child_pids(pid)]:
        with contextlib.suppress(OSError):  # a child that has ended meanwhile
            rollup = Path(f"/proc/{each}/smaps_rollup").read_text()
            total += sum(int(line.split()[1]) * 1024 for line in rollup.splitlines() if line.startswith("Pss:"))
    return total


class Spending:
    """What a process spends from now on, less what it spends without us: `background` CPUs."""

    def __init__(self, pid, background=0.0, *, children=False):
        self._pid, self._background, self._children = pid, background, children
        self._started, self._before = time.monotonic(), cpu_seconds(pid, children=children)

    def elapsed(self):
        return time.monotonic() - self._started

    def seconds(self):
        spent = cpu_seconds(self._pid, children=self._children) - self._before
        return max(0.0, spent - self._background * self.elapsed())
