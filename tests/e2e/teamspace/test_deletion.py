# SPDX-License-Identifier: Apache-2.0
"""What a pass does to a TeamSpace that is being deleted (contract, section 2)."""

import stat

import pytest

from harness import FINALIZER, TEAMS, said

OTHER = "example.com/other"


def deleting_team(cluster, **options):
    """Returns the name and the uid of a TeamSpace that was converged and is being deleted."""
    name = cluster.converged_team(**options)
    cluster.delete_team(name)
    return name, cluster.team(name)["metadata"]["uid"]


def test_deleted_team_space_stays_until_a_pass_has_archived_it(cluster):
    name, _ = deleting_team(cluster)
    assert cluster.team(name)["metadata"]["finalizers"] == [FINALIZER]
    assert cluster.converge().writes == [f"patch {TEAMS}/{name}"]
    assert cluster.team(name) is None


def test_archive_tells_name_uid_pods_cpu_generation_and_times(cluster):
    name, uid = deleting_team(cluster, pods=6, cpu="500m")
    deleted_at = cluster.team(name)["metadata"]["deletionTimestamp"]
    cluster.converge()
    record = cluster.archived(f"{name}.json")
    assert record | {"archivedAt": ""} == {
        "version": 1, "name": name, "uid": uid, "pods": 6, "cpu": "500m", "generation": 2, "deletedAt": deleted_at,
        "archivedAt": "", "spec": {"pods": 6, "cpu": "500m"}}
    assert record["archivedAt"] >= deleted_at


def test_archive_folder_and_file_are_for_their_owner_only(cluster):
    name, _ = deleting_team(cluster)
    cluster.converge()
    assert stat.S_IMODE(cluster.archive.stat().st_mode) == 0o700
    assert stat.S_IMODE((cluster.archive / f"{name}.json").stat().st_mode) == 0o600
    # No temporary file is left.
    assert sorted(path.name for path in cluster.archive.iterdir()) == [".cnpa-op.lock", f"{name}.json"]


def test_earlier_archive_of_the_same_name_and_another_uid_is_kept(cluster):
    name = cluster.new_name()
    uids = []
    for pods in (1, 2, 3):
        cluster.create_team(name, pods=pods, finalizers=[FINALIZER])
        uids.append(cluster.team(name)["metadata"]["uid"])
        cluster.delete_team(name)
        cluster.converge()
    assert cluster.archived(f"{name}.json")["uid"] == uids[2]
    assert [cluster.archived(f"{name}.{uid}.json")["pods"] for uid in uids[:2]] == [1, 2]
    assert len(cluster.archives()) == 3


def test_archive_of_one_that_is_held_up_is_written_and_told_once_and_kept_up_to_date(cluster, without):
    name, _ = deleting_team(cluster, pods=2)
    without("platform.labhub.io", "teamspaces", "patch")
    metrics = cluster.home / "cnpa-op.prom"
    file = cluster.archive / f"{name}.json"

    def held(line_count):
        result = cluster.once("--metrics-file", metrics)
        assert result.code == 1 and said("Forbidden", result.lines), result
        assert len(said(f"archive of TeamSpace {name}", result.lines)) == line_count, result
        [counted] = said('writes_total.*kind="Archive"', metrics.read_text())
        assert counted.endswith(f" {line_count}")
        metrics.unlink()
        return file.stat().st_mtime_ns

    first = held(1)
    assert held(0) == first
    assert '"archive"' not in cluster.once("-o", "json").stdout
    cluster.patch_team(name, {"spec": {"pods": 7}})
    held(1)
    assert cluster.archived(f"{name}.json")["pods"] == 7
    assert cluster.archived(f"{name}.json")["generation"] == 3


@pytest.mark.parametrize("content", ["", "not json", "{}", '{"uid": "UID"}', '{"uid": "../../etc/x"}', "[" * 5000],
                         ids=["empty", "text", "no-uid", "only-uid", "path", "deep"])
def test_earlier_archive_that_cannot_be_read_is_kept_too(cluster, content):
    name, uid = deleting_team(cluster)
    cluster.archive.mkdir(mode=0o700)
    content = content.replace("UID", uid)
    (cluster.archive / f"{name}.json").write_text(content)
    cluster.converge()
    assert cluster.archived(f"{name}.json")["uid"] == uid
    [other] = set(cluster.archives()) - {f"{name}.json"}
    assert (cluster.archive / other).read_text() == content


def test_only_our_finalizer_is_taken_off_and_others_keep_their_order(cluster):
    name = cluster.converged_team()
    finalizers = ["example.com/b", FINALIZER, "example.com/a"]
    cluster.patch_team(name, {"metadata": {"finalizers": finalizers}})
    cluster.delete_team(name)
    cluster.converge()
    assert cluster.team(name)["metadata"]["finalizers"] == ["example.com/b", "example.com/a"]


