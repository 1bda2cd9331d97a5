# SPDX-License-Identifier: Apache-2.0
"""Keeps the processes and the data folder of one control plane, and ends both when their owner ends.

A test process that is killed cannot clean up, so this small process does it. It runs in a session of its own, starts
the components as its children and serves its owner over a socket, one JSON object a line each way. When the owner's
end of the socket closes, or the owner's process ends, it kills the components and removes the folder. Should the
keeper itself be killed, the kernel kills the components, and the next keeper removes the folder.

The first line it sends is `{"folder": PATH}`. Requests, each answered by one line:

    {"do": "start", "name": N, "argv": [...], "log": PATH}   -> {"pid": PID}, or {"error": TEXT}
    {"do": "signal", "name": N, "signal": NUMBER}            -> {}
    {"do": "poll", "name": N}                                -> {"pid": PID, "code": null, or the exit code}
    {"do": "close"}                                          -> {} after everything is gone; then it exits
"""

import contextlib
import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FOLDER_PREFIX = "cnpa-op-control-plane-"
PR_SET_PDEATHSIG = 1
MIN_FREE_BYTES = 1 << 30  # etcd alone preallocates 128 MiB; a container's /dev/shm often has 64 MiB

_prctl = ctypes.CDLL(None, use_errno=True).prctl


def die_with_parent(number=signal.SIGKILL):
    """Returns a `preexec_fn` that has the kernel send signal `number` to the new process when its parent ends.

    The parent is the thread that starts it: start it from one that lives as long as the process may.
    """
    parent = os.getpid()

    def in_child():
        _prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)
        if os.getppid() != parent:  # it ended before the call above
            os._exit(1)

    return in_child


def memory_folder():
    """Returns where data folders go: /dev/shm if there is room, since nothing here has to outlive the machine."""
    shm = Path("/dev/shm")
    try:
        room = os.statvfs(shm)
        if os.access(shm, os.W_OK | os.X_OK) and room.f_bavail * room.f_frsize >= MIN_FREE_BYTES:
            return shm
    except OSError:
        pass
    return Path(tempfile.gettempdir())


def remove_folder(folder):
    """Removes `folder`; tries again for a while, since a child of a killed owner may still be writing into it."""
    for _ in range(20):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        time.sleep(0.05)


def make_folder(base):
    """Makes a data folder in `base`, for this user only. Returns its path and the open lock file in it.

    The lock says that its keeper lives. The file gets its name once it is locked, so `remove_leftovers` of another
    keeper never sees it unlocked.
    """
    folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX, dir=base))
    lock = open(folder / "lock.new", "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.rename(folder / "lock.new", folder / "lock")
    return folder, lock


def remove_leftovers(base):
    """Removes the folders in `base` whose keeper was killed."""
    for path in Path(base).glob(FOLDER_PREFIX + "*/lock"):
        try:
            with open(path) as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                remove_folder(path.parent)
        except OSError:
            pass  # its keeper lives, or it belongs to another user


class Keeper:
    """The components by name, in the order in which they were first started."""

    def __init__(self):
        self.processes = {}

    def answer(self, request):
        """Does what `request` says. Returns the answer; an impossible request is answered with an "error"."""
        try:
            return getattr(self, "do_" + request.pop("do"))(**request)
        except Exception as error:  # the owner words it: only it knows what the request was for
            return {"error": f"{type(error).__name__}: {error}"}

    def do_start(self, name, argv, log):
        if name in self.processes and self.processes[name].poll() is None:
            raise RuntimeError(f"{name} runs already")
        with open(log, "ab") as output:
            self.processes[name] = subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=output, stderr=output, preexec_fn=die_with_parent()
            )
        return {"pid": self.processes[name].pid}

    def do_signal(self, name, signal):
        self.processes[name].send_signal(signal)
        return {}

    def do_poll(self, name):
        process = self.processes[name]
        return {"pid": process.pid, "code": process.poll()}

    def kill_all(self):
        """Kills the components, the last one first: on SIGTERM an API server without its etcd would hang."""
        processes = list(reversed(self.processes.values()))
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def owner_watch(owner):
    """Returns a descriptor that is readable once process `owner` has ended, or None where the kernel has none.

    The socket alone would do, but for a forked child of the owner that still holds the owner's end.
    """
    try:
        return os.pidfd_open(owner)
    except (AttributeError, OSError):
        return None


def serve(connection, owner, keeper):
    """Answers the owner until it says close, or is gone. Returns true if it said close."""
    watch = owner_watch(owner)
    poll = select.poll()
    for descriptor in (connection.fileno(), watch):
        if descriptor is not None:
            poll.register(descriptor, select.POLLIN)
    buffered = b""
    while os.getppid() == owner:
        ready = [descriptor for descriptor, _ in poll.poll()]
        if watch in ready:
            return False
        received = connection.recv(65536)
        if not received:
            return False
        *lines, buffered = (buffered + received).split(b"\n")
        for line in lines:
            request = json.loads(line)
            if request["do"] == "close":
                return True
            send(connection, keeper.answer(request))
    return False


def send(connection, message):
    connection.sendall(json.dumps(message).encode() + b"\n")


def end_politely(number, frame):
    raise SystemExit(128 + number)


def main():
    owner, descriptor = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C is for the owner
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end_politely)
    os.set_inheritable(descriptor, False)
    connection = socket.socket(fileno=descriptor)
    keeper = Keeper()
    base = memory_folder()
    remove_leftovers(base)
    folder, lock = make_folder(base)
    closing = False
    try:
        send(connection, {"folder": str(folder)})
        closing = serve(connection, owner, keeper)
    except (BrokenPipeError, ConnectionResetError):
        pass  # the owner ended while an answer was on its way
    finally:
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        keeper.kill_all()
        remove_folder(folder)
        lock.close()
        if closing:
            with contextlib.suppress(OSError):  # an owner that was interrupted does not wait for it
                send(connection, {})


if __name__ == "__main__":
    main()
