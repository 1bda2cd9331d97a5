# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests; what they hand out is in harness.py."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from harness import BINARY, Cluster, ControlPlane, install


@pytest.fixture(scope="session", autouse=True)
def binary():
    """The binary under test: $CNPA_OP, or that of the build folder."""
    if not os.access(BINARY, os.X_OK):
        pytest.exit(f"no binary to test at {BINARY}: build it, or set CNPA_OP", returncode=4)
    return BINARY


@pytest.fixture(scope="session")
def plane(binary):
    """The control plane that most tests share, with the CRD and the rights that the binary itself prints."""
    with ControlPlane() as plane:
        install(plane)
        yield plane


@pytest.fixture
def cluster(plane, tmp_path):
    """The shared control plane, without any TeamSpace at the beginning and at the end of a test."""
    cluster = Cluster(plane, tmp_path)
    yield cluster
    cluster.clean()


@pytest.fixture
def open_folder():
    """A folder that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="cnpa-op-e2e-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
