# SPDX-License-Identifier: Apache-2.0
"""An archive folder that can't be used: the finalizer stays on, it is said, and others go on (contract, section 4)."""

import errno
import fcntl
import json
import os
import shutil
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from harness import BINARY, FINALIZER, said, wait_for

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def mounted(open_folder):
    """A function that mounts a tmpfs with the options given and returns its folder."""
    folders = []

    def mount(options):
        folder = open_folder / f"mount{len(folders)}"
        folder.mkdir(mode=0o700)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True, text=True)
        if done.returncode != 0:
            pytest.skip(f"cannot mount a tmpfs here: {done.stderr.strip()}")
        folders.append(folder)
        return folder

    yield mount
    for folder in folders:
        subprocess.run(["umount", folder], check=True)


def check_archive_failed(cluster, words, **options):
    """Runs a pass that cannot archive a deleted TeamSpace, checks what the contract says of it, returns the name.

    `words` is a regular expression of what is said to the user.
    """
    name = cluster.converged_team(pods=6)
    other = cluster.create_team()
    cluster.delete_team(name)
    result = cluster.once(**options)
    assert result.code == 1, result
    team = cluster.team(name)
    assert team["metadata"]["finalizers"] == [FINALIZER]
    ready = cluster.ready(name)
    assert (ready["status"], ready["reason"]) == ("False", "ArchiveFailed")
    assert said(words, [ready["message"]])
    assert said(rf"TeamSpace/{name} .*ArchiveFailed.*{words}", result.lines), result.stderr
    assert team["status"]["observedGeneration"] == 1  # that of a TeamSpace being deleted is never raised
    assert team["status"]["namespace"] == f"team-{name}"
    assert cluster.ready(other)["status"] == "True"
    again = cluster.once(**options)
    assert (again.code, again.writes) == (1, [])
    return name


def check_recovery(cluster, name, **options):
    """Runs a pass that must archive and release TeamSpace `name`."""
    result = cluster.once(**options)
    assert result.code == 0, result
    assert cluster.team(name) is None


def test_missing_parent_of_the_archive_folder_keeps_the_finalizer(cluster):
    cluster.archive = cluster.home / "no" / "such" / "archive"
    name = check_archive_failed(cluster, "no such file or directory.*parent")
    cluster.archive.parent.mkdir(parents=True)
    check_recovery(cluster, name)
    assert cluster.archived(f"{name}.json")["pods"] == 6


def test_file_in_place_of_the_archive_folder_keeps_the_finalizer(cluster):
    cluster.archive.write_text("I am a file")
    name = check_archive_failed(cluster, "not a directory")
    cluster.archive.unlink()
    check_recovery(cluster, name)


def test_file_in_place_of_the_parent_of_the_archive_folder_keeps_the_finalizer(cluster):
    (cluster.home / "parent").write_text("I am a file")
    cluster.archive = cluster.home / "parent" / "archive"
    check_archive_failed(cluster, "not a directory")


def test_folder_in_place_of_the_archive_file_keeps_the_finalizer(cluster):
    name = cluster.converged_team()
    (cluster.archive / f"{name}.json").mkdir(parents=True)
    cluster.delete_team(name)
    result = cluster.once()
    assert result.code == 1
    assert cluster.team(name)["metadata"]["finalizers"] == [FINALIZER]
    assert said(rf"ArchiveFailed.*{name}\.json", result.lines)


def test_symbolic_link_in_place_of_the_archive_file_is_not_followed(cluster):
    name = cluster.converged_team()
    victim = cluster.home / "victim"
    victim.write_text("precious")
    cluster.archive.mkdir(mode=0o700)
    (cluster.archive / f"{name}.json").symlink_to(victim)
    cluster.delete_team(name)
    cluster.once()
    assert victim.read_text() == "precious"


