# SPDX-License-Identifier: Apache-2.0
"""Kubernetes events: what is repaired, refused and archived is told on the TeamSpace, once and with a count; nothing
else is, and a pass never depends on it."""

import re
import socket
import threading
import time

import pytest

from fault_support import fault_plane, lab  # noqa: F401
from harness import EVENTS, FINALIZER, LABEL, NAMESPACES, allowed, print_manifest, said, wait_for
from proxy import Answer, Cut, Hold, Respond, Stage

QUOTA = "ResourceQuota team-{0}/team-quota: "
BINDING = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings/cnpa-op"


def break_quota(cluster, name, pods="99", manager="kubectl-patch"):
    cluster.patch(f"{cluster.quota_path(name)}?fieldManager={manager}", {"spec": {"hard": {"pods": pods}}})


def requested(result):
    """Returns the requests of a pass that are about events, as text, with the codes of the answers."""
    return [f"{request.verb} {request.code}" for request in result.requests if request.is_event]


def test_a_repair_is_told_on_the_team_space(cluster):
    name = cluster.converged_team(pods=6)
    assert cluster.events(name) == []
    break_quota(cluster, name)
    result = cluster.converge()
    assert (result.stdout, requested(result)) == ("", ["create 201"])
    assert said("; 1 write in ", result.lines[-1:]), "an event is no write"
    (event,) = cluster.events(name)
    assert event["metadata"]["name"].startswith(f"{name}.")
    assert event["regarding"] == {"apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "name": name,
                                  "uid": cluster.team(name)["metadata"]["uid"]}
    assert event["related"] == {"apiVersion": "v1", "kind": "ResourceQuota", "namespace": f"team-{name}",
                                "name": "team-quota"}
    assert (event["type"], event["reason"], event["action"]) == ("Normal", "Repaired", "Repair")
    assert event["note"] == QUOTA.format(name) + "pods 99 -> 6: was changed by kubectl-patch"
    assert (event["reportingController"], event["reportingInstance"]) == ("platform.labhub.io/cnpa-op",
                                                                           socket.gethostname())
    assert "series" not in event


def test_kubectl_tells_the_story(cluster):
    name = cluster.converged_team(pods=6)
    for pods in ("99", "50"):
        break_quota(cluster, name, pods)
        cluster.converge()
    words = rf"Normal +Repaired +\d+s \(x2 over \d+s\) +platform.labhub.io/cnpa-op +{QUOTA.format(name)}pods 99 -> 6"
    assert said(words, cluster.kubectl("describe", "teamspace", name).stdout)
    assert said(rf"Normal +Repaired +teamspace/{name} +{QUOTA.format(name)}", cluster.kubectl("get", "events").stdout)


def test_the_same_again_is_one_event_with_a_count_and_another_manager_is_another_one(cluster):
    name = cluster.converged_team(pods=6)
    for count in range(1, 5):
        if count == 4:
            time.sleep(1)  # A pass knows the time by whole seconds: this one is a later one.
        break_quota(cluster, name, str(90 + count))
        cluster.forget_passes()  # or this were a fight, which is another event
        result = cluster.converge()
        assert requested(result) == (["create 201"] if count == 1 else ["create 409", "get 200", "patch 200"])
        (event,) = cluster.events(name)
        assert event.get("series", {}).get("count", 1) == count
    assert event["series"]["lastObservedTime"] > event["eventTime"]
    break_quota(cluster, name, manager="helm")
    cluster.converge()
    first, second = cluster.events(name)
    assert (first["series"]["count"], "series" in second) == (4, False)
    assert second["note"].endswith("was changed by helm")


def remove_finalizer(cluster, name):
    cluster.patch_team(name, {"metadata": {"finalizers": None}})
    return f"TeamSpace {name}: finalizer {FINALIZER} was removed: added again"


def delete_quota(cluster, name):
    cluster.api("DELETE", cluster.quota_path(name))
    return QUOTA.format(name) + "was deleted: re-created"


