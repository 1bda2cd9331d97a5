# SPDX-License-Identifier: Apache-2.0
"""A shell in which kubectl is an administrator and cnpa-op has its own few rights, on the control plane of `cluster run`."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(REPOSITORY / "tests" / "cluster"))

from keeper import die_with_parent  # noqa: E402  (the path has to be set first)


class Untrue(Exception):
    """A step did not come out as told."""


def expect(condition, what):
    if not condition:
        raise Untrue(what)


class Stage:
    """A folder with examples/ and an archive to be, and what a shell in it finds.

    Attributes: `folder`; `environment`, the variables of the shell.
    """

    def __init__(self, folder, kubeconfig=None):
        """`kubeconfig` is what cnpa-op uses; None: the one that kubectl does."""
        self.folder = folder
        programs = folder / "bin"
        programs.mkdir()
        binary = Path(os.environ.get("CNPA_OP", REPOSITORY / "build" / "cnpa-op")).resolve()
        expect(os.access(binary, os.X_OK), f"no binary at {binary}: build it, or set CNPA_OP")
        (programs / "cnpa-op").symlink_to(binary)
        (folder / "examples").symlink_to(REPOSITORY / "examples")
        (folder / "config.yaml").write_text("archive: archive\n")
        others = {name: value for name, value in os.environ.items() if not name.startswith("CNPA_OP")}
        self.environment = others | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "CNPA_OP_CONFIG": "config.yaml",
            "RUNTIME_DIRECTORY": str(programs),
        } | ({"CNPA_OP_KUBECONFIG": kubeconfig} if kubeconfig else {})

    @classmethod
    def of_cluster_run(cls, folder):
        """Returns the stage on the control plane of `cluster run`."""
        expect("CNPA_OP_TEST_KUBECONFIG" in os.environ, "there is no control plane: run it by tests/cluster/cluster run --")
        return cls(folder, os.environ["CNPA_OP_TEST_KUBECONFIG"])

    def shell(self, command):
        """Returns the exit code of a command and all that it says."""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.folder, env=self.environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              timeout=90)
        return done.returncode, done.stdout

    def ask(self, command):
        """Returns the output of a command that is not shown."""
        code, output = self.shell(command)
        expect(code == 0, f"'{command}' failed: {output}")
        return output.strip()

    def is_there(self, what):
        return bool(self.ask(f"kubectl get {what} --ignore-not-found -o name"))

    def wait(self, condition, what, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            expect(time.monotonic() < deadline, f"not within {seconds} s: {what}")
            time.sleep(0.1)

    def wait_until_it_works(self):
        """Waits until the API and the rights that were installed are there."""
        self.ask("kubectl wait --for=condition=Established crd/teamspaces.platform.labhub.io --timeout=20s")
        self.wait(lambda: self.shell("kubectl get teamspaces")[0] == 0, "the API is served")
        self.wait(lambda: self.shell("kubectl auth can-i list teamspaces --as cnpa-op")[0] == 0, "the rights are there")


@contextlib.contextmanager
def garbage_collector(stage):
    """Runs one more garbage collector for the length of a `with`.

    The cluster's own was there before the TeamSpace API; it looks for new kinds of objects every 30 seconds only, and
    then some. Nobody wants to watch that.
    """
    program = Path(shutil.which("kubectl")).with_name("kube-controller-manager")
    flags = ["--controllers=garbage-collector-controller", "--leader-elect=false", "--secure-port=0",
             f"--kubeconfig={os.environ['KUBECONFIG']}"]
    with open(stage.folder / "garbage-collector.log", "w") as log:
        process = subprocess.Popen([program, *flags], cwd=stage.folder, stdin=subprocess.DEVNULL, stdout=log,
                                   stderr=log, preexec_fn=die_with_parent(signal.SIGKILL))
    try:
        yield
    finally:
        process.kill()
        process.wait()
