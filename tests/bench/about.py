# SPDX-License-Identifier: Apache-2.0
"""When, where and with what was measured."""

import datetime
import os
import platform
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import binaries
from harness import BINARY, REPOSITORY


def first_line(*argv):
    """Returns the first line that a program prints, or "" where there is none."""
    if not shutil.which(argv[0]):
        return ""
    done = subprocess.run(argv, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    return (done.stdout.splitlines() or [""])[0].strip()


def processor():
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.M)
    return found[1] if found else platform.machine()


def describe(command):
    """Returns what a reader of the figures must know of how they came about."""
    changed = "+changes" if first_line("git", "status", "--porcelain", "--untracked-files=no") else ""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "command": shlex.join(command),
        "commit": first_line("git", "rev-parse", "--short=12", "HEAD") + changed,
        "machine": {
            "cores": len(os.sched_getaffinity(0)),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
            "processor": processor(),
            "kernel": platform.release(),
            # How busy it was before; above a few tenths the times are not to be trusted, their ratios a little.
            "load": os.getloadavg()[0],
        },
        "versions": {
            "cnpa-op": first_line(str(BINARY), "version"),
            "curl": first_line("curl", "--version"),
            "kubernetes": binaries.required(binaries.HERE / "kubernetes", "k8s.io/kubernetes"),
            "etcd": binaries.required(binaries.HERE / "etcd", "go.etcd.io/etcd/server/v3"),
            "controller-runtime": binaries.required(Path(__file__).parent / "controller-runtime",
                                                    "sigs.k8s.io/controller-runtime"),
            "bash": first_line("bash", "--version"),
            "jq": first_line("jq", "--version"),
        },
    }
