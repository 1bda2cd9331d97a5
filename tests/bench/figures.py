# SPDX-License-Identifier: Apache-2.0
"""What `make bench` measures: a list of figures, each of one kind, for one program, at one number of team spaces.

A figure is a dict:

    kind         a key of KINDS
    program      who was measured: a key of PROGRAMS: "cnpa-op", or a peer
    team_spaces  how many there were
    value        the median of the runs, in seconds, bytes or pieces
    low, high    the least and the most of them
    runs         how many they were
    concurrency, backend    of the curve only
"""

import statistics
from dataclasses import dataclass

OURS = "cnpa-op"
LINGERING = "cnpa-op-linger"
# In the order of the table's columns.
PROGRAMS = {
    OURS: "cnpa-op",
    LINGERING: "cnpa-op --linger 5m",
    "curl": "curl, the three lists",
    "kubectl-lists": "kubectl, the three lists",
    "kubectl-one": "kubectl get ns default",
    "controller-runtime": "controller-runtime",
    "script": "bash, kubectl, jq",
}


@dataclass(frozen=True)
class Kind:
    """A kind of figure in words, the unit that it is shown in, the factor from a value to that, and decimals shown."""

    words: str
    unit: str
    factor: float = 1.0
    decimals: int = 0


# In the order of the table's rows.
KINDS = {
    "pass.wall": Kind("quiet pass", "ms", 1e3, 1),
    "pass.cpu": Kind("quiet pass: its CPU", "ms", 1e3, 1),
    "pass.instructions": Kind("quiet pass: its instructions", "M", 1e-6, 1),
    "pass.memory": Kind("quiet pass: peak memory", "MiB", 1 / (1 << 20), 1),
    "pass.server_cpu": Kind("quiet pass: API server's CPU", "ms", 1e3),
    "pass.bytes": Kind("quiet pass: bytes received", "MB", 1e-6, 2),
    "converge.wall": Kind("all new: until converged", "s", 1, 2),
    "converge.cpu": Kind("all new: its CPU", "s", 1, 2),
    "converge.memory": Kind("all new: peak memory", "MiB", 1 / (1 << 20), 1),
    "converge.server_cpu": Kind("all new: API server's CPU", "s", 1, 1),
    "converge.writes": Kind("all new: writes per team space", "", 1, 2),
    "converge.reads": Kind("all new: other requests in all", ""),
    "repair.p50": Kind("hand edit until repaired, p50", "ms", 1e3),
    "repair.p99": Kind("hand edit until repaired, p99", "ms", 1e3),
    "idle.cpu": Kind("idle: CPU per minute", "ms", 1e3),
    "idle.server_cpu": Kind("idle: API server's CPU per minute, for it", "ms", 1e3),
    "idle.memory": Kind("idle: resident memory", "MiB", 1 / (1 << 20), 1),
    "micro.split": Kind("micro: split a list into items, per item", "ns", 1e9),
    "micro.team_space": Kind("micro: split and decode a TeamSpace", "ns", 1e9),
    "micro.namespace": Kind("micro: split and decode a namespace", "ns", 1e9),
    "micro.quota": Kind("micro: split and decode a quota", "ns", 1e9),
    "micro.quantity": Kind("micro: parse a quantity", "ns", 1e9),
    "micro.desired": Kind("micro: compute what is desired, per team space", "ns", 1e9),
    "micro.plan": Kind("micro: compute a plan of nothing, per team space", "ns", 1e9),
    "micro.plan_new": Kind("micro: compute a plan of all new, per team space", "ns", 1e9),
}


@dataclass(frozen=True)
class Goal:
    """What a figure of a program may be at most: so many times that of a peer, or so much in the kind's unit."""

    limit: float
    peer: str = ""
    program: str = OURS


# By kind and number of team spaces.
GOALS = {
    ("pass.wall", 10): (Goal(25), Goal(1.10, "curl"), Goal(1 / 30, "script")),
    ("pass.wall", 1000): (Goal(1.10, "curl"),),
    ("pass.wall", 10000): (Goal(1.10, "curl"),),
    ("pass.cpu", 10): (Goal(1.5, "curl"),),
    ("pass.cpu", 1000): (Goal(1.5, "curl"),),
    ("pass.cpu", 10000): (Goal(2.5, "curl"),),
    ("pass.memory", 10000): (Goal(64),),
    ("converge.wall", 1000): (Goal(1.0, "controller-runtime"),),
    ("converge.writes", 1000): (Goal(4),),
    ("repair.p50", 1000): (Goal(100, program=LINGERING),),
    ("repair.p99", 1000): (Goal(500, program=LINGERING),),
}


def figure(kind, program, team_spaces, samples, **more):
    """Returns the figure of the values `samples`; `more` may have another `value` than their median."""
    assert kind in KINDS and program in PROGRAMS
    return {"kind": kind, "program": program, "team_spaces": team_spaces, "value": statistics.median(samples),
            "low": min(samples), "high": max(samples), "runs": len(samples), **more}


def find(figures, kind, program, team_spaces):
    """Returns the figure of that kind, program and number that is no part of a curve, or None."""
    for each in figures:
        if (each["kind"], each["program"], each["team_spaces"]) == (kind, program, team_spaces):
            if "concurrency" not in each:
                return each
    return None


def on_curve(figures, kind):
    """Returns the figures of that kind that belong to a curve."""
    return [each for each in figures if each["kind"] == kind and "concurrency" in each]


def percentile(samples, share):
    """Returns the sample below or at which `share` of them are, by the nearest rank."""
    ordered = sorted(samples)
    return ordered[max(0, -(-len(ordered) * share // 100) - 1)]
