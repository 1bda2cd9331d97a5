# SPDX-License-Identifier: Apache-2.0
"""Targets run side by side, each after what it needs; what fails is shown, and the rest still runs."""

import re
import subprocess
from pathlib import Path

STEPS = Path(__file__).resolve().with_name("steps")
MAKEFILE = """
slow:
\t@sleep 0.3; echo slow >> order
quick:
\t@echo quick >> order
behind:
\t@echo behind >> order
broken:
\t@echo this is why; false
"""


def run(folder, *words):
    (folder / "Makefile").write_text(MAKEFILE)
    done = subprocess.run([STEPS, "--logs", "logs", *words], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=60, check=False)
    order = folder / "order"
    return done.returncode, done.stdout, order.read_text().split() if order.exists() else []


def test_what_needs_a_target_waits_for_it_and_the_others_do_not(tmp_path):
    code, said, order = run(tmp_path, "--jobs", "2", "slow", "behind:slow", "quick")
    assert (code, order) == (0, ["quick", "slow", "behind"])
    assert re.search(r"^slow +passed +\d+ s$", said, re.M)


def test_no_more_than_asked_for_run_at_once(tmp_path):
    code, _, order = run(tmp_path, "--jobs", "1", "slow", "quick")
    assert (code, order) == (0, ["slow", "quick"])


def test_what_fails_is_shown_and_what_needs_it_is_skipped(tmp_path):
    code, said, order = run(tmp_path, "--jobs", "1", "broken", "behind:broken", "quick")
    assert (code, order) == (1, ["quick"])
    assert "    this is why" in said
    assert re.search(r"^broken +FAILED", said, re.M) and re.search(r"^behind +skipped", said, re.M)


def test_a_need_that_is_no_step_is_refused(tmp_path):
    code, said, order = run(tmp_path, "behind:nothing")
    assert (code, order) == (2, [])
    assert "needed but not among the steps: nothing" in said
