# SPDX-License-Identifier: Apache-2.0
"""What the tests of installing and packing share: the things made, and machines to throw away."""

import os
import re
import shutil
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CNPA_OP_TEST_BUILD", REPOSITORY / "build"))

UNITS = ("cnpa-op-diff.service", "cnpa-op-diff.timer", "cnpa-op.service", "cnpa-op@.service")

# What a machine has of glibc; everything else that the tar ball needs it must bring.
GLIBC = ("libc.so.6", "libm.so.6", "libresolv.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libnss_files.so.2",
         "libnss_dns.so.2")

# Says what it was asked, in the place of systemctl of a machine that runs systemd.
FAKE_SYSTEMCTL = '#!/bin/sh\necho "$@" >> /var/log/systemctl.calls\n'


def run(*command, check=True, **more):
    """Runs a command to its end, and returns what it printed and its exit code."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, check=False, **more)
    assert not check or done.returncode == 0, f"{command} exits with {done.returncode}:\n{done.stdout}"
    return done


def only_file(pattern):
    """The one file of the build folder that `make deb` or `make tarball` left."""
    found = sorted(BUILD.glob(pattern))
    assert len(found) == 1, f"{pattern} in {BUILD}: {found}; make deb tarball"
    return found[0]


def files_below(folder):
    """The paths of all files below a folder, relative to it."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def make(*words):
    """Runs make as somebody does who types it, even if another make runs the tests."""
    inherited = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "DESTDIR", "PREFIX"}
    environment = {name: value for name, value in os.environ.items() if name not in inherited}
    return run("make", "-C", REPOSITORY, f"BUILD={BUILD}", *words, env=environment)


def cached_prefix():
    """The prefix that the build folder was configured with last."""
    return re.search(r"^CMAKE_INSTALL_PREFIX:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text(), re.M)[1]


class Machine:
    """This machine as a copy to throw away: whatever is written to it is in memory, and gone at the end.

    It is a namespace of mounts that a sleeping process holds. Commands run in it below chroot, without init; boot()
    runs some with.
    """

    SETUP = """
        set -e
        mount -t tmpfs tmpfs "$1"
        mkdir "$1/lower" "$1/upper" "$1/work" "$1/root"
        mount --bind / "$1/lower"
        mount -t overlay overlay -o "lowerdir=$1/lower,upperdir=$1/upper,workdir=$1/work" "$1/root"
        mount --rbind /dev "$1/root/dev"
        mount -t proc proc "$1/root/proc"
        echo ready
        exec sleep infinity
    """

    def __init__(self, folder):
        self.folder = folder
        self._holder = subprocess.Popen(
            ["unshare", "--mount", "--propagation", "private", "sh", "-c", self.SETUP, "sh", str(folder)],
            text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self._enter = ("nsenter", f"--mount=/proc/{self._holder.pid}/ns/mnt")
        said = self._holder.stdout.readline().strip()
        if said != "ready":
            self.close()
            raise OSError(said)
        # How this machine is set up must not change what happens there, and an index of all man pages takes its time.
        self.run("rm", "-rf", "/etc/cnpa-op", "/run/systemd", "/var/lib/man-db/auto-update")
        self.run("mkdir", "-p", "/var/lib/private", "/var/cache/private")

    def close(self):
        self._holder.kill()
        self._holder.wait()
        self._holder.stdout.close()

    def run(self, *command, check=True):
        """Runs a command in it."""
        return run(*self._enter, "chroot", self.folder / "root", "env", "DEBIAN_FRONTEND=noninteractive",
                   "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command, check=check)

    def read(self, path):
        return self.run("cat", path).stdout

    def write(self, path, text, mode="644"):
        self.run("sh", "-c", 'mkdir -p "$(dirname "$1")" && printf %s "$2" > "$1" && chmod "$3" "$1"', "sh", path, text,
                 mode)

    def has(self, path):
        return self.run("test", "-e", path, check=False).returncode == 0

    def dpkg(self, *words):
        return self.run("dpkg", *words).stdout

    def copy(self, file, place):
        """Copies a file of this machine's into it."""
        run(*self._enter, "cp", file, f"{self.folder}/root{place}")

    def install(self, package, *flags):
        """Installs a package file of this machine's."""
        place = f"/root/{Path(package).name}"
        self.copy(package, place)
        return self.dpkg(*flags, "-i", place)

    def boot(self, steps):
        """Boots it, as far as its systemd needs for anything; returns what the steps say, each below "=== STEP"."""
        script = "#!/bin/bash\nset -f\nexec > /root/said 2>&1\n"
        for step in steps:
            script += f"echo '=== {step}'\n{step}\n"
        self.write("/root/steps", script + "systemctl poweroff > /dev/null 2>&1\n", "755")
        self.write("/etc/systemd/system/steps.service",
                   "[Unit]\nAfter=basic.target\n[Service]\nType=oneshot\nExecStart=/root/steps\n")
        self.write("/etc/systemd/system/steps.target", "[Unit]\nRequires=basic.target steps.service\n")
        self.write("/etc/machine-id", "")
        # What it keeps in /run about its machines is seen, and gone, with this namespace.
        nspawn = ('umount -lR "$1/root/dev" "$1/root/proc" && mount -t tmpfs tmpfs /run && exec timeout 120 '
                  'systemd-nspawn --quiet --register=no --keep-unit -D "$1/root" -b systemd.unit=steps.target')
        booted = run(*self._enter, "sh", "-c", nspawn, "sh", self.folder, check=False)
        said = self.run("cat", "/root/said", check=False)
        assert said.returncode == 0 and said.stdout.count("=== ") == len(steps), booted.stdout + said.stdout
        return said.stdout

    def pretend_systemd(self):
        """Makes it look as if systemd ran; calls() then says what it was asked."""
        self.run("mkdir", "-p", "/run/systemd/system")
        self.run("rm", "-f", "/usr/bin/systemctl", "/var/log/systemctl.calls")
        self.write("/usr/bin/systemctl", FAKE_SYSTEMCTL, "755")

    def calls(self):
        """What systemctl was asked since the last time this was asked."""
        said = self.run("sh", "-c", "cat /var/log/systemctl.calls; rm -f /var/log/systemctl.calls", check=False).stdout
        return [line for line in said.splitlines() if "cnpa-op" in line or "daemon-reload" in line]


def repacked(package, folder, version, changed_config=False):
    """The package once more as another version, made without building anything."""
    tree = folder / f"tree-{version}"
    run("dpkg-deb", "-R", package, tree)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"^Version: .*$", f"Version: {version}", control.read_text(), flags=re.M))
    if changed_config:
        with open(tree / "etc/cnpa-op/config.yaml", "a", encoding="utf-8") as file:
            file.write("\n# A key that is new in this version.\n#new: true\n")
    made = folder / f"cnpa-op_{version}_amd64.deb"
    run("dpkg-deb", "--root-owner-group", "-b", tree, made)
    shutil.rmtree(tree)
    return made
