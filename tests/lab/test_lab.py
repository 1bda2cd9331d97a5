# SPDX-License-Identifier: Apache-2.0
"""The acceptance run holds, and its checker sees each lie."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
VALUES = {
    "before.json": ["uid", "namespace_exists"],
    "generation.json": ["uid", "gen_initial", "gen_after_label", "gen_after_spec", "status_via_main"],
    "reconcile.json": ["quota_uid", "namespace_owner_uid", "second_pass_rv_changed"],
    "drift.json": ["deleted_uid", "restored_uid", "restore_seconds", "edited_to", "reverted_to"],
    "cleanup.json": ["uid", "blocked_seen", "namespace_gone"],
    "catchup.json": ["generation", "observed_while_stopped", "quota_pods_while_stopped", "observed_after_start",
                     "quota_pods_after_start"],
    "report.json": ["crd_alone_created_namespace", "status_bumps_generation", "restore_seconds", "finalizer", "archived",
                    "generations_behind_while_stopped", "trigger"],
    "archive/beta.json": ["name", "uid", "pods"],
}


def check(folder):
    return subprocess.run([sys.executable, HERE / "check", folder], capture_output=True, text=True, check=False)


def lie_about(value):
    """Returns another value of the same type; of nothing, something."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 5
    if isinstance(value, str):
        return value[:-1] + ("0" if value[-1:] != "0" else "1")
    return {"observedGeneration": 7}


@pytest.fixture(scope="module")
def evidence(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lab") / "evidence"
    run = subprocess.run([sys.executable, HERE / "lab", folder], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return folder


def test_the_eight_steps_come_out_as_told(evidence):
    result = check(evidence)
    assert result.returncode == 0, result.stdout
    assert "all points hold" in result.stdout


@pytest.mark.parametrize(("file", "key"), [(file, key) for file, keys in VALUES.items() for key in keys])
def test_a_lie_is_seen(evidence, tmp_path, file, key):
    folder = tmp_path / "evidence"
    shutil.copytree(evidence, folder)
    content = json.loads((folder / file).read_text())
    content[key] = lie_about(content[key])
    (folder / file).write_text(json.dumps(content))
    result = check(folder)
    assert result.returncode == 1
    assert "LIE" in result.stdout
