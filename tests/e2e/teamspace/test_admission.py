# SPDX-License-Identifier: Apache-2.0
"""What others' admission says no to, or changes on its way in: told as what it is, once, and never called Ready."""

import json
import signal
import time

import pytest

from admission import Webhook, mutating_policy
from harness import FINALIZER, LABEL, NAMESPACES, TEAMS, said, wait_for

CODES = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "AlreadyExists",
         410: "Gone", 413: "RequestEntityTooLarge", 422: "Invalid", 429: "TooManyRequests", 500: "InternalError",
         503: "ServiceUnavailable"}
DENIED = 'admission webhook "guard.example.com" denied the request: no budget, incident '


def deny(review, code, reason=None):
    """A denial whose words are others each time."""
    return {"code": code, "reason": reason or CODES[code], "message": f"no budget, incident {review['uid']}"}


def code_of(review):
    """Returns the code that the name of the team asks for."""
    parts = (review.get("namespace") or review["name"]).split("-")
    return int(parts[1][1:4]) if parts[0] == "team" else 403


def test_a_denial_is_a_refusal_whatever_its_code_and_is_told_once(cluster):
    teams = {code: cluster.create_team(cluster.new_name(f"c{code}")) for code in CODES}
    with Webhook(cluster, ["namespaces"], lambda review: deny(review, code_of(review))):
        first = cluster.once()
        assert first.code == 1, first
        creates = sorted(write for write in first.writes if write == f"create {NAMESPACES}")
        assert len(creates) == len(teams), "no denial is taken for a lost race, which would be tried again at once"
        told = {}
        for code, name in teams.items():
            ready = told[name] = cluster.ready(name)
            assert (ready["status"], ready["reason"]) == ("False", "WriteFailed"), (code, ready)
            assert DENIED in ready["message"] and f": {code} {CODES[code]}: " in ready["message"]
        assert said(r"^! TeamSpace/\S+ +WriteFailed: .*guard\.example\.com", first.lines), first
        versions = {name: cluster.team(name)["metadata"]["resourceVersion"] for name in told}
        for _ in range(2):
            again = cluster.once()
            assert again.code == 1 and set(again.writes) == {f"create {NAMESPACES}"}, again
            assert len(again.writes) == len(teams)
        diff = cluster.diff("--server")
        assert len(said("guard.example.com", diff.stdout)) >= len(teams) and not said("not checked: .*guard",
                                                                                      diff.stdout), diff
        mark = cluster.mark()
        with cluster.started("reconcile", "--interval=100ms") as loop:
            wait_for(lambda: loop.writes_so_far() >= 4 * len(teams), "four passes")
            loop.signal(signal.SIGTERM)
            looped = loop.finish(20)
        assert set(cluster.writes(mark)) == {f"create {NAMESPACES}"}
        for name, version in versions.items():
            assert len(said(f"TeamSpace/{name} ", looped.lines)) == 1, looped
            assert cluster.team(name)["metadata"]["resourceVersion"] == version
            (event,) = cluster.events(name)
            assert event["reason"] == "WriteFailed" and event.get("series", {}).get("count", 1) == 1
    cluster.converge()
    for name in teams.values():
        assert cluster.ready(name)["status"] == "True"


def test_a_denied_quota_of_a_team_space_that_was_ready(cluster):
    teams = {code: cluster.create_team(cluster.new_name(f"q{code}")) for code in (401, 404, 409, 422)}
    cluster.converge()
    for name in teams.values():
        cluster.patch_team(name, {"spec": {"pods": 9}})
    with Webhook(cluster, ["resourcequotas"], lambda review: deny(review, code_of(review))) as webhook:
        document = json.loads(cluster.once("-o", "json").stdout)
        assert {problem["teamSpace"] for problem in document["problems"]} == set(teams.values()), document
        for name in teams.values():
            ready = cluster.ready(name)
            assert (ready["status"], ready["reason"]) == ("False", "QuotaRefused")
            assert DENIED in ready["message"]
            assert cluster.team(name)["status"]["observedGeneration"] == 1
        # Nor do words that the API server itself makes up count as news: the port of a connection.
        webhook.decide = lambda review: Webhook.RESET
        cluster.once()
        told = {name: cluster.ready(name)["message"] for name in teams.values()}
        assert all("guard.example.com" in message for message in told.values()), told
        mark = cluster.mark()
        for _ in range(3):
            cluster.once()
        assert not said("status|events", cluster.writes(mark))
        assert {name: cluster.ready(name)["message"] for name in teams.values()} == told
        assert all(len(cluster.events(name)) == 2 for name in teams.values())


