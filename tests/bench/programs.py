# SPDX-License-Identifier: Apache-2.0
"""The programs that are measured, as command lines: cnpa-op's pass, and its peers'."""

import shutil
from pathlib import Path

from harness import BINARY
from teams import LISTS

HERE = Path(__file__).resolve().parent


def ours(stage, *flags):
    """One pass of cnpa-op."""
    return [BINARY, "reconcile", "--once", "--kubeconfig", stage.kubeconfig, "--archive", stage.archive, *flags]


def loop(stage, interval="3s"):
    """cnpa-op's loop."""
    return [BINARY, "reconcile", "--interval", interval, "--kubeconfig", stage.kubeconfig, "--archive", stage.archive]


def curl(stage, *options):
    """One curl process that fetches what a pass reads, side by side, with the same certificate, and throws it away.

    By another name than its own: to that the API server sends indented JSON, twice the bytes.
    """
    command = ["curl", "--disable", "--silent", "--show-error", "--fail", "--parallel", "--parallel-immediate",
               "--http1.1", "--user-agent", "cnpa-op-bench", "--header", "Accept: application/json",
               "--cacert", stage.plane.authority.certificate,
               "--cert", stage.user.certificate, "--key", stage.user.key, *options]
    for path in LISTS:
        command += ["--output", "/dev/null", stage.plane.server + path]
    return command


def kubectl_lists(stage):
    """One kubectl that reads the same objects, as a script would."""
    return [stage.plane.bin_folder / "kubectl", "get", "teamspaces,namespaces,resourcequotas", "--all-namespaces",
            "--output", "json"]


def kubectl_one(stage):
    """The least that kubectl can do."""
    return [stage.plane.bin_folder / "kubectl", "get", "namespace", "default"]


def script(stage):
    """The contract as a script of bash, kubectl and jq."""
    return ["bash", HERE / "script", stage.archive]


def lacks(*programs):
    """Returns the programs that this machine does not have."""
    return [program for program in programs if not shutil.which(program)]
