# SPDX-License-Identifier: Apache-2.0
"""`make install`: what lies where."""

import os
import stat

import pytest

from package_support import BUILD, REPOSITORY, UNITS, files_below, run


def exec_start(folder, prefix, unit="cnpa-op.service"):
    lines = (folder / prefix.lstrip("/") / "lib/systemd/system" / unit).read_text().splitlines()
    return next(line for line in lines if line.startswith("ExecStart="))


def test_everything_lies_below_the_prefix_and_nothing_elsewhere(installed):
    files = files_below(installed("/usr/local"))
    assert {path for path in files if "/doc/" not in path} == {
        "usr/local/bin/cnpa-op",
        *(f"usr/local/lib/systemd/system/{unit}" for unit in UNITS),
        "usr/local/share/man/man1/cnpa-op.1",
        "usr/local/share/man/man5/cnpa-op-config.5",
        "usr/local/share/bash-completion/completions/cnpa-op",
        "usr/local/share/zsh/site-functions/_cnpa-op",
        "usr/local/share/fish/vendor_completions.d/cnpa-op.fish",
    }
    shared = {path.removeprefix("usr/local/share/doc/cnpa-op/") for path in files if "/doc/" in path}
    in_repository = {path for folder in ("docs", "examples") for path in files_below(REPOSITORY / folder)}
    assert {path.partition("/")[2] for path in shared if "/" in path} == in_repository | {"config.yaml"}
    assert {path for path in shared if "/" not in path} == {"README.md", "LICENSE"}


@pytest.mark.parametrize("prefix", ["/usr", "/usr/local"])
def test_where_systemd_finds_the_binary_the_units_are_as_in_the_sources(installed, prefix):
    folder = installed(prefix)
    for unit in UNITS:
        installed_unit = folder / prefix.lstrip("/") / "lib/systemd/system" / unit
        assert installed_unit.read_bytes() == (REPOSITORY / "systemd" / unit).read_bytes()
        assert stat.S_IMODE(installed_unit.stat().st_mode) == 0o644


def test_below_another_prefix_the_units_name_the_binary_by_its_path(installed):
    folder = installed("/opt/team-spaces")
    assert exec_start(folder, "/opt/team-spaces") == "ExecStart=/opt/team-spaces/bin/cnpa-op reconcile"
    assert exec_start(folder, "/opt/team-spaces", "cnpa-op-diff.service").endswith("/bin/cnpa-op reconcile --diff")


def test_a_prefix_with_a_space_and_a_percent_sign_is_written_as_systemd_reads_it(installed):
    folder = installed("/opt/100% team spaces")
    assert exec_start(folder, "/opt/100% team spaces") == 'ExecStart="/opt/100%% team spaces/bin/cnpa-op" reconcile'
    assert run(folder / "opt/100% team spaces/bin/cnpa-op", "version").stdout.startswith("cnpa-op ")


def test_systemd_finds_no_fault_in_the_units_and_the_binary_where_they_say(installed, tmp_path):
    prefix = installed(tmp_path / "100% of team spaces", staged=False)
    units = prefix / "lib/systemd/system"
    (units / "cnpa-op@.service").rename(units / "cnpa-op@paris.service")
    for unit in ("cnpa-op.service", "cnpa-op@paris.service", "cnpa-op-diff.timer"):
        said = run("systemd-analyze", "verify", "--man=no", units / unit, check=False)
        assert (said.returncode, [line for line in said.stdout.splitlines() if "cnpa-op" in line]) == (0, [])


def test_a_build_folder_configured_for_another_prefix_is_no_trouble(installed):
    run("cmake", "-S", REPOSITORY, "-B", BUILD, "-DCMAKE_INSTALL_PREFIX=/nowhere")
    assert not [path for path in files_below(installed("/usr/local")) if not path.startswith("usr/local/")]


def test_a_strict_umask_keeps_nobody_from_reading_it(installed):
    before = os.umask(0o077)
    try:
        folder = installed("/usr/local")
    finally:
        os.umask(before)
    for path in folder.rglob("*"):
        mode = path.stat().st_mode
        assert mode & stat.S_IROTH and (not path.is_dir() or mode & stat.S_IXOTH), f"{path} has mode {mode:o}"


def test_the_binary_is_stripped(installed):
    binary = installed("/usr/local") / "usr/local/bin/cnpa-op"
    assert ".debug_info" not in run("readelf", "-S", "-W", binary).stdout
