# SPDX-License-Identifier: Apache-2.0
"""examples/workflow.yaml: its steps are run as GitHub's runner runs them, against the real control plane."""

import hashlib
import os
import re
import subprocess
import sys
import tarfile

import pytest
import yaml

from harness import BINARY, REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tests" / "cluster"))

import binaries  # noqa: E402  (the path has to be set first)

WORKFLOW = REPOSITORY / "examples" / "workflow.yaml"


class Runner:
    """What a job of a runner keeps from step to step; `values` are those of `${{ ... }}`, by their names."""

    def __init__(self, folder, values):
        self.temp, self.workspace = folder / "temp", folder / "workspace"
        self.summary, self.path_file = folder / "summary", folder / "path"
        for made in (self.temp, self.workspace):
            made.mkdir()
        for made in (self.summary, self.path_file):
            made.touch()
        self.values = values
        job, = yaml.safe_load(WORKFLOW.read_text())["jobs"].values()
        assert job["defaults"]["run"]["shell"] == "bash"
        self.steps = {step["name"]: step for step in job["steps"]}

    def run(self, name):
        """Runs a step and returns what subprocess.run() does.

        Source: GitHub's documentation, "Workflow syntax": the command line for `shell: bash`; $GITHUB_PATH.
        """
        step = self.steps[name]
        variables = {key: re.sub(r"\$\{\{ (\S+) \}\}", lambda found: self.values[found[1]], text)
                     for key, text in step["env"].items()}
        path = os.pathsep.join([*reversed(self.path_file.read_text().split()), os.environ["PATH"]])
        script = self.temp / "step.sh"
        script.write_text(step["run"])
        return subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script], cwd=self.workspace,
                              env={"PATH": path, "HOME": str(self.workspace), "RUNNER_TEMP": str(self.temp),
                                   "GITHUB_PATH": str(self.path_file), "GITHUB_STEP_SUMMARY": str(self.summary),
                                   **variables}, capture_output=True, text=True)


@pytest.fixture
def runner(cluster, tmp_path):
    tarball = tmp_path / "kept.tar.gz"
    with tarfile.open(tarball, "w:gz") as packed:
        packed.add(BINARY, "cnpa-op-1.2.3/bin/cnpa-op")
    return Runner(tmp_path, {"vars.CNPA_OP_TARBALL": tarball.as_uri(),
                             "vars.CNPA_OP_SHA256": hashlib.sha256(tarball.read_bytes()).hexdigest(),
                             "secrets.CNPA_OP_KUBECONFIG": cluster.plane.user_kubeconfig.read_text()})


@pytest.fixture
def look(runner):
    """A function that looks at the cluster, and returns the code and what the run's page shows."""
    assert runner.run("Fetch cnpa-op").returncode == 0

    tokens = []

    def look():
        done = runner.run("Look at the cluster")
        shown = runner.summary.read_text()
        assert done.stderr == ""
        # Whatever a server has said, the runner takes none of it for a command.
        logged = re.fullmatch(r"::stop-commands::([0-9a-f-]{36})\n(.*)::\1::\n", done.stdout, re.DOTALL)
        assert logged and logged[1] not in tokens, done.stdout
        tokens.append(logged[1])
        assert shown == f"## Team spaces\n```\n{logged[2]}```\n"
        assert "PRIVATE KEY" not in shown and "client-key-data" not in shown
        assert not (runner.temp / "kubeconfig").exists()
        return done.returncode, shown
    return look


def test_it_is_a_workflow():
    done = subprocess.run([binaries.build_checker("actionlint"), "-no-color", WORKFLOW], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_it_is_green_when_nothing_differs(cluster, look):
    cluster.converged_team()
    code, shown = look()
    assert code == 0
    assert "No differences." in shown


def test_it_is_red_and_shows_what_differs_and_writes_nothing(cluster, look):
    name = cluster.create_team()
    mark = cluster.mark()
    code, shown = look()
    assert code == 1
    assert f"TeamSpace {name} has none" in shown
    assert cluster.writes(mark) == []


def test_it_is_red_and_says_why_when_it_can_not_look(runner, look):
    gone = "https://127.0.0.1:1"
    key = "secrets.CNPA_OP_KUBECONFIG"
    runner.values[key] = re.sub(r"https://127\.0\.0\.1:\d+", gone, runner.values[key])
    code, shown = look()
    assert code == 3
    assert f"cannot reach {gone}" in shown


def test_it_does_not_run_what_is_not_what_was_kept(runner):
    runner.values["vars.CNPA_OP_SHA256"] = "0" * 64
    done = runner.run("Fetch cnpa-op")
    assert done.returncode == 1
    assert "FAILED" in done.stdout
    assert runner.path_file.read_text() == ""