def scope_quota(cluster, name):
    delete_quota(cluster, name)
    cluster.api("POST", f"{NAMESPACES}/team-{name}/resourcequotas?fieldManager=helm", {
        "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "team-quota"},
        "spec": {"scopes": ["NotTerminating"], "hard": {"pods": "6"}}})
    return QUOTA.format(name) + "had scopes, which narrow it, set by helm: re-created"


def add_key(cluster, name):
    cluster.patch(f"{cluster.quota_path(name)}?fieldManager=helm", {"spec": {"hard": {"configmaps": "1"}}})
    return QUOTA.format(name) + "configmaps 1 -> none: was changed by helm"


def change_label(cluster, name):
    cluster.patch(f"{NAMESPACES}/team-{name}?fieldManager=helm", {"metadata": {"labels": {LABEL: "else"}}})
    return f"Namespace team-{name}: label {LABEL} else -> {name}: was changed by helm"


@pytest.mark.parametrize("drift", [remove_finalizer, delete_quota, scope_quota, add_key, change_label],
                         ids=lambda drift: drift.__name__)
def test_every_kind_of_repair_is_told_in_its_words(cluster, drift):
    name = cluster.converged_team(pods=6)
    words = drift(cluster, name)
    cluster.converge()
    (event,) = cluster.events(name)
    assert (event["reason"], event["note"]) == ("Repaired", words)
    assert cluster.once().writes == []


def test_what_a_team_space_asks_for_itself_is_no_event(cluster):
    name = cluster.create_team(pods=6)
    made = cluster.converge()
    cluster.patch_team(name, {"spec": {"pods": 8, "cpu": "2"}})
    changed = cluster.converge()
    quiet = cluster.converge()
    for result in (made, changed, quiet):
        assert requested(result) == []
    assert cluster.hard(name) == {"pods": "8", "requests.cpu": "2"}
    assert cluster.events(name) == []


def test_a_refusal_is_told_when_its_condition_is_written_and_not_again(cluster):
    name = cluster.new_name()
    cluster.create_namespace(name)
    cluster.create_team(name)
    assert requested(cluster.once()) == ["create 201"]
    for _ in range(2):
        again = cluster.once()
        assert (again.code, again.writes, requested(again)) == (1, [], [])
    (event,) = cluster.events(name)
    assert (event["type"], event["reason"], event["action"]) == ("Warning", "NamespaceConflict", "Refuse")
    assert event["note"] == cluster.ready(name)["message"]
    assert "related" not in event


def test_an_archive_is_told(cluster):
    name = cluster.converged_team()
    uid = cluster.team(name)["metadata"]["uid"]
    cluster.delete_team(name)
    cluster.converge()
    (event,) = cluster.events(name)
    assert (event["type"], event["reason"], event["regarding"]["uid"]) == ("Normal", "Archived", uid)
    assert event["note"] == f"archived as {name}.json, finalizer {FINALIZER} removed"


def test_a_team_space_of_the_longest_name_has_its_events(cluster):
    name = cluster.converged_team("a" * 57 + "b")
    delete_quota(cluster, name)
    cluster.converge()
    assert len(cluster.events(name)) == 1


def test_a_dry_run_tells_nobody(cluster):
    name = cluster.converged_team()
    break_quota(cluster, name)
    result = cluster.diff()
    assert (result.code, result.writes, cluster.events(name)) == (1, [], [])


@pytest.mark.parametrize("how", ["flag", "variable", "configuration"])
def test_events_can_be_turned_off(cluster, tmp_path, how):
    name = cluster.converged_team()
    break_quota(cluster, name)
    flags, env = [], {}
    if how == "flag":
        flags = ["--no-events"]
    elif how == "variable":
        env = {"CNPA_OP_NO_EVENTS": "true"}
    else:
        (tmp_path / "config.yaml").write_text("no-events: true\n")
        flags = ["--config", tmp_path / "config.yaml"]
    result = cluster.once(*flags, env=env)
    assert (result.code, len(result.writes), requested(result)) == (0, 1, [])
    assert cluster.events(name) == []


