# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured, as command lines: cnpa-op's pass, and its peers'."""

import shutil
from pathlib import Path

from harness import BINARY
from teams import LISTS

HERE = Path(__file__).resolve().parent


def ours(rig, *flags):
    """One pass of cnpa-op."""
    return [BINARY, "reconcile", "--once", "--kubeconfig", rig.kubeconfig, "--archive", rig.archive, *flags]


def loop(rig, *flags):
    """cnpa-op's loop."""
    return [BINARY, "reconcile", "--kubeconfig", rig.kubeconfig, "--archive", rig.archive, *flags]


def curl(rig, *options):
    """One curl process that fetches what a pass reads, side by side, with the same certificate, and throws it away.

    By another name than its own: to that the API server sends indented JSON, twice the bytes.
    """
    command = ["curl", "--disable", "--silent", "--show-error", "--fail", "--parallel", "--parallel-immediate",
               "--http1.1", "--user-agent", "cnpa-op-bench", "--header", "Accept: application/json",
               "--cacert", rig.plane.authority.certificate,
               "--cert", rig.user.certificate, "--key", rig.user.key, *options]
    for path in LISTS:
        command += ["--output", "/dev/null", rig.plane.server + path]
    return command


def kubectl_lists(rig):
    """One kubectl that reads the same objects, as a script would."""
    return [rig.plane.bin_folder / "kubectl", "get", "teamspaces,namespaces,resourcequotas", "--all-namespaces",
            "--output", "json"]


def kubectl_one(rig):
    """The least that kubectl can do."""
    return [rig.plane.bin_folder / "kubectl", "get", "namespace", "default"]


def script(rig):
    """The contract as a script of bash, kubectl and jq."""
    return ["bash", HERE / "script", rig.archive]


def lacks(*programs):
    """Returns the programs that this machine does not have."""
    return [program for program in programs if not shutil.which(program)]
