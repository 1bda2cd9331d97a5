# SPDX-License-Identifier: Apache-2.0
"""The operator on controller-runtime that cnpa-op is held against: a Go module beside this file, built once."""

import hashlib

import binaries
import loops
from figures import figure
from metering import Spending
from passes import wait_until_ready
from programs import HERE

MODULE = HERE / "controller-runtime"
NAME = "controller-runtime"


def program():
    """Builds the operator if it lacks and returns its path. What it is built from is in its name.

    Errors: binaries.BuildError, also where there is no Go.
    """
    digest = hashlib.sha256()
    for path in sorted(MODULE.iterdir()):
        digest.update(path.read_bytes())
    tool = binaries.Tool(f"bench-controller-runtime-{digest.hexdigest()[:12]}", MODULE, ".", minutes=2)
    return binaries.build_all([tool]) / tool.name


def running(rig):
    return loops.running([program(), rig.archive], rig.environment)


def converge(rig):
    """Returns the figures of the operator started beside team spaces that are all new."""
    program()  # built outside of what is timed
    with rig.wire() as wire:
        before = rig.contract_writes(wire)
        server = Spending(rig.server_pid())
        with loops.running([program(), rig.archive], rig.environment) as process:
            own = Spending(process.pid)
            wait_until_ready(rig, wire)
            values = {"converge.wall": own.elapsed(), "converge.cpu": own.seconds(),
                      "converge.server_cpu": server.seconds()}
        values["converge.writes"] = (rig.contract_writes(wire) - before) / rig.team_spaces
    return [figure(kind, NAME, rig.team_spaces, [value]) for kind, value in values.items()]