def test_our_finalizer_comes_off_wherever_it_stands_in_one_pass(cluster):
    name = cluster.create_team(finalizers=[FINALIZER, OTHER, FINALIZER])
    cluster.converge()
    cluster.delete_team(name)
    cluster.converge()
    assert cluster.team(name)["metadata"]["finalizers"] == [OTHER]


def test_archive_failed_is_taken_out_of_the_status_once_the_archive_is_written(cluster):
    name, _ = deleting_team(cluster, finalizers=[OTHER])
    cluster.archive.write_text("in the way of the folder")
    assert cluster.once().code == 1
    assert cluster.ready(name)["reason"] == "ArchiveFailed"
    cluster.archive.unlink()
    cluster.converge()
    team = cluster.team(name)
    assert team["status"]["conditions"] == []
    assert team["status"]["observedGeneration"] < team["metadata"]["generation"]
    assert cluster.once().writes == []


def test_archive_holds_the_whole_spec_labels_and_annotations(cluster):
    labels, annotations = {"example.com/team": "a"}, {"example.com/note": 'two\nlines, "ä" \u2028 and \\'}
    name, _ = deleting_team(cluster, pods=3, cpu="500m", labels=labels, annotations=annotations)
    cluster.converge()
    archive = cluster.archived(f"{name}.json")
    assert archive["spec"] == {"pods": 3, "cpu": "500m"}
    assert (archive["labels"], archive["annotations"]) == (labels, annotations)


def test_team_space_held_by_others_stays_untouched_by_later_passes(cluster):
    name, _ = deleting_team(cluster, finalizers=[OTHER])
    cluster.converge()
    archive = (cluster.archive / f"{name}.json").stat().st_mtime_ns
    for _ in range(2):
        result = cluster.once()
        assert (result.code, result.writes, result.stderr) == (0, [], "")
    assert (cluster.archive / f"{name}.json").stat().st_mtime_ns == archive


def test_no_finalizer_is_put_back_on_a_team_space_that_is_being_deleted(cluster):
    name = cluster.create_team(finalizers=[OTHER])
    cluster.delete_team(name)
    result = cluster.once()
    assert (result.code, result.writes) == (0, [])
    assert cluster.team(name)["metadata"]["finalizers"] == [OTHER]
    assert cluster.namespace(name) is None
    assert not cluster.archive.exists() or not cluster.archives()


def test_namespace_and_quota_of_a_team_space_that_is_being_deleted_are_left_alone(cluster):
    name, _ = deleting_team(cluster, finalizers=[OTHER])
    cluster.patch_quota(name, {"pods": "99"})
    cluster.converge()
    assert cluster.once().writes == []
    assert cluster.hard(name)["pods"] == "99"
    assert "deletionTimestamp" not in cluster.namespace(name)["metadata"]


def test_missing_namespace_of_a_team_space_that_is_being_deleted_is_not_made(cluster):
    name = cluster.create_team(finalizers=[FINALIZER, OTHER])
    cluster.delete_team(name)
    cluster.converge()
    assert cluster.namespace(name) is None
    assert cluster.archived(f"{name}.json")["name"] == name


def test_status_of_a_team_space_that_is_being_deleted_is_not_written(cluster):
    name, _ = deleting_team(cluster, finalizers=[OTHER])
    before = cluster.team(name)["status"]
    assert cluster.converge().writes == [f"patch {TEAMS}/{name}"]
    after = cluster.team(name)
    assert after["status"] == before
    assert after["status"]["observedGeneration"] < after["metadata"]["generation"]


def test_spec_edited_while_being_deleted_is_archived_and_not_applied(cluster):
    name, _ = deleting_team(cluster, finalizers=[OTHER], pods=6)
    cluster.patch_team(name, {"spec": {"pods": 8}})
    cluster.converge()
    assert cluster.archived(f"{name}.json")["pods"] == 8
    assert cluster.hard(name)["pods"] == "6"


def test_report_names_what_was_deleted_and_where_it_is_archived(cluster):
    name, _ = deleting_team(cluster)
    result = cluster.converge()
    assert said(rf"{name}\.json", result.lines)
    assert said(rf"^- TeamSpace/{name} ", result.lines)
    assert said(r"^1 team space: 1 deleted; 1 write in ", result.lines)


def test_diff_of_a_deletion_archives_nothing_and_takes_nothing_off(cluster):
    name, _ = deleting_team(cluster)
    result = cluster.diff()
    assert (result.code, result.writes) == (1, [])
    assert result.stdout.splitlines()[-1] == "Plan: 1 to release."
    assert not cluster.archive.exists()
    assert cluster.team(name)["metadata"]["finalizers"] == [FINALIZER]