@as_root
def test_read_only_archive_folder_keeps_the_finalizer(cluster, mounted):
    cluster.archive = mounted("ro,mode=0700")
    name = check_archive_failed(cluster, "read-only file system")
    subprocess.run(["mount", "-o", "remount,rw", cluster.archive], check=True)
    check_recovery(cluster, name)


@as_root
def test_full_disk_keeps_the_finalizer_and_leaves_no_half_file(cluster, mounted):
    cluster.archive = mounted("size=64k,mode=0700")
    filler = cluster.archive / "filler"
    with open(filler, "wb", buffering=0) as file:
        while True:
            try:
                file.write(b"x" * 4096)
            except OSError:
                break
    name = check_archive_failed(cluster, "no space left on device")
    assert cluster.archives() == ["filler"]
    filler.unlink()
    check_recovery(cluster, name)
    assert cluster.archived(f"{name}.json")["name"] == name


@as_root
def test_disk_without_inodes_keeps_the_finalizer(cluster, mounted):
    cluster.archive = mounted("nr_inodes=3,mode=0700")
    (cluster.archive / "filler").touch()
    (cluster.archive / ".cnpa-op.lock").touch(mode=0o600)
    name = check_archive_failed(cluster, "no space left on device")
    (cluster.archive / "filler").unlink()
    check_recovery(cluster, name)


def check_two_of_a_name(cluster, **options):
    """Has two TeamSpaces of one name archived, one after another, and returns what the second pass printed."""
    name = cluster.new_name()
    uids = []
    for pods in (1, 2):
        cluster.create_team(name, pods=pods, finalizers=[FINALIZER])
        uids.append(cluster.team(name)["metadata"]["uid"])
        cluster.delete_team(name)
        result = cluster.once(**options)
        assert result.code == 0, result
        assert cluster.team(name) is None
    assert cluster.archives() == [f"{name}.{uids[0]}.json", f"{name}.json"]
    assert [cluster.archived(file)["pods"] for file in cluster.archives()] == [1, 2]
    return result.lines


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


@pytest.fixture
def on_device(tmp_path):
    """A function that mounts a file system from a file, given how to make and to mount it, and returns its folder."""
    undo = []

    def mount(make, mount_device):
        image, folder = tmp_path / "image", tmp_path / "device"
        folder.mkdir()
        with open(image, "wb") as file:
            file.truncate(16 << 20)
        attached = run("losetup", "-f", "--show", image)
        if attached.returncode != 0:
            pytest.skip(f"no loop device here: {attached.stderr.strip()}")
        device = attached.stdout.strip()
        undo.append(["losetup", "-d", device])
        for command in ([*make, device], [*mount_device, device, folder]):
            done = run(*command)
            if done.returncode != 0:
                pytest.skip(f"cannot {' '.join(map(str, command))}: {done.stderr.strip()}")
        undo.append(["umount", folder])
        return folder

    yield mount
    for command in reversed(undo):
        wait_for(lambda command=command: run(*command).returncode == 0, f"{command}")


@as_root
def test_archive_on_exfat_which_has_no_hard_links(cluster, on_device):
    cluster.archive = on_device(["mkfs.exfat"], ["mount.exfat-fuse"]) / "archive"
    lines = check_two_of_a_name(cluster)
    assert len(said("file system has no hard links", lines)) == 1, lines
    checked = cluster.run("check")
    assert said("warn +archive .*has no hard links", checked.stdout), checked


