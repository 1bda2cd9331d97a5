# SPDX-License-Identifier: Apache-2.0
"""Builds the programs of the test control plane from Go modules, once per machine.

The modules etcd/, kubernetes/, kine/, promtool/ and actionlint/ beside this file name the programs as tools and pin every
version; they are the only place where a version stands. The binaries go into a cache folder whose name is made from those
versions, so another version is another folder and a present binary is never stale. kine, which only backend "sqlite"
needs, has its version in its own name: another one must not have Kubernetes built anew. So it is with the checkers, which
no control plane needs: promtool for the metrics, actionlint for the workflow.
"""

import contextlib
import fcntl
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from keeper import die_with_parent

HERE = Path(__file__).resolve().parent
OLDEST_GO = (1, 21)  # the first one that fetches a newer Go by itself
SAY_SECONDS = 30  # between two signs of life: a silent job looks dead in CI
MINUTES = {"kubectl": 1, "kube-apiserver": 7, "kube-controller-manager": 2}
BACKENDS = ("etcd", "sqlite")  # what an API server can keep its objects in; sqlite is behind kine, as in k3s
# What examples are checked with: the Go module, minutes to build, build tags. Left out by promtool's tag: how Prometheus
# finds its targets in the clouds, which is a fifth of its packages.
CHECKERS = {
    "promtool": ("github.com/prometheus/prometheus", 3, "remove_all_sd"),
    "actionlint": ("github.com/rhysd/actionlint", 1, ""),
}
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class BuildError(RuntimeError):
    """The binaries cannot be built; the message says why, with the compiler's output if there is one."""


@dataclass(frozen=True)
class Tool:
    """One program: its file name, the module that names it, its Go package, how long its build takes on 2 cores with
    the download, the linker flags and build tags that it wants, and whether it has parts in C."""

    name: str
    module: Path
    package: str
    minutes: int
    link: str = "-s -w"
    tags: str = ""
    cgo: bool = False


def required(module, path):
    """Returns the version of `path` that the go.mod in folder `module` requires, such as "1.37.2"."""
    return re.search(rf"^\s*(?:require )?{re.escape(path)} v(\S+)", (module / "go.mod").read_text(), re.M)[1]


def default_backend():
    """Returns the backend that $CNPA_OP_TEST_BACKEND names, by default "etcd". Errors: BuildError for another word."""
    backend = os.environ.get("CNPA_OP_TEST_BACKEND") or BACKENDS[0]
    if backend not in BACKENDS:
        raise BuildError(f"CNPA_OP_TEST_BACKEND is '{backend}': it can be {' or '.join(BACKENDS)}")
    return backend


def storage_program(backend):
    """Returns the file name of the program that keeps the API server's objects."""
    return "etcd" if backend == "etcd" else f"kine-{required(HERE / 'kine', 'github.com/k3s-io/kine')}"


def tools(backend):
    """Returns every Tool that a control plane on `backend` runs, the quick ones first."""
    kubernetes = HERE / "kubernetes"
    version = required(kubernetes, "k8s.io/kubernetes")
    major, minor, _ = version.split(".", 2)
    stamp = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    # The first package has what `kubectl version` prints, the second what clients send as User-Agent.
    stamped = [f"-X {package}.{name}={value}"
               for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
               for name, value in stamp.items()]
    link = " ".join(["-s -w", *stamped])
    packages = re.findall(r"^\s*(k8s\.io/kubernetes/cmd/\S+)$", (kubernetes / "go.mod").read_text(), re.M)
    if backend == "etcd":
        storage = Tool(storage_program(backend), HERE / "etcd", "go.etcd.io/etcd/server/v3", minutes=2)
    else:
        storage = Tool(storage_program(backend), HERE / "kine", "github.com/k3s-io/kine", minutes=3, cgo=True)
    named = {package.rsplit("/", 1)[1]: package for package in sorted(packages, key=len)}
    return [storage, *(Tool(name, kubernetes, package, MINUTES[name], link) for name, package in named.items())]


def checker_program(name):
    """Returns the Tool of the checker `name`, a key of CHECKERS."""
    module, (path, minutes, tags) = HERE / name, CHECKERS[name]
    return Tool(f"{name}-{required(module, path)}", module, f"{path}/cmd/{name}", minutes, tags=tags)


def cache_folder():
    """Returns the folder for everything that the test control plane keeps between runs."""
    if named := os.environ.get("CNPA_OP_CLUSTER_CACHE"):
        return Path(named).absolute()
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "cnpa-op" / "control-plane"


def folder():
    """Returns the folder of the binaries at the versions in the go.mod files, built or not."""
    etcd = required(HERE / "etcd", "go.etcd.io/etcd/server/v3")
    kubernetes = required(HERE / "kubernetes", "k8s.io/kubernetes")
    machine = ARCHITECTURES.get(platform.machine(), platform.machine())
    return cache_folder() / f"etcd-{etcd}_kubernetes-{kubernetes}_linux-{machine}"


def build(backend="etcd"):
    """Builds what a control plane on `backend` lacks and returns the folder of the binaries. Reports on stderr.

    Of two builds at once the second waits for the first. An interrupted build leaves whole binaries only, and the next
    one builds the rest.

    Errors: BuildError.
    """
    return build_all(tools(backend))