# What a policy does to the objects of the team whose name begins so. `of` is the resource that it is done to.
OWN_FIELDS = {
    "pods": ("resourcequotas", '[JSONPatch{op: "add", path: "/spec/hard/pods", value: "2"}]',
             r"spec\.hard\.pods was sent as '4' and kept as '2'"),
    "cpu": ("resourcequotas", '[JSONPatch{op: "add", path: "/spec/hard/requests.cpu", value: "7"}]',
            r"spec\.hard\.requests\.cpu was sent as '1' and kept as '7'"),
    "fewer": ("resourcequotas", '[JSONPatch{op: "remove", path: "/spec/hard/pods"}]',
              r"spec\.hard\.pods was sent as '4' and kept as nothing"),
    "more": ("resourcequotas", '[JSONPatch{op: "add", path: "/spec/hard/secrets", value: "1"}]',
             r"spec\.hard\.secrets was sent as nothing and kept as '1'"),
    "scopes": ("resourcequotas", 'request.operation == "CREATE" ? '
               '[JSONPatch{op: "add", path: "/spec/scopes", value: ["NotTerminating"]}] : []',
               r"spec\.scopes was sent as nothing and kept as 'NotTerminating'"),
    "label": ("namespaces", '[JSONPatch{op: "add", path: "/metadata/labels/" + jsonpatch.escapeKey("%s"), '
              'value: "other"}]' % LABEL, r"metadata\.labels\['platform\.labhub\.io/teamspace'\] was sent as .* 'other'"),
    "unlabeled": ("namespaces", '[JSONPatch{op: "remove", path: "/metadata/labels/" + jsonpatch.escapeKey("%s")}]'
                  % LABEL, r"metadata\.labels.* and kept as nothing"),
    "owner": ("namespaces", 'has(object.metadata.ownerReferences) ? '
              '[JSONPatch{op: "remove", path: "/metadata/ownerReferences"}] : []',
              r"metadata\.ownerReferences was sent as .* and kept as nothing"),
    "finalizer": ("teamspaces", 'has(object.metadata.finalizers) ? '
                  '[JSONPatch{op: "remove", path: "/metadata/finalizers"}] : []',
                  r"metadata\.finalizers was sent as .* and kept as nothing"),
    "status": ("teamspaces/status", 'has(object.status.namespace) ? '
               '[JSONPatch{op: "add", path: "/status/namespace", value: "elsewhere"}] : []',
               r"status\.namespace was sent as .* and kept as 'elsewhere'"),
}


def mutation(stem, of, operations):
    resource, _, subresource = of.partition("/")
    name = {"resourcequotas": "request.namespace", "namespaces": "object.metadata.name"}.get(
        resource, '"team-" + object.metadata.name')
    return (f'request.resource.resource == "{resource}" && (has(request.subResource) ? request.subResource : "") == "{subresource}" && '
            f'({name}).startsWith("team-{stem}-") ? ({operations}) : []')


def test_what_a_policy_changes_is_never_ready_and_is_not_sent_again_and_again(cluster):
    teams = {stem: cluster.create_team(cluster.new_name(stem)) for stem in OWN_FIELDS}
    fine = cluster.create_team(cluster.new_name("fine"))
    with mutating_policy(cluster, [mutation(stem, of, operations)
                                   for stem, (of, operations, _) in OWN_FIELDS.items()]):
        first = cluster.once()
        began = time.monotonic()
        assert first.code == 1, first
        # An own field that goes in the answer to the creation: the next pass knows what it sees.
        results = [first] + [cluster.once() for _ in range(3)]
        for stem, name in teams.items():
            words = OWN_FIELDS[stem][2]
            for result in results:
                reason = "QuotaRefused" if OWN_FIELDS[stem][0] == "resourcequotas" else "WriteFailed"
                assert said(rf"^! TeamSpace/{name} +{reason}: .*{words}.*an admission policy or webhook",
                            result.lines), (stem, result)
            if stem == "status":
                continue  # It can't be told there.
            ready, status = cluster.ready(name), cluster.team(name)["status"]
            assert ready["status"] == "False" and "observedGeneration" not in status, (stem, status)
        assert cluster.ready(fine)["status"] == "True"
        # The second pass finds the namespaces of those that failed by theirs, and names them.
        assert all(write.endswith("/status") for write in results[1].writes), results[1]
        for result in results[2:]:
            assert result.code == 1 and result.writes == [], result
        assert not said("[Cc]ontested", [line for result in results for line in result.lines])
        diff = cluster.diff("--server")
        for stem in ("pods", "label", "finalizer", "status"):
            assert said(OWN_FIELDS[stem][2], diff.stdout), (stem, diff)
        # It is tried again after a while, and then after a longer one.
        time.sleep(max(0, began + 11 - time.monotonic()))
        again = cluster.once()
        assert said("resourcequotas/team-quota", again.writes), again
        assert cluster.once().writes == []
        # A spec that changes is tried at once.
        cluster.patch_team(teams["pods"], {"spec": {"pods": 2}})
        assert f"patch {TEAMS}/{teams['pods']}/status" in cluster.once().writes
        assert cluster.ready(teams["pods"])["status"] == "True", "what is asked for is what is kept"
    cluster.forget_passes()
    cluster.converge()
    for name in teams.values():
        assert cluster.ready(name)["status"] == "True"
        assert FINALIZER in cluster.team(name)["metadata"]["finalizers"]
    assert cluster.once().writes == []


@pytest.mark.parametrize("reason", ["Forbidden", "Invalid", "RequestEntityTooLarge"])
def test_a_denial_by_a_validating_policy_is_a_refusal_whatever_its_reason(cluster, reason):
    name = cluster.create_team(cluster.new_name("vap"))
    head = {"apiVersion": "admissionregistration.k8s.io/v1", "metadata": {"name": f"policy-{name}"}}
    policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic"
    cluster.api("POST", f"{policies}ies", head | {"kind": "ValidatingAdmissionPolicy", "spec": {
        "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["namespaces"],
                                                "operations": ["CREATE"]}]},
        "validations": [{"expression": f"object.metadata.name != 'team-{name}'", "message": "not this one",
                         "reason": reason}]}})
    cluster.api("POST", f"{policies}ybindings", head | {"kind": "ValidatingAdmissionPolicyBinding", "spec": {
        "policyName": f"policy-{name}", "validationActions": ["Deny"]}})
    probe = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"team-{name}"}}
    wait_for(lambda: cluster.plane.request("POST", f"{NAMESPACES}?dryRun=All", probe).status >= 400, "it is in force")
    try:
        assert cluster.once().code == 1
        ready = cluster.ready(name)
        assert ready["reason"] == "WriteFailed" and "denied request: not this one" in ready["message"], ready
    finally:
        cluster.api("DELETE", f"{policies}ybindings/policy-{name}")
        cluster.api("DELETE", f"{policies}ies/policy-{name}")
