# SPDX-License-Identifier: Apache-2.0
"""A machine with a systemd of its own, for tests: systemd-nspawn over a copy of this machine's root.

    with Machine() as machine:
        machine.write_file("/etc/systemd/system/x.service", "[Service]\\nExecStart=sleep 1h\\n")
        machine.systemctl("start", "x")

It boots in half a second. Its files are this machine's, and all that it changes is in memory; its network is this
machine's, so what listens on 127.0.0.1 is reached. Nothing is left when the tests are killed: all its processes are in
a process namespace that the kernel ends together with the test process. It needs root, and the package
systemd-container.
"""

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "cluster"))

from keeper import die_with_parent  # noqa: E402  (the path has to be set first)

BOOT_SECONDS = 60
CGROUP_PREFIX = "cnpa-op-machine-"
PROGRAMS = ("systemd-nspawn", "unshare", "nsenter", "mount")
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
               "SYSTEMD_PAGER": "cat", "SYSTEMD_COLORS": "0", "HOME": "/root"}


class MachineError(RuntimeError):
    """The machine does not boot, or a command in it fails."""


class Unsupported(RuntimeError):
    """No machine can be booted here; the message says why."""


def cgroup_roots():
    """Returns the mount points of the cgroup hierarchies that a systemd needs: version 2, and name=systemd."""
    roots = []
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        if kind == "cgroup2" or (kind == "cgroup" and "name=systemd" in options.split(" ")[-1].split(",")):
            roots.append(Path(left.split(" ")[4]))
    return roots


def remove_cgroup(folder):
    """Removes a cgroup and those in it, as far as they are empty."""
    for path, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(path)


def remove_leftovers():
    """Removes the cgroups of test processes that were killed: they are empty folders."""
    for root in cgroup_roots():
        for folder in root.glob(CGROUP_PREFIX + "*"):
            owner = folder.name.removeprefix(CGROUP_PREFIX).partition("-")[0]
            if not Path("/proc", owner).exists():
                remove_cgroup(folder)