def build_checker(name):
    """Builds the checker `name`, a key of CHECKERS, if it lacks and returns its path. Otherwise as `build`."""
    tool = checker_program(name)
    return build_all([tool]) / tool.name


def build_all(wanted):
    """Builds what lacks of the tools `wanted` and returns the folder of the binaries; see `build`."""
    target = folder()
    if not absent(target, wanted):
        return target
    target.mkdir(parents=True, exist_ok=True)
    with locked(target / ".lock"):
        for leftover in target.glob("*.partial"):
            leftover.unlink()
        if todo := absent(target, wanted):
            environment = go_environment(todo)
            report(f"building {', '.join(tool.name for tool in todo)} into {target}")
            report(f"the first time this takes about {sum(tool.minutes for tool in todo)} minutes on 2 cores")
            for tool in todo:
                build_one(tool, target, environment)
    return target


def lacking(target, backend="etcd"):
    """Returns the tools of `backend` that have no binary in folder `target`."""
    return absent(target, tools(backend))


def absent(target, wanted):
    """Returns those of the tools `wanted` that have no binary in folder `target`."""
    return [tool for tool in wanted if not (target / tool.name).exists()]


def go_environment(todo):
    """Returns the environment for the go command that builds the tools `todo`.

    Errors: BuildError when there is no Go, or one that cannot fetch the version that go.mod asks for.
    """
    need = "the test control plane (and nothing else) is built with it"
    if not shutil.which("go"):
        raise BuildError(f"there is no go on the PATH; {need}: install Go {dotted(OLDEST_GO)} or newer")
    environment = os.environ | {"GOWORK": "off"}
    words = subprocess.run(["go", "version"], cwd="/", env=environment | {"GOTOOLCHAIN": "local"}, capture_output=True,
                           text=True).stdout
    found = re.search(r"\bgo(\d+)\.(\d+)", words)
    have = (int(found[1]), int(found[2])) if found else (0, 0)
    if have < OLDEST_GO:
        raise BuildError(f"go is {dotted(have)}; {need}: install Go {dotted(OLDEST_GO)} or newer")
    wanted = max(wanted_go(tool.module) for tool in todo)
    if have < wanted:
        report(f"go is {dotted(have)}: it fetches {dotted(wanted)} for this build")
        environment["GOTOOLCHAIN"] = "auto"
    return environment


def wanted_go(module):
    """Returns the Go version that the go.mod in folder `module` asks for, such as (1, 26)."""
    found = re.search(r"^go (\d+)\.(\d+)", (module / "go.mod").read_text(), re.M)
    return int(found[1]), int(found[2])


def dotted(version):
    return ".".join(map(str, version))


def build_one(tool, target, environment):
    """Builds `tool` under another name in folder `target` and renames it when it is whole.

    Errors: BuildError.
    """
    partial = target / f"{tool.name}.partial"
    command = ["go", "build", "-mod=readonly", "-buildvcs=false", "-trimpath", "-ldflags", tool.link, "-tags", tool.tags,
               "-o", partial, tool.package]
    with tempfile.TemporaryFile("w+") as output:
        # In a session of its own, so that an interrupted build can end the compilers too.
        process = subprocess.Popen(command, cwd=tool.module, env=environment | {"CGO_ENABLED": str(int(tool.cgo))},
                                   stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
                                   preexec_fn=die_with_parent())
        try:
            with Progress(f"building {tool.name}") as progress:
                while process.poll() is None:
                    progress.tick()
                    time.sleep(0.2)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode != 0:
            output.seek(0)
            raise BuildError(f"cannot build {tool.package}:\n{output.read().rstrip()}")
    with open(partial, "rb") as written:
        os.fsync(written)  # a power cut must not leave an empty file under the final name
    partial.rename(target / tool.name)
    report(f"built {tool.name} in {progress.seconds} s")


@contextlib.contextmanager
def locked(path):
    """Holds the lock file `path`; says so when it has to wait."""
    with open(path, "w") as lock, Progress("waiting for another build of the same binaries") as progress:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                progress.tick(at_once=True)
                time.sleep(0.2)
        progress.end_line()
        yield


class Progress:
    """Shows on stderr that something goes on: every 30 s a line, or one line that counts where it is a terminal."""

    def __init__(self, what):
        self.what = what
        self.started = time.monotonic()
        self.shown = None  # seconds since start at the last sign of life
        self.live = sys.stderr.isatty()

    @property
    def seconds(self):
        return int(time.monotonic() - self.started)

    def tick(self, at_once=False):
        """Shows a sign of life if one is due; the first one is due `at_once` or after the usual time."""
        seconds = self.seconds
        due = (0 if at_once else SAY_SECONDS) if self.shown is None else self.shown + SAY_SECONDS
        if self.live and seconds != self.shown:
            print(f"\r{self.what}: {seconds} s", end="", file=sys.stderr, flush=True)
        elif not self.live and seconds >= due:
            report(f"{self.what}: {seconds} s")
        else:
            return
        self.shown = seconds

    def end_line(self):
        """Erases the counting line."""
        if self.live and self.shown is not None:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.shown = None

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.end_line()


def report(line):
    print(line, file=sys.stderr, flush=True)