@as_root
def test_disk_that_hangs_keeps_one_pass_and_no_other(cluster, on_device):
    disk = on_device(["mkfs.ext4", "-q"], ["mount"])
    cluster.archive = disk / "archive"
    drifted, first, held = (cluster.create_team() for _ in range(3))
    cluster.converge()
    cluster.delete_team(first)
    cluster.converge()
    cluster.delete_team(held)
    cluster.patch_quota(drifted, {"pods": "99"})
    subprocess.run(["fsfreeze", "-f", disk], check=True)
    try:
        with cluster.started("reconcile", "--once", "--timeout", "8s") as hangs:
            wait_for(lambda: cluster.hard(drifted)["pods"] == "4", "the drift is repaired all the same")
            state = Path(f"/proc/{hangs.process.pid}/stat")
            wait_for(lambda: state.read_text().rpartition(") ")[2].startswith("D"), "it hangs in the disk")
            new = cluster.create_team()
            result = cluster.once("--timeout", "4s")
            assert said("ArchiveFailed.*another process has held its lock for 1 s", result.lines), result
            assert cluster.ready(new)["status"] == "True"
            subprocess.run(["fsfreeze", "-u", disk], check=True)
            hangs.finish()
    finally:
        run("fsfreeze", "-u", disk)
    check_recovery(cluster, held)
    assert cluster.archives() == sorted([f"{first}.json", f"{held}.json"])


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    """A function that returns the environment in which system calls fail, or are slow, as file systems have it."""
    folder = tmp_path_factory.mktemp("shim")
    (folder / "shim.c").write_text(r"""
        #define _GNU_SOURCE
        #include <errno.h>
        #include <stdlib.h>
        #include <sys/file.h>
        #include <sys/stat.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static int wish(const char* name) { const char* text = getenv(name); return text ? atoi(text) : 0; }
        static int fail(const char* name) { errno = wish(name); return -1; }
        int fsync(int fd) {
          struct stat info;
          if (wish("NO_FOLDER_SYNC") && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) return fail("NO_FOLDER_SYNC");
          usleep(1000 * wish("SYNC_MS"));
          return (int)syscall(SYS_fsync, fd);
        }
        int flock(int fd, int how) { return wish("NO_LOCK") ? fail("NO_LOCK") : (int)syscall(SYS_flock, fd, how); }
        int linkat(int from, const char* old, int to, const char* new, int flags) {
          return wish("NO_LINK") ? fail("NO_LINK") : (int)syscall(SYS_linkat, from, old, to, new, flags);
        }
        """)
    library = folder / "shim.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, folder / "shim.c"], check=True)
    return lambda **wishes: {"env": {"LD_PRELOAD": library} | wishes}


def test_archive_on_a_file_system_that_has_not_all_is_written_and_what_is_missing_is_told_once(cluster, shim):
    missing = shim(NO_FOLDER_SYNC=errno.EINVAL, NO_LINK=errno.EPERM, NO_LOCK=errno.ENOLCK)
    lines = check_two_of_a_name(cluster, **missing)
    words = "cannot sync a folder .*has no hard links .*has no locks"
    assert len(said(words, lines)) == 1, lines
    checked = cluster.run("check", **missing)
    assert said(f"warn +archive .*{words}", checked.stdout), checked
    names = [cluster.create_team(finalizers=[FINALIZER]) for _ in range(3)]
    for name in names:
        cluster.delete_team(name)
    result = cluster.once(**missing)
    assert result.code == 0 and len(said("its file system", result.lines)) == 1, result


def test_slow_archive_folder_holds_up_nobody_and_neither_does_one_that_is_killed(cluster, shim):
    drifted, new = cluster.converged_team(), cluster.create_team()
    names = [cluster.create_team(finalizers=[FINALIZER]) for _ in range(12)]
    for name in names:
        cluster.delete_team(name)
    cluster.patch_quota(drifted, {"pods": "99"})
    left = len(names)
    for _ in range(2):  # Each archive takes 0.4 s at the least.
        result = cluster.once("--timeout", "2s", **shim(SYNC_MS=200))
        assert result.code == 1 and said(r"[1-9]\d* left for the next pass", result.lines), result
        assert cluster.hard(drifted)["pods"] == "4" and cluster.ready(new)["status"] == "True"
        released = left - sum(cluster.team(name) is not None for name in names)
        assert released >= 1, result
        left -= released
    cluster.patch_quota(drifted, {"pods": "99"})
    with pytest.raises(subprocess.TimeoutExpired):
        cluster.once(timeout=1, **shim(SYNC_MS=60000))  # SIGKILL, in the midst of it
    assert cluster.hard(drifted)["pods"] == "4"  # It was not behind a disk that hangs.
    cluster.converge()
    assert cluster.archives() == sorted(f"{name}.json" for name in names)
    assert len(list(cluster.archive.iterdir())) == len(names) + 1  # besides the lock nothing is left


