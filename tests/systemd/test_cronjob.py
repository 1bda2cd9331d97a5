# SPDX-License-Identifier: Apache-2.0
"""examples/cronjob.yaml and examples/Containerfile: cnpa-op as a pod.

There are no nodes here, so the pod's process is started by the tests, as a node would start it.
"""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from support import BINARY, EXAMPLES, REPOSITORY, print_manifest

MANIFEST = EXAMPLES / "cronjob.yaml"
SECRETS = "/run/secrets/kubernetes.io/serviceaccount"  # /var/run is /run
# $1 the token, $2 the CA, $3 the volume, $4 where it is mounted, $5 user and group, $6 the binary; then the command.
POD = f"""\
set -e
mount -t tmpfs tmpfs /run
mkdir -p {SECRETS}
printf %s "$1" > {SECRETS}/token
cp "$2" {SECRETS}/ca.crt
printf %s cnpa-op > {SECRETS}/namespace
install -m 0755 "$6" /run/cnpa-op
exec 9< "$3"
mount -t tmpfs tmpfs "$(dirname "$4")"
mkdir "$4"
mount --bind /proc/self/fd/9 "$4"
exec 9<&-
user=$5
shift 6
exec setpriv --reuid "$user" --regid "$user" --clear-groups --no-new-privs --bounding-set=-all -- \\
  env -i PATH=/usr/bin:/bin KUBERNETES_SERVICE_HOST="$HOST" KUBERNETES_SERVICE_PORT="$PORT" "$@"
"""


def objects(plane):
    """Returns the manifest's objects by their kind."""
    listed = plane.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", MANIFEST).stdout
    decoder, found, position = json.JSONDecoder(), {}, 0
    while position < len(listed.rstrip()):
        item, position = decoder.raw_decode(listed, position)
        for each in item.get("items", [item]):
            found[each["kind"]] = each
        position += len(listed[position:]) - len(listed[position:].lstrip())
    return found


def pod_spec(plane):
    return objects(plane)["CronJob"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def applied(plane):
    """The control plane after what the manifest's comment says; its value is what kubectl said."""
    plane.kubectl("apply", "-f", "-", input=print_manifest("rbac", "--serviceaccount", "cnpa-op:cnpa-op"))
    said = plane.kubectl("apply", "--server-side", "--validate=strict", "-f", MANIFEST)
    yield said
    plane.kubectl("delete", "namespace", "cnpa-op", "--wait=false")
    plane.kubectl("apply", "-f", "-", input=print_manifest("rbac"))


@pytest.fixture
def volume(plane, tmp_path):
    """A folder as a volume of the pod: root's, and the group's of fsGroup."""
    folder = tmp_path / "volume"
    folder.mkdir()
    subprocess.run(["chown", f"0:{pod_spec(plane)['securityContext']['fsGroup']}", folder], check=True)
    folder.chmod(0o2775)
    return folder


def run_pod(plane, volume, *arguments):
    """Runs the binary as the pod would: its user, no capability, the service account's files, nothing else."""
    spec = pod_spec(plane)
    container = spec["containers"][0]
    token = plane.kubectl("create", "token", "-n", "cnpa-op", spec["serviceAccountName"]).stdout.strip()
    mount = container["volumeMounts"][0]["mountPath"]
    return subprocess.run(
        ["unshare", "--mount", "bash", "-c", POD, "pod", token, plane.authority.certificate, volume, mount,
         str(spec["securityContext"]["runAsUser"]), BINARY, "/run/cnpa-op", *(arguments or container["args"])],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOST": "127.0.0.1", "PORT": str(plane.port)},
        capture_output=True, text=True, check=False, timeout=60)


def test_the_server_takes_every_field_of_the_cronjob(applied):
    assert applied.stdout.count("serverside-applied") == 4


def test_nothing_of_the_cronjob_is_warned_about_in_a_restricted_namespace(applied):
    assert applied.stderr == ""


def test_the_cronjob_could_be_tried_by_a_dry_run(applied, plane):
    said = plane.kubectl("apply", "--server-side", "--dry-run=server", "-f", MANIFEST)
    assert (said.stdout.count("(server dry run)"), said.stderr) == (4, "")


def test_a_restricted_namespace_takes_the_pod_of_the_cronjob(applied, plane):
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "trial", "namespace": "cnpa-op"},
           "spec": pod_spec(plane)}
    said = plane.kubectl("create", "--dry-run=server", "-f", "-", input=json.dumps(pod))
    assert "created" in said.stdout and said.stderr == ""


