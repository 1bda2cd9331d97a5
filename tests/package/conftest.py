# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the tests of installing and packing; what they hand out is in package_support.py."""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from package_support import BUILD, GLIBC, REPOSITORY, Machine, cached_prefix, make, only_file, repacked, run


@pytest.fixture(scope="session")
def package():
    """The Debian package."""
    return only_file("cnpa-op_*.deb")


@pytest.fixture(scope="session")
def tarball():
    """The tar ball."""
    return only_file("cnpa-op-*-linux-*.tar.gz")


@pytest.fixture(scope="session")
def unpacked(package, tmp_path_factory):
    """A folder with what the package holds; its control files are in DEBIAN."""
    folder = tmp_path_factory.mktemp("unpacked")
    run("dpkg-deb", "-R", package, folder)
    return folder


@pytest.fixture(scope="session")
def newer(package, tmp_path_factory):
    """The package as a later version, with nothing else changed."""
    return repacked(package, tmp_path_factory.mktemp("newer"), "9.0.0")


@pytest.fixture(scope="session")
def newer_config(package, tmp_path_factory):
    """The package as a still later version, which brings another configuration file."""
    return repacked(package, tmp_path_factory.mktemp("newer"), "9.1.0", changed_config=True)


@pytest.fixture
def installed(tmp_path):
    """A function that does `make install` with the given PREFIX below a folder of its own, and returns the folder; with
    staged=False the prefix is taken as it is, and must be a folder of the test's own."""
    before = cached_prefix()

    def install(prefix, staged=True):
        folder = tmp_path / "destination"
        make("install", f"PREFIX={prefix}", *([f"DESTDIR={folder}"] if staged else []))
        return folder if staged else Path(prefix)

    yield install
    run("cmake", "-S", REPOSITORY, "-B", BUILD, f"-DCMAKE_INSTALL_PREFIX={before}")


@pytest.fixture(scope="session")
def throw_away():
    """A function that makes a copy of this machine, to install and remove in."""
    if os.geteuid() != 0:
        pytest.skip("needs root: mounts a copy of this machine to install in")
    with contextlib.ExitStack() as copies:

        def copy():
            folder = Path(tempfile.mkdtemp(prefix="cnpa-op-machine-"))
            copies.callback(folder.rmdir)
            try:
                return copies.enter_context(contextlib.closing(Machine(folder)))
            except OSError as error:
                pytest.skip(f"can't mount a copy of this machine to install in: {error}")

        yield copy


@pytest.fixture
def machine(throw_away):
    """A copy of this machine, for one test."""
    machine = throw_away()
    yield machine
    machine.close()


@pytest.fixture
def bare(tarball, tmp_path):
    """A function that runs a command where there is the tar ball in /opt, glibc, and nothing else."""
    if os.geteuid() != 0:
        pytest.skip("needs root: chroot")
    root = tmp_path / "bare"
    for folder in ("opt", "proc", "etc", "lib64", "lib/x86_64-linux-gnu", "tmp"):
        (root / folder).mkdir(parents=True)
    run("tar", "-C", root / "opt", "-xzf", tarball)
    shutil.copy(os.path.realpath("/lib64/ld-linux-x86-64.so.2"), root / "lib64/ld-linux-x86-64.so.2")
    for name in GLIBC:
        shutil.copy(os.path.realpath(f"/lib/x86_64-linux-gnu/{name}"), root / "lib/x86_64-linux-gnu" / name)
    (root / "etc/hosts").write_text("127.0.0.1 localhost\n")

    def enter(*command, **more):
        # Where a binary looks for libraries beside itself, it asks /proc where it is.
        inside = 'mount -t proc proc "$1/proc" && exec chroot "$@"'
        return run("unshare", "--mount", "--propagation", "private", "sh", "-c", inside, "sh", root, *command, **more)

    enter.root = root
    return enter
