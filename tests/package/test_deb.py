# SPDX-License-Identifier: Apache-2.0
"""What the Debian package holds."""

import gzip
import re

from package_support import REPOSITORY, UNITS, files_below, run


def field(package, name):
    return run("dpkg-deb", "-f", package, name).stdout.strip()


def test_lintian_finds_no_error(package):
    said = run("lintian", "--allow-root", "--fail-on", "error", package, check=False)
    assert said.returncode == 0, said.stdout


def test_its_files_are_where_debian_has_them(unpacked):
    files = {path for path in files_below(unpacked) if not path.startswith("DEBIAN/")}
    assert {path for path in files if "/doc/" not in path} == {
        "usr/bin/cnpa-op",
        "etc/cnpa-op/config.yaml",
        *(f"usr/lib/systemd/system/{unit}" for unit in UNITS),
        "usr/share/man/man1/cnpa-op.1.gz",
        "usr/share/man/man5/cnpa-op-config.5.gz",
        "usr/share/bash-completion/completions/cnpa-op",
        "usr/share/zsh/vendor-completions/_cnpa-op",
        "usr/share/fish/vendor_completions.d/cnpa-op.fish",
        "usr/share/lintian/overrides/cnpa-op",
    }
    documents = {path.removeprefix("usr/share/doc/cnpa-op/") for path in files if "/doc/" in path}
    assert {"copyright", "changelog.Debian.gz", "README.md", "docs/install.md", "examples/crd.yaml"} <= documents


def test_everything_belongs_to_root(package):
    for line in run("dpkg-deb", "-c", package).stdout.splitlines():
        assert line.split()[1] == "root/root", line


def test_its_dependencies_are_the_packages_of_the_libraries_that_the_binary_needs(package, unpacked):
    needed = re.findall(r"NEEDED.*\[(\S+)\]", run("readelf", "-d", unpacked / "usr/bin/cnpa-op").stdout)
    assert len(needed) >= 4
    owners = {run("dpkg-query", "-S", f"*/{library}").stdout.partition(":")[0] for library in needed}
    assert {depend.split()[0] for depend in field(package, "Depends").split(", ")} == owners | {"procps"}  # for the units
    assert field(package, "Recommends") == "ca-certificates"


def test_it_says_what_it_is(package):
    assert field(package, "Package") == "cnpa-op"
    assert package.name == f"cnpa-op_{field(package, 'Version')}_{field(package, 'Architecture')}.deb"
    assert (field(package, "Section"), field(package, "Priority")) == ("admin", "optional")
    assert len(field(package, "Description").splitlines()) > 5


def test_its_changelog_is_of_its_version(package, unpacked):
    with gzip.open(unpacked / "usr/share/doc/cnpa-op/changelog.Debian.gz", "rt") as file:
        text = file.read()
    assert text.startswith(f"cnpa-op ({field(package, 'Version')}) ")
    day = re.search(r"^set\(CNPA_OP_DATE (.*)\)$", (REPOSITORY / "CMakeLists.txt").read_text(), re.M)[1]
    assert run("date", "-u", "-d", re.search(r"  (\w{3}, .*)$", text, re.M)[1], "+%F").stdout.strip() == day


def test_the_binary_is_stripped_and_hardened(unpacked):
    binary = unpacked / "usr/bin/cnpa-op"
    assert ".debug_info" not in run("readelf", "-S", "-W", binary).stdout
    assert re.search(r"FLAGS_1.*NOW.*PIE", run("readelf", "-d", binary).stdout)
    assert "_chk@GLIBC" in run("readelf", "--dyn-syms", "-W", binary).stdout


def test_no_path_of_the_machine_that_built_it_is_inside(unpacked):
    for path in unpacked.rglob("*"):
        if path.is_file():
            assert str(REPOSITORY).encode() not in path.read_bytes(), path


def test_the_scripts_are_sound(unpacked):
    for name in ("postinst", "prerm", "postrm"):
        run("sh", "-n", unpacked / "DEBIAN" / name)
    assert (unpacked / "DEBIAN/conffiles").read_text() == "/etc/cnpa-op/config.yaml\n"