@pytest.fixture
def without_right(cluster):
    """cnpa-op may send no events, until the test is over."""
    def may():
        return allowed(cluster.plane, "cnpa-op", "create", "events", "events.k8s.io", namespace="default")

    cluster.api("DELETE", BINDING)
    wait_for(lambda: not may(), "the right is gone")
    yield
    cluster.kubectl("apply", "-f", "-", input=print_manifest("rbac"))
    wait_for(may, "the right is back")


def test_a_right_that_lacks_is_one_line_and_changes_nothing(cluster, without_right):
    names = [cluster.create_team() for _ in range(12)]
    made = cluster.converge()
    assert not said("events", made.lines), "who sends no event needs no right to"
    for name in names:
        break_quota(cluster, name)
    result = cluster.converge("--concurrency=2")
    assert sorted(result.writes) == [f"patch {cluster.quota_path(name)}" for name in sorted(names)]
    assert said("events", result.lines) == [
        'cnpa-op: warning: no events are sent: forbidden: user "cnpa-op" cannot create events: '
        "cnpa-op rbac | kubectl apply -f -, or --no-events"]
    assert len(requested(result)) <= 2 and set(requested(result)) == {"create 403"}
    assert cluster.once().writes == []


def test_check_warns_of_the_right_that_lacks_unless_there_shall_be_no_events(cluster, without_right):
    checked = cluster.run("check", env={"CNPA_OP_ARCHIVE": cluster.archive})
    assert checked.code == 0, checked
    assert said(r"^warn +rights +events: missing create, get, patch; does without events: "
                r"cnpa-op rbac \| kubectl apply -f -, or --no-events$", checked.stdout)
    silent = cluster.run("check", "--no-events")
    assert silent.code == 0 and not said("events", silent.stdout), silent


# A server that does not do with events as it should -----------------------------------------------------------------


def to_events(exchange):
    return exchange.path.startswith(EVENTS)


FAULTS = {
    "is-away": Respond(Answer.of(503, "no"), when=to_events),
    "wants-less": Respond(Answer.of(429, "later", {"Retry-After": "30"}), when=to_events),
    "is-no-kubernetes": Respond(Answer.of(200, "<html>"), when=to_events),
    "refuses": Respond(Answer.of(422, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "Invalid",
                                       "message": "no", "details": {"name": "x"}, "code": 422}), when=to_events),
    "says-nothing-to-the-count": Respond(Answer.of(409, "no"), verb="POST", when=to_events),
    "hangs-up": Cut(Stage.ARRIVED, when=to_events),
    "hangs-up-once-it-is-done": Cut(Stage.APPLIED, when=to_events),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_a_server_that_does_not_take_events_changes_nothing_else(lab, fault):  # noqa: F811
    names = [f"t{i}" for i in range(5)]
    for name in names:
        lab.make(name)
    lab.run_clean()
    for name in names:
        lab.set_hard(name, {"pods": "99"})
    lab.proxy.add(fault)
    done = lab.run()
    assert done.code == 0, done
    assert re.search(r"^5 team spaces: 5 changed; 5 writes in ", done.output, re.M), done
    assert "event" not in done.output
    assert lab.written_by_a_pass()[0] == []


def test_a_server_that_never_answers_about_events_keeps_a_pass_for_some_seconds_only(lab):  # noqa: F811
    for name in ("a", "b", "c"):
        lab.make(name)
    lab.run_clean()
    for name in ("a", "b", "c"):
        lab.set_hard(name, {"pods": "99"})
    end = threading.Event()
    lab.proxy.add(Hold(Stage.ARRIVED, end, when=to_events))
    began = time.monotonic()
    done = lab.run("--concurrency", "1")
    took = time.monotonic() - began
    end.set()
    assert done.code == 0 and "3 changed; 3 writes in " in done.output, done
    assert took < 15, "one request is waited for, and no other one is begun"
    assert len([exchange for exchange in lab.proxy.log if to_events(exchange)]) == 1
