# SPDX-License-Identifier: Apache-2.0
"""The micro-benchmarks (micro_*.cc), which have names such as "plan: 1000": a kind of figure, and how many objects."""

import subprocess
import xml.etree.ElementTree

from figures import OURS
from keeper import die_with_parent
from metering import BUILD

PROGRAM = BUILD / "cnpa_benchmarks"


def add(run, samples):
    """Adds the figures of all micro-benchmarks, each per object; says so where they are not built."""
    if not PROGRAM.exists():
        run.miss("micro-benchmarks", f"{PROGRAM} is not built")
        return
    done = subprocess.run([PROGRAM, "--reporter", "xml", f"--benchmark-samples={samples}", "--benchmark-no-analysis"],
                          capture_output=True, text=True, check=True, preexec_fn=die_with_parent())
    run.add(read(done.stdout))


def read(text):
    """Returns the figures in a report of Catch2."""
    figures = []
    for result in xml.etree.ElementTree.fromstring(text).iter("BenchmarkResults"):
        name, _, count = result.get("name").partition(": ")
        mean = result.find("mean")
        each = float(mean.get("value")) / 1e9 / int(count)
        figures.append({"kind": f"micro.{name}", "program": OURS, "team_spaces": int(count), "value": each, "low": each,
                        "high": each, "runs": int(result.get("samples"))})
    return figures
