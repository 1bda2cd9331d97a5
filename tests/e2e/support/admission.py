# SPDX-License-Identifier: Apache-2.0
"""Admission of somebody else on the real API server: a webhook that says no, and a policy that changes what passes it.

Both concern the requests of user cnpa-op, and dry runs of anybody, by which a test sees that they are in force.
"""

import base64
import contextlib
import json

from harness import TEAMS, wait_for
from raw_server import RawServer

REGISTRATION = "/apis/admissionregistration.k8s.io/v1"
CONCERNED = [{"name": "concerned", "expression": "request.userInfo.username == 'cnpa-op' || request.dryRun"}]


class Webhook:
    """A validating webhook on loopback. `decide(review request)` returns the Status of its denial, None to allow, or
    RESET to break the connection; it is asked anew for each request."""

    RESET = object()

    def __init__(self, cluster, resources, decide):
        self.cluster = cluster
        self.decide = decide
        self._server = RawServer(cluster.plane.authority.server("webhook"), self._respond)
        self._name = cluster.new_name("guard")
        self._resources = resources

    def _respond(self, request):
        review = json.loads(request.body)["request"]
        status = self.decide(review)
        if status is self.RESET:
            return request.reset()
        response = {"uid": review["uid"], "allowed": status is None} | ({"status": status} if status else {})
        request.answer(200, {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response})

    def __enter__(self):
        self._server.__enter__()
        ca = base64.b64encode(self.cluster.plane.authority.certificate.read_bytes()).decode()
        self.cluster.api("POST", f"{REGISTRATION}/validatingwebhookconfigurations", {
            "apiVersion": f"{REGISTRATION[6:]}", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": self._name},
            "webhooks": [{"name": "guard.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                          "failurePolicy": "Fail", "timeoutSeconds": 5, "matchConditions": CONCERNED,
                          "clientConfig": {"url": f"{self._server.address}/", "caBundle": ca},
                          "rules": [{"apiGroups": [""], "apiVersions": ["*"], "resources": self._resources,
                                     "operations": ["CREATE", "UPDATE"]}]}]})
        wait_for(lambda: self._asked(), "the webhook is asked")
        return self

    def _asked(self):
        count = len(self._server.requests)
        for resource in self._resources:
            path = "/api/v1/namespaces" + ("" if resource == "namespaces" else f"/default/{resource}")
            kind = {"namespaces": "Namespace", "resourcequotas": "ResourceQuota"}[resource]
            self.cluster.plane.request("POST", f"{path}?dryRun=All", {
                "apiVersion": "v1", "kind": kind, "metadata": {"name": "probe"}})
        return len(self._server.requests) == count + len(self._resources)

    def __exit__(self, *failure):
        self.cluster.api("DELETE", f"{REGISTRATION}/validatingwebhookconfigurations/{self._name}")
        wait_for(lambda: not self._asked_any(), "the webhook is not asked any more")
        self._server.__exit__(*failure)

    def _asked_any(self):
        count = len(self._server.requests)
        self._asked()
        return len(self._server.requests) > count


@contextlib.contextmanager
def mutating_policy(cluster, mutations):
    """A MutatingAdmissionPolicy on all that the binary writes, in force while the block runs.

    Each of `mutations` is a CEL expression for the operations of a JSON Patch; `request.resource.resource`,
    `request.subResource` and `object` say what is written.
    """
    name = cluster.new_name("policy")
    head = {"apiVersion": REGISTRATION[6:], "metadata": {"name": name}}
    rules = [{"apiGroups": ["", "platform.labhub.io"], "apiVersions": ["*"], "operations": ["CREATE", "UPDATE"],
              "resources": ["namespaces", "resourcequotas", "teamspaces", "teamspaces/status"]}]
    probe = "request.dryRun && object.metadata.name == 'probe'"
    mark = f'{probe} ? [JSONPatch{{op: "add", path: "/metadata/annotations", value: {{"in": "force"}}}}] : []'
    cluster.api("POST", f"{REGISTRATION}/mutatingadmissionpolicies", head | {
        "kind": "MutatingAdmissionPolicy",
        "spec": {"reinvocationPolicy": "Never", "matchConstraints": {"resourceRules": rules},
                 "failurePolicy": "Fail", "matchConditions": CONCERNED,
                 "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": expression}}
                               for expression in [*mutations, mark]]}})
    cluster.api("POST", f"{REGISTRATION}/mutatingadmissionpolicybindings", head | {
        "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": name}})

    def in_force():
        answer = cluster.plane.request("POST", f"{TEAMS}?dryRun=All", {
            "apiVersion": "platform.labhub.io/v1alpha1", "kind": "TeamSpace", "metadata": {"name": "probe"},
            "spec": {"pods": 1}})
        return answer.status == 201 and "annotations" in answer.json()["metadata"]

    wait_for(in_force, "the policy is in force")
    try:
        yield
    finally:
        cluster.api("DELETE", f"{REGISTRATION}/mutatingadmissionpolicybindings/{name}")
        cluster.api("DELETE", f"{REGISTRATION}/mutatingadmissionpolicies/{name}")
        wait_for(lambda: not in_force(), "the policy is gone")
