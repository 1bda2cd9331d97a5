# SPDX-License-Identifier: Apache-2.0
"""The server processes of a control plane, run by a keeper process (keeper.py)."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from keeper import remove_folder

HERE = Path(__file__).resolve().parent
POLL_SECONDS = 0.02
LOG_TAIL_LINES = 25


class ControlPlaneError(RuntimeError):
    """The control plane cannot do what was asked; the message has the end of the log of the component at fault."""


class AddressInUse(ControlPlaneError):
    """A component ended since somebody else took its port first."""


class KeeperClient:
    """The owner's end of a keeper process, and the data folder that it made. Safe to use from several threads."""

    def __init__(self):
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair()
        with theirs:
            self.process = subprocess.Popen(
                [sys.executable, "-I", HERE / "keeper.py", str(os.getpid()), str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[theirs.fileno()],
                start_new_session=True, cwd="/",
            )
        self._lines = self._socket.makefile("r")
        self.folder = Path(self._receive()["folder"])

    def ask(self, do, **request):
        """Returns the keeper's answer. Errors: ControlPlaneError when it refuses, or has ended."""
        with self._lock:
            try:
                self._socket.sendall(json.dumps({"do": do, **request}).encode() + b"\n")
            except OSError as error:
                raise ControlPlaneError(f"the keeper process has ended: {error}") from error
            answer = self._receive()
        if "error" in answer:
            raise ControlPlaneError(f"cannot {do} {request.get('name', '')}: {answer['error']}")
        return answer

    def close(self):
        """Ends the components, removes the data folder and ends the keeper, in whatever state they are."""
        try:
            self.ask("close")
        except ControlPlaneError:
            pass  # it was killed, and the kernel has killed the components
        self._lines.close()
        self._socket.close()
        self.process.wait()
        remove_folder(self.folder)

    def _receive(self):
        try:
            line = self._lines.readline()
        except OSError:
            line = ""
        if not line:
            raise ControlPlaneError("the keeper process has ended")
        return json.loads(line)


class Component:
    """One of the three server processes. A started one keeps the port and the data of the one before."""

    def __init__(self, name, keeper, command, ready, timeout_seconds):
        self.name = name
        self.log = keeper.folder / f"{name}.log"  # what it printed, over all its starts
        self._keeper = keeper
        self._command = command  # makes the argument list; called at each start, since the first may change the ports
        self._ready = ready
        self._timeout_seconds = timeout_seconds
        self._log_start = 0

    @property
    def pid(self):
        """The process id of the last start; the process may have ended."""
        return self._keeper.ask("poll", name=self.name)["pid"]

    @property
    def running(self):
        """True from a start until the process has ended; also while it is paused."""
        return self._keeper.ask("poll", name=self.name)["code"] is None

    def start(self, wait=True):
        """Starts the process and, if `wait`, returns when it serves.

        Errors: ControlPlaneError when it runs already, ends, or does not serve in time.
        """
        self._log_start = self.log.stat().st_size if self.log.exists() else 0
        self._keeper.ask("start", name=self.name, argv=self._command(), log=str(self.log))
        if wait:
            self.wait_until_ready()

    def wait_until_ready(self):
        """Returns when the process serves. Errors: ControlPlaneError when it ended, or does not serve in time."""
        deadline = time.monotonic() + self._timeout_seconds
        while True:
            ready = self._ready()
            if not self.running:
                tail = self.log_tail()
                kind = AddressInUse if "address already in use" in tail else ControlPlaneError
                raise kind(f"{self.name} ended while it started; the end of its log:\n{tail}")
            if ready:
                return
            if time.monotonic() > deadline:
                raise ControlPlaneError(f"{self.name} was not ready after {self._timeout_seconds:g} s; the end of its "
                                        f"log:\n{self.log_tail()}")
            time.sleep(POLL_SECONDS)

    def kill(self):
        """Kills the process and returns when it has ended. No effect on one that has."""
        self._signal(signal.SIGKILL)
        self._wait_for_end(None)

    def stop(self, timeout_seconds=10.0):
        """Asks the process to end, and kills it when it has not after `timeout_seconds`."""
        self._signal(signal.SIGTERM)
        if not self._wait_for_end(timeout_seconds):
            self.kill()

    def pause(self):
        """Stops the process from running, with its connections open: clients hang until `resume`."""
        self._signal(signal.SIGSTOP)

    def resume(self):
        """Lets a paused process go on."""
        self._signal(signal.SIGCONT)

    def log_tail(self):
        """Returns the last lines that it printed since its last start."""
        with open(self.log, errors="replace") as log:
            log.seek(self._log_start)
            return "".join(log.readlines()[-LOG_TAIL_LINES:]).rstrip()

    def _signal(self, number):
        self._keeper.ask("signal", name=self.name, signal=int(number))

    def _wait_for_end(self, timeout_seconds):
        deadline = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        while self.running:
            if deadline is not None and time.monotonic() > deadline:
                return False
            time.sleep(0.005)
        return True


def free_ports(count):
    """Returns `count` different ports of 127.0.0.1 that nothing listens on now.

    They are below the range from which the kernel takes ports for outgoing connections, so a component that is down for
    a while finds its port free again.
    """
    first_ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    last = first_ephemeral - 1 if first_ephemeral > 20000 else 65535
    ports = []
    while len(ports) < count:
        port = random.randint(10000, last)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in ports:
            ports.append(port)
    return ports