def test_the_pod_reconciles_with_its_service_account(applied, plane, cluster, volume):
    name = cluster.create_team(pods=7)
    run = run_pod(plane, volume)
    assert run.returncode == 0, run.stderr
    assert cluster.hard(name)["pods"] == "7"


def test_the_pod_archives_on_its_volume(applied, plane, cluster, volume):
    name = cluster.create_team()
    run_pod(plane, volume)
    cluster.delete_team(name)
    run = run_pod(plane, volume)
    assert run.returncode == 0, run.stderr
    assert cluster.team(name) is None
    assert json.loads((volume / "archive" / f"{name}.json").read_text())["name"] == name


def test_the_pod_without_an_archive_lets_a_deletion_wait(applied, plane, cluster, volume):
    name = cluster.create_team()
    run_pod(plane, volume)
    cluster.delete_team(name)
    run = run_pod(plane, volume, "reconcile", "--once")
    assert run.returncode == 1 and "--archive" in run.stderr
    assert cluster.team(name)


def test_the_pod_finds_all_in_order_where_it_runs(applied, plane, volume):
    run = run_pod(plane, volume, "check", "--archive=/var/lib/cnpa-op/archive")
    assert run.returncode == 0, run.stdout


# -- the image -------------------------------------------------------------------------------------------------------


def containerfile():
    text = re.sub(r"\\\n\s*", "", (EXAMPLES / "Containerfile").read_text())
    return [line.split(maxsplit=1) for line in text.splitlines() if line and not line.startswith("#")]


def installed(run):
    return set(re.search(r"apt-get install -y --no-install-recommends ([^&]+)", run)[1].split())


def test_the_image_is_built_from_plain_names():
    images = [rest.split()[0] for word, rest in containerfile() if word == "FROM"]
    assert images and all("/" not in image and re.fullmatch(r"debian:\d+-slim", image) for image in images)


def test_the_image_has_the_user_of_the_cronjob(plane):
    user = next(rest for word, rest in containerfile() if word == "USER")
    context = pod_spec(plane)["securityContext"]
    assert user == f"{context['runAsUser']}:{context['runAsGroup']}"


def test_the_image_is_built_with_the_packages_of_make_deps():
    packages = set(re.search(r"^build=\((.*?)\)", (REPOSITORY / "tests/tools/deps").read_text(), re.S | re.M)[1].split())
    build = next(rest for word, rest in containerfile() if word == "RUN")
    assert installed(build) <= packages


def test_the_image_has_the_libraries_that_the_binary_needs():
    if 'VERSION_ID="12"' not in Path("/etc/os-release").read_text():
        pytest.skip("the image is of Debian 12; the binary here needs another machine's libraries")
    dynamic = subprocess.run(["objdump", "-p", BINARY], capture_output=True, text=True, check=True).stdout
    needed = re.findall(r"NEEDED\s+(\S+)", dynamic)
    runs = [rest for word, rest in containerfile() if word == "RUN"]
    depends = subprocess.run(["apt-cache", "depends", "--important", *installed(runs[-1])], capture_output=True,
                             text=True, check=True).stdout
    there = installed(runs[-1]) | set(re.findall(r"Depends: ([a-z0-9.+-]+)", depends))
    found = subprocess.run(["dpkg", "-S", *(f"*/{library}" for library in needed)], capture_output=True, text=True,
                           check=True).stdout
    has = {os.path.basename(path) for package, path in re.findall(r"^(\S+?)(?::\S+)?: (\S+)$", found, re.M)
           if package in there}
    assert set(needed) <= has