def test_locked_archive_folder_holds_up_deletions_only_and_is_waited_for_once(cluster):
    drifted = cluster.converged_team()
    names = [cluster.create_team(finalizers=[FINALIZER]) for _ in range(8)]
    for name in names:
        cluster.delete_team(name)
    new = cluster.create_team()
    cluster.patch_quota(drifted, {"pods": "99"})
    cluster.archive.mkdir(mode=0o700)
    with open(cluster.archive / ".cnpa-op.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with cluster.started("reconcile", "--once") as started:
            wait_for(lambda: cluster.hard(drifted)["pods"] == "4", "the drift is repaired")
            wait_for(lambda: cluster.ready(new).get("status") == "True", "the new one is reconciled")
            before = time.monotonic()
            started.signal(signal.SIGTERM)
            assert started.finish().code == 143
            assert time.monotonic() - before < 2.0, "it waits for a lock all the same"
        before = time.monotonic()
        result = cluster.once("--timeout", "8s")  # a quarter of it is waited
        assert time.monotonic() - before < 5.0, result
        assert result.code == 1
        assert said("ArchiveFailed.*another process has held its lock for 2 s", result.stderr), result
        assert said(rf"10 team spaces: {len(names)} refused", result.lines), result
        assert {cluster.ready(name)["reason"] for name in names} == {"ArchiveFailed"}
        checked = cluster.run("check")
        assert said("warn +archive .*another process holds its lock.*fuser -v", checked.stdout), checked
    cluster.converge()
    assert cluster.archives() == sorted(f"{name}.json" for name in names)


@pytest.fixture
def as_nobody(cluster, open_folder):
    """Options for a run as an ordinary user: its home and copies of the binary and the kubeconfig that it may read."""
    shutil.copy(BINARY, open_folder / "cnpa-op")
    kubeconfig = open_folder / "kubeconfig"
    shutil.copy(cluster.plane.user_kubeconfig, kubeconfig)
    os.chown(kubeconfig, NOBODY, NOBODY)
    home = open_folder / "home"
    home.mkdir()
    cluster.home = home
    return {"kubeconfig": kubeconfig, "user": NOBODY, "group": NOBODY, "extra_groups": [],
            "executable": open_folder / "cnpa-op"}


@as_root
def test_archive_folder_of_another_user_keeps_the_finalizer(cluster, open_folder, as_nobody):
    cluster.archive = open_folder / "archive"
    cluster.archive.mkdir()
    cluster.archive.chmod(0o777)
    name = check_archive_failed(cluster, r"belongs to another user \(uid 0\)", **as_nobody)
    os.chown(cluster.archive, NOBODY, NOBODY)
    check_recovery(cluster, name, **as_nobody)


@as_root
def test_archive_folder_of_another_user_is_used_by_its_group(cluster, mounted, open_folder, as_nobody):
    # As kubelet hands a volume to a pod with fsGroup, whose image runs as one user and later as another.
    cluster.archive = mounted(f"mode=2770,uid=0,gid={NOBODY}")
    check_two_of_a_name(cluster, **as_nobody)
    checked = cluster.run("check", **as_nobody)
    assert said("ok +archive .*of another user, by the permissions of its group", checked.stdout), checked
    name = cluster.archives()[0].partition(".")[0]
    cluster.create_team(name, pods=3, finalizers=[FINALIZER])
    cluster.delete_team(name)
    os.chown(cluster.home, NOBODY - 1, NOBODY)
    as_nobody["kubeconfig"].chmod(0o640)
    check_recovery(cluster, name, **as_nobody | {"user": NOBODY - 1})
    assert cluster.archived(f"{name}.json")["pods"] == 3
    assert len(cluster.archives()) == 3


@as_root
def test_archive_folder_without_the_right_to_write_keeps_the_finalizer(cluster, open_folder, as_nobody):
    cluster.archive = open_folder / "archive"
    cluster.archive.mkdir(mode=0o500)
    os.chown(cluster.archive, NOBODY, NOBODY)
    name = check_archive_failed(cluster, "permission denied", **as_nobody)
    cluster.archive.chmod(0o700)
    check_recovery(cluster, name, **as_nobody)


@as_root
def test_archive_folder_that_cannot_be_made_keeps_the_finalizer(cluster, open_folder, as_nobody):
    cluster.archive = open_folder / "archive"  # only root may write beside it
    check_archive_failed(cluster, "permission denied", **as_nobody)


@as_root
def test_root_gives_the_archive_to_the_owner_of_the_folder(cluster):
    cluster.archive.mkdir(mode=0o700)
    os.chown(cluster.archive, NOBODY, NOBODY)
    name = cluster.converged_team()
    cluster.delete_team(name)
    cluster.converge()
    info = (cluster.archive / f"{name}.json").stat()
    assert (info.st_uid, info.st_gid) == (NOBODY, NOBODY)
    assert stat.S_IMODE(info.st_mode) == 0o600


def test_archive_of_one_that_fails_does_not_stop_that_of_another(cluster):
    bad, good = cluster.converged_team(cluster.new_name("a")), cluster.converged_team(cluster.new_name("b"))
    (cluster.archive / f"{bad}.json").mkdir(parents=True)
    cluster.delete_team(bad)
    cluster.delete_team(good)
    assert cluster.once().code == 1
    assert cluster.team(good) is None
    assert cluster.archived(f"{good}.json")["name"] == good
    assert cluster.team(bad)["metadata"]["finalizers"] == [FINALIZER]


def test_archive_folder_is_not_asked_for_while_nothing_is_deleted(cluster):
    cluster.archive = cluster.home / "no" / "such" / "archive"
    cluster.converged_team()
    assert cluster.once().code == 0


@pytest.mark.parametrize("environment, place", [
    ({"STATE_DIRECTORY": "{home}/state"}, "state/archive"),
    ({"CNPA_OP_ARCHIVE": "{home}/mine"}, "mine"),
])
def test_archive_folder_comes_from_the_environment(cluster, environment, place):
    (cluster.home / "state").mkdir()
    name = cluster.converged_team()
    cluster.delete_team(name)
    result = cluster.once(archive=False, env={key: value.format(home=cluster.home)
                                              for key, value in environment.items()})
    assert result.code == 0, result
    assert json.loads((cluster.home / place / f"{name}.json").read_text())["name"] == name


@as_root
def test_archive_folder_of_an_ordinary_user_is_below_the_state_folder(cluster, as_nobody):
    name = cluster.converged_team()
    cluster.delete_team(name)
    os.chown(cluster.home, NOBODY, NOBODY)
    result = cluster.once(archive=False, **as_nobody)
    assert result.code == 0, result
    record = cluster.home / ".local" / "state" / "cnpa-op" / "archive" / f"{name}.json"
    assert json.loads(record.read_text())["name"] == name


def test_archive_folder_has_no_default_in_a_pod(cluster):
    name = cluster.converged_team()
    cluster.delete_team(name)
    result = cluster.once(archive=False, env={"KUBERNETES_SERVICE_HOST": "127.0.0.1",
                                              "KUBERNETES_SERVICE_PORT": "1"})
    assert result.code == 1
    assert said("ArchiveFailed.*--archive", result.lines)
    assert cluster.team(name)["metadata"]["finalizers"] == [FINALIZER]