class Machine:
    """A machine that runs from `start` to `stop`, or for the length of a `with`."""

    def __init__(self):
        self._process = None
        self._console = None
        self._console_start = 0  # where the present boot begins on it
        self._cgroups = []

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *failure):
        self.stop()

    # -- its life --------------------------------------------------------------------------------------------------

    def start(self):
        """Boots it and returns when it is up. Errors: Unsupported, MachineError."""
        if os.geteuid() != 0:
            raise Unsupported("a machine is booted by root only")
        missing = [program for program in PROGRAMS if not shutil.which(program)]
        if missing:
            raise Unsupported(f"no {', '.join(missing)}: install the packages systemd-container and util-linux")
        remove_leftovers()
        name = f"{CGROUP_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self._cgroups = [root / name for root in cgroup_roots()]
        self._console = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", HERE / "boot", *self._cgroups],
            stdin=subprocess.PIPE, stdout=self._console, stderr=subprocess.STDOUT, start_new_session=True,
            preexec_fn=die_with_parent(), text=True)
        try:
            self._wait_until_up()
        except MachineError as error:
            booted = "Detected virtualization" in self.console() or "systemd[" in self.console()
            self.stop()
            if booted:
                raise
            raise Unsupported(f"systemd-nspawn does not run here: {error}") from error
        except BaseException:
            self.stop()
            raise

    def stop(self):
        """Ends it at once, without a shutdown."""
        process, self._process = self._process, None
        if process:
            process.kill()
            process.wait()
            process.stdin.close()
            self._console.close()
        for folder in self._cgroups:
            deadline = time.monotonic() + 5
            while folder.exists() and time.monotonic() < deadline:
                remove_cgroup(folder)
                time.sleep(0.01)

    def reboot(self):
        """Shuts it down, starts it again and returns when it is up."""
        before = self.leader
        self.systemctl("reboot", "--no-block", check=False)
        self._wait_for(lambda: self._find_leader() not in (None, before), "the reboot")
        self._wait_until_up()

    def power_off(self):
        """Shuts it down and returns when it is off; `power_on` starts it again. Its files can still be read."""
        self.systemctl("poweroff", "--no-block", check=False)
        self._wait_for(lambda: "off, with code" in self.console(), "power off")

    def power_on(self):
        self._console_start = os.fstat(self._console.fileno()).st_size
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self._wait_until_up()

    def console(self):
        """Returns what it wrote on its console since it was switched on."""
        return os.pread(self._console.fileno(), 1 << 20, self._console_start).decode(errors="replace")

    @property
    def leader(self):
        """The process id of its systemd, as seen from here."""
        leader = self._find_leader()
        if leader is None:
            raise MachineError("the machine is off")
        return leader

    # -- what happens in it ----------------------------------------------------------------------------------------

    def run(self, *command, check=True, input=None, timeout=60, environment=None, text=True):
        """Runs a command in it as root, outside of any unit, and returns the CompletedProcess; its output is text.

        Errors: MachineError when it fails and `check`; subprocess.TimeoutExpired.
        """
        stdin = {"stdin": subprocess.DEVNULL} if input is None else {"input": input}
        done = subprocess.run(["nsenter", "--target", str(self.leader), "--all", "--", *map(str, command)],
                              env=ENVIRONMENT if environment is None else environment, capture_output=True, text=text,
                              timeout=timeout, **stdin)
        if check and done.returncode != 0:
            raise MachineError(f"{' '.join(map(str, command))}: {done.returncode}: {done.stdout}{done.stderr}")
        return done

    def systemctl(self, *arguments, **options):
        return self.run("systemctl", *arguments, **options)

    def is_active(self, unit):
        """Returns what `systemctl is-active` prints."""
        return self.systemctl("is-active", unit, check=False).stdout.strip()

    def show(self, unit, name):
        """Returns a property of a unit."""
        return self.systemctl("show", "--value", "--property", name, unit).stdout.strip()

    def main_pid(self, unit):
        """Returns the process id of a unit's main process, as the machine numbers it; 0 if there is none."""
        return int(self.show(unit, "MainPID"))

    def outer_pids(self, unit):
        """Returns the process ids, as seen from here, of all processes of a unit, by their process id in there."""
        group = self.show(unit, "ControlGroup")
        listed = self.run("cat", f"/sys/fs/cgroup{group}/cgroup.procs", check=False).stdout.split()
        return {int(pid): self.outer_pid(pid) for pid in listed}

    def cursor(self):
        """Returns the present end of its journal, for `journal`."""
        self.run("journalctl", "--sync")
        lines = self.run("journalctl", "-n", "0", "--show-cursor", "--quiet").stdout
        return lines.rpartition("-- cursor: ")[2].strip()

    def journal(self, unit=None, since=None, *filters):
        """Returns the journal's entries of a unit, or of all, after a cursor; each is a dict of texts."""
        self.run("journalctl", "--sync")
        options = ["--unit", unit] if unit else []
        # Not --after-cursor: it leaves out the first entry where that of the cursor is none of those asked for.
        options += ["--cursor", since] if since else []
        lines = self.run("journalctl", "--output=json", "--all", "--quiet", *options, *filters).stdout.splitlines()
        return [entry for entry in map(json.loads, lines) if entry["__CURSOR"] != since]

    # -- files -----------------------------------------------------------------------------------------------------

    def path(self, path):
        """Returns where a file of it is found from here. Absolute symbolic links on the way lead to this machine."""
        return Path(f"/proc/{self.leader}/root/{str(path).lstrip('/')}")

    def upper(self, path=""):
        """Returns where a file that it has written is found from here, also while it is off."""
        return Path(f"/proc/{self._first_pid()}/root/run/machine/upper", str(path).lstrip("/"))

    def write_file(self, path, content, mode=0o644):
        """Writes a file, by root, and the folders on the way; `content` is text or bytes."""
        target = self.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        scratch = target.with_name(f".{target.name}.new")
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)
            file.write(content.encode() if isinstance(content, str) else content)
        os.rename(scratch, target)

    def remove_file(self, path):
        self.path(path).unlink(missing_ok=True)

    def read_file(self, path):
        """Returns a file's text."""
        return self.run("cat", path).stdout

    # ----------------------------------------------------------------------------------------------------------------

    def _first_pid(self):
        """Returns the process id of boot, which is the first process of the namespace."""
        return self._children(self._process.pid)[0]

    def _find_leader(self):
        """Returns the process id of its systemd, or None."""
        for child in self._children(self._process.pid):
            for nspawn in self._children(child):
                for leader in self._children(nspawn):
                    with contextlib.suppress(OSError):
                        if os.path.basename(os.readlink(f"/proc/{leader}/exe")) == "systemd":
                            return leader
        return None

    @staticmethod
    def _children(pid):
        children = []
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{pid}/task").iterdir():
                children += [int(child) for child in (task / "children").read_text().split()]
        return children

    def outer_pid(self, pid):
        """Returns the process id, as seen from here, of process `pid` in there; None if there is no such process."""
        namespace = os.readlink(f"/proc/{self.leader}/ns/pid")
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(process / "ns" / "pid") != namespace:
                    continue
                status = (process / "status").read_text()
                numbers = next(line for line in status.splitlines() if line.startswith("NSpid:")).split()
                if numbers[-1] == str(pid):
                    return int(process.name)
        return None

    def _wait_until_up(self):
        def up():
            if self._find_leader() is None:
                return False
            state = self.run("systemctl", "is-system-running", check=False)
            return state.stdout.strip() in ("running", "degraded")

        self._wait_for(up, "the machine to be up")

    def _wait_for(self, condition, what):
        deadline = time.monotonic() + BOOT_SECONDS
        while not condition():
            if self._process.poll() is not None or "off, with code" in self.console() and what.endswith("up"):
                raise MachineError(f"it ended; its console:\n{self.console()[-2000:]}")
            if time.monotonic() > deadline:
                raise MachineError(f"waited {BOOT_SECONDS} s for {what}; its console:\n{self.console()[-2000:]}")
            time.sleep(0.02)
