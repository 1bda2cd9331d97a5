# SPDX-License-Identifier: Apache-2.0
"""Passes: what a quiet one costs, and one that converges team spaces which are all new, beside the peers'."""

import re
import time
from dataclasses import dataclass

import metering
import programs
from figures import OURS, figure
from metering import Spending

LONG = "--timeout=30m"  # a benchmark that is cut short tells nothing


@dataclass(frozen=True)
class Extent:
    """How much is measured: rounds of passes, runs of kubectl, and passes in the batch for the API server's CPU."""

    rounds: int
    kubectl_runs: int
    batch: int


def quiet_passes(rig, extent):
    """Returns the figures of a pass over what is converged. cnpa-op and curl take turns, so that what else goes on
    meets both."""
    commands = {OURS: programs.ours(rig)}
    if not programs.lacks("curl"):
        commands["curl"] = programs.curl(rig)
    samples = {program: [] for program in commands}
    for command in commands.values():
        metering.run(command, rig.environment)  # the first fills caches
    for _ in range(extent.rounds):
        for program, command in commands.items():
            samples[program].append(metering.run(command, rig.environment))
    for program, command in (("kubectl-lists", programs.kubectl_lists), ("kubectl-one", programs.kubectl_one)):
        samples[program] = [metering.run(command(rig), rig.environment) for _ in range(extent.kubectl_runs)]
    figures = [each for program, runs in samples.items() for each in of_samples("pass", program, rig, runs)]
    for program, command in commands.items():
        spent = server_cpu(rig, command, extent.batch)
        figures.append(figure("pass.server_cpu", program, rig.team_spaces, [spent]))
    return figures + received(rig)


def of_samples(prefix, program, rig, samples, **more):
    """Returns the figures wall, cpu and memory of some runs."""
    columns = {"wall": "wall_seconds", "cpu": "cpu_seconds", "memory": "peak_bytes"}
    return [figure(f"{prefix}.{kind}", program, rig.team_spaces, [getattr(each, column) for each in samples], **more)
            for kind, column in columns.items()]


def server_cpu(rig, command, count):
    """Returns what the API server spends on one run of `command`, by a batch: the kernel counts in hundredths."""
    spending = Spending(rig.server_pid(), rig.settle())
    for _ in range(count):
        metering.run(command, rig.environment)
    return spending.seconds() / count


def received(rig):
    """Returns the figures of the bytes that cnpa-op and curl say they got."""
    said = metering.run(programs.ours(rig, "--verbose"), rig.environment).stderr
    figures = [figure("pass.bytes", OURS, rig.team_spaces, [sum(map(int, re.findall(r", (\d+) bytes, ", said)))])]
    if not programs.lacks("curl"):
        command = programs.curl(rig, "--write-out", "%{size_download}\n")
        sizes = metering.run(command, rig.environment, keep_output=True).stdout
        figures.append(figure("pass.bytes", "curl", rig.team_spaces, [sum(map(int, sizes.split()))]))
    return figures


def converge(rig, **more):
    """Returns the figures of one pass of cnpa-op over team spaces that are all new. `more` are labels of a curve, such
    as the concurrency, which is also the pass's."""
    metrics = rig.plane.folder / "metrics.prom"
    metrics.unlink(missing_ok=True)
    flags = [f"--concurrency={more['concurrency']}"] if "concurrency" in more else []
    spending = Spending(rig.server_pid())
    sample = metering.run(programs.ours(rig, LONG, f"--metrics-file={metrics}", *flags), rig.environment)
    spent = spending.seconds()
    writes, reads = requests(metrics.read_text())
    one = {"converge.server_cpu": spent, "converge.writes": writes / rig.team_spaces, "converge.reads": reads}
    return of_samples("converge", OURS, rig, [sample], **more) + [
        figure(kind, OURS, rig.team_spaces, [value], **more) for kind, value in one.items()]


def requests(metrics):
    """Returns the writes and the other requests that a metrics file counts."""
    counts = {True: 0, False: 0}
    for verb, count in re.findall(r'^cnpa_op_requests_total\{.*?verb="(\w+)".*?\} (\d+)$', metrics, re.M):
        counts[verb in ("create", "patch", "delete")] += int(count)
    return counts[True], counts[False]


def instructions(rig):
    """Returns the figures of the instructions that a quiet pass runs outside of the kernel, by Valgrind's count: nearly
    the same each time, however busy the machine is."""
    figures = []
    for program, command in ((OURS, programs.ours(rig, LONG)), ("curl", programs.curl(rig))):
        if not programs.lacks(str(command[0])):
            valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *command]
            said = metering.run(valgrind, rig.environment).stderr
            count = int(re.search(r"Collected : (\d+)", said)[1])
            figures.append(figure("pass.instructions", program, rig.team_spaces, [count]))
    return figures


def script_passes(rig, runs):
    """Returns the figures of the script's quiet pass, and cnpa-op's beside it."""
    metering.run(programs.script(rig), rig.environment)  # kubectl apply puts its annotation on what it did not make
    figures = []
    for program, command, count in ((OURS, programs.ours(rig), 5), ("script", programs.script(rig), runs)):
        samples = [metering.run(command, rig.environment) for _ in range(count)]
        figures += of_samples("pass", program, rig, samples)
    return figures


def wait_until_ready(rig, wire, seconds=1200):
    """Waits until all TeamSpaces are Ready. Errors: MeasureError."""
    deadline = time.monotonic() + seconds
    while rig.ready(wire) < rig.team_spaces:
        if time.monotonic() > deadline:
            raise metering.MeasureError(f"not all of {rig.team_spaces} TeamSpaces were Ready after {seconds} s")
        time.sleep(0.1 if rig.team_spaces <= 1000 else 1)
