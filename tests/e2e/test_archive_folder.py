# SPDX-License-Identifier: Apache-2.0
"""An archive folder that can't be used: the finalizer stays on, it is said, and others go on (contract, section 4)."""

import json
import os
import shutil
import stat
import subprocess

import pytest

from harness import BINARY, FINALIZER, said

NOBODY = 65534
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def mounted(tmp_path):
    """A function that mounts a tmpfs with the options given and returns its folder."""
    folders = []

    def mount(options):
        folder = tmp_path / f"mount{len(folders)}"
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
    assert [path.name for path in cluster.archive.iterdir()] == ["filler"]
    filler.unlink()
    check_recovery(cluster, name)
    assert cluster.archived(f"{name}.json")["name"] == name


@as_root
def test_disk_without_inodes_keeps_the_finalizer(cluster, mounted):
    cluster.archive = mounted("nr_inodes=2,mode=0700")
    (cluster.archive / "filler").touch()
    name = check_archive_failed(cluster, "no space left on device")
    (cluster.archive / "filler").unlink()
    check_recovery(cluster, name)


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
    os.chown(cluster.home, NOBODY, NOBODY)
    name = cluster.converged_team()
    cluster.delete_team(name)
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
