# SPDX-License-Identifier: Apache-2.0
"""A table of kubeconfigs, each given to kubectl and to cnpa-op: the same server, identity and refusal come out.

Where that is not so, the row says why. Then what kubectl has no equal of: the credentials kept between passes, and a
kubeconfig that others can write.
"""

import json
import os
import queue
import re
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from fault_support import NOBODY, usable_by_nobody
from harness import allowed, run_binary, said, wait_for
from kubectl_support import PLUGIN, World, answer, config, differs, entry, plugin, refused, same, sees
from raw_support import table

TOKEN = {"token": "t1"}
BASIC = {"username": "ann", "password": "pass"}
CERTIFICATE = {"client-certificate-data": "@CERT@", "client-key-data": "@KEY@"}
NO_CA = {"certificate-authority-data": None}
INSECURE = NO_CA | {"insecure-skip-tls-verify": True}
BEARER, ANN = "Bearer t1", "Basic YW5uOnBhc3M="
LOCALHOST = "localhost:8080 was refused"  # where kubectl goes that has no server
ASKS = "EOF"  # of the terminal: kubectl asks for user and password where it has neither
NOWHERE = "kubectl takes localhost:8080 for a server where none is named"
NOBODY_TO_ASK = "kubectl asks at the terminal for what is lacking; a timer has nobody to ask"
TWO = config({"token": "t2"}, {"server": "@two@"})
B = config({"token": "t2"}, {"server": "@two@"}, current="b", names=("b", "b", "b"))


def listed(*files):
    """Returns a $KUBECONFIG."""
    return {"KUBECONFIG": ":".join(f"@folder@/{file}" for file in files)}


FILES = [
    same("credentials in the file", config(CERTIFICATE), subject="alice"),
    same("credentials in files", config({"client-certificate": "@cert@", "client-key": "@key@"},
                                        NO_CA | {"certificate-authority": "@ca@"}), subject="alice"),
    same("relative paths", {"config": config({"client-certificate": "me.crt", "client-key": "./keys/me.key"},
                                             NO_CA | {"certificate-authority": "ca.crt"}),
                            "me.crt": "@CERT_PEM@", "keys/me.key": "@KEY_PEM@", "ca.crt": "@CA_PEM@"}, subject="alice"),
    same("relative path of the kubeconfig", {"~/conf/file": config({"tokenFile": "../token"}), "~/token": "t5"},
         flags=("--kubeconfig", "conf/file"), authorization="Bearer t5"),
    same("JSON", json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": "@two@", "certificate-authority-data": "@CA@"}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": TOKEN}]}), server="two", authorization=BEARER),
    same("file in the home folder", {"~/.kube/config": TWO}, server="two", authorization="Bearer t2"),
    same("neither kind nor apiVersion", config(TOKEN).replace("apiVersion: v1\nkind: Config\n", ""),
         authorization=BEARER),
    same("unknown fields", config(TOKEN | {"nonsense": 1}, {"nonsense": {"a": [1]}},
                                  more="nonsense: [1]\nextensions: []\npreferences: {colors: true}\n"),
         authorization=BEARER),
    same("anchor and alias", config().replace("users:\n", "users:\n- name: z\n  user: &u {token: t4}\n")
         .replace("  user: {}", "  user: *u"), authorization="Bearer t4"),
    same("two documents", config(TOKEN) + "---\n" + TWO, authorization=BEARER),
    same("byte order mark", "\ufeff" + config(TOKEN), authorization=BEARER),
    same("lines that end as in DOS", config(TOKEN).replace("\n", "\r\n"), authorization=BEARER),
    same("entry that is null", config(TOKEN) + "- null\n", authorization=BEARER),
    refused("missing file", {}, "no such file", "no such file", flags=("--kubeconfig", "@folder@/config")),
    refused("a folder", {"folder/x": ""}, "is a directory", "is a directory",
            flags=("--kubeconfig", "@folder@/folder")),
    refused("another kind", config(TOKEN).replace("kind: Config", "kind: Pod"), 'no kind "Pod"', "its kind is 'Pod'"),
    refused("broken YAML", "]:", "yaml: ", "line 1: not YAML"),
    refused("tab for blanks", config(TOKEN).replace("    token", "\ttoken"), "yaml: line 17", "line 17: not YAML"),
    refused("words", "just words", "cannot unmarshal string", "not a kubeconfig: no map"),
    refused("a list", "- a\n", "cannot unmarshal array", "not a kubeconfig: no map"),
    refused("map for a list", config(TOKEN).replace("clusters:\n- name: a\n", "clusters:\n  name: a\n"),
            "cannot unmarshal object", "'clusters' is not a list"),
    refused("cluster twice", config(TOKEN).replace("contexts:", entry("cluster", "a", {"server": "@two@"}) +
                                                   "contexts:"), 'duplicate name "a"', 'two clusters are called "a"'),
    refused("user twice", config(TOKEN) + entry("user", "a", {"token": "t2"}), 'duplicate name "a"',
            'two users are called "a"'),
    differs("empty file", NOWHERE, "", LOCALHOST, "not a kubeconfig: it has no clusters, users, contexts"),
    differs("key twice", "kubectl takes the last one, and a reader the first", config(TOKEN) + "    token: t2\n",
            sees(authorization="Bearer t2"), "token: stands here twice"),
]

LISTS = [
    same("list merges", {"1": config(TOKEN, {"server": "@two@"}, current='""'), "2": config(
        {"token": "t2"}, names=("b", "b", "b"), current="b")}, env=listed("1", "2"), authorization="Bearer t2"),
    same("cluster, user and context in three files", {
        "1": "clusters:\n" + entry("cluster", "a", {"server": "@two@", "certificate-authority-data": "@CA@"}),
        "2": "users:\n" + entry("user", "u", {"tokenFile": "token"}), "token": "t1",
        "3": "current-context: c\ncontexts:\n" + entry("context", "c", {"cluster": "a", "user": "u"})},
         env=listed("1", "2", "3"), server="two", authorization=BEARER),
    same("relative paths of the file each stands in", {
        "x/1": "users:\n" + entry("user", "a", {"tokenFile": "token"}), "x/token": "tx", "y/2": config(TOKEN),
        "y/token": "ty"}, env=listed("x/1", "y/2"), authorization="Bearer tx"),
    same("first current context wins", {"1": config(TOKEN), "2": B}, env=listed("1", "2"), authorization=BEARER),
    same("the other way round", {"1": config(TOKEN), "2": B}, env=listed("2", "1"), server="two",
         authorization="Bearer t2"),
    same("first of a name wins, and whole", {"1": config(TOKEN), "2": config(
        CERTIFICATE, {"server": "@two@", "tls-server-name": "kubernetes.test"})}, env=listed("1", "2"),
         authorization=BEARER),
    same("missing file in a list", {"2": config(TOKEN)}, env=listed("1", "2"), authorization=BEARER),
    same("empty file in a list", {"1": "", "2": config(TOKEN)}, env=listed("1", "2"), authorization=BEARER),
    same("empty names in a list", {"2": config(TOKEN)}, env={"KUBECONFIG": ":@folder@/2:"}, authorization=BEARER),
    same("empty variable", {"~/.kube/config": config(TOKEN)}, env={"KUBECONFIG": ""}, authorization=BEARER),
    same("relative name in a list", {"~/file": config(TOKEN)}, env={"KUBECONFIG": "file"}, authorization=BEARER),
    same("variable beats the home folder", {"1": config(TOKEN), "~/.kube/config": TWO}, env=listed("1"),
         authorization=BEARER),
    same("flag beats variable", {"config": config(TOKEN), "2": TWO}, env=listed("2"), authorization=BEARER),
    same("context of another file", {"1": config(TOKEN), "2": B}, env=listed("1", "2"), flags=("--context", "b"),
         server="two", authorization="Bearer t2"),
    refused("broken file in a list", {"1": "]:", "2": config(TOKEN)}, "yaml: ", "/1' is not a kubeconfig",
            env=listed("1", "2")),
    refused("folder in a list", {"1/x": "", "2": config(TOKEN)}, "is a directory", "is a directory",
            env=listed("1", "2")),
    differs("list without a file", NOWHERE, {}, LOCALHOST, "no such file", env=listed("1", "2")),
]

CONTEXTS = [
    same("other context", config(TOKEN).replace("users:", entry("context", "b", {"cluster": "a", "user": "b"}) +
                                                "users:") + entry("user", "b", {"token": "t2"}),
         flags=("--context", "b"), authorization="Bearer t2"),
    refused("other context is missing", config(TOKEN), 'context "b" does not exist', 'no context "b"',
            flags=("--context", "b")),
    refused("current context is missing", config(TOKEN, current="b"), "context was not found", 'no context "b"'),
    refused("nothing but a current context", "kind: Config\ncurrent-context: a\n", "context was not found",
            "not a kubeconfig"),
    differs("no current context", NOWHERE, config(TOKEN, current='""'), LOCALHOST, "no current-context"),
    differs("cluster is missing", NOWHERE, config(TOKEN, context={"cluster": "b"}), LOCALHOST, 'no cluster "b"'),
    differs("no cluster", NOWHERE, config(TOKEN, context={"cluster": None}), LOCALHOST, 'no cluster ""'),
    differs("user is missing", NOBODY_TO_ASK, config(TOKEN, context={"user": "b"}), ASKS, 'no user "b"'),
    differs("no user", NOBODY_TO_ASK, config(TOKEN, context={"user": None}), ASKS, sees()),
    differs("user without credentials", NOBODY_TO_ASK, config(), ASKS, sees()),
]

CREDENTIALS = [
    same("token", config(TOKEN), authorization=BEARER),
    same("token with blanks", config({"token": " t1 "}), authorization="Bearer  t1"),
    same("token file", {"config": config({"tokenFile": "token"}), "token": " \tt2 \r\n\n"}, authorization="Bearer t2"),
    same("token file beats token", {"config": config(TOKEN | {"tokenFile": "token"}), "token": "t2\n"},
         authorization="Bearer t2"),
    same("basic", config(BASIC), authorization=ANN),
    same("basic without password", config({"username": "ann"}), authorization="Basic YW5uOg=="),
    same("basic beyond ASCII", config({"username": "änn", "password": "pß:"}), authorization="Basic w6Rubjpww586"),
    same("certificate and token", config(CERTIFICATE | TOKEN), subject="alice", authorization=BEARER),
    same("certificate and basic", config(CERTIFICATE | BASIC), subject="alice", authorization=ANN),
    same("base64 with a line break", config(CERTIFICATE | {"client-key-data": "@KEY@\n"}), subject="alice"),
    same("certificate and key in one file", {"config": config({"client-certificate": "pem", "client-key": "pem"}),
                                             "pem": "@KEY_PEM@some words\n@CERT_PEM@@CA_PEM@"}, subject="alice"),
    same("empty fields", config(CERTIFICATE | {"token": "", "tokenFile": "", "username": "", "as": ""}),
         subject="alice"),
    refused("certificate as file and data", config(CERTIFICATE | {"client-certificate": "@cert2@"}),
            "both specified for a", "both client-certificate and client-certificate-data"),
    refused("key as file and data", config(CERTIFICATE | {"client-key": "@key@"}), "both specified for a",
            "both client-key and client-key-data"),
    refused("CA as file and data", config(TOKEN, {"certificate-authority": "@ca@"}), "both specified for a",
            "both certificate-authority and certificate-authority-data"),
    refused("certificate without key", config(CERTIFICATE | {"client-key-data": None}), "must be specified for a",
            "client-key: missing"),
    refused("key without certificate", config(CERTIFICATE | {"client-certificate-data": None}), ASKS,
            "client-certificate: missing"),
    refused("key of another certificate", config(CERTIFICATE | {"client-key-data": "@KEY2@"}), "does not match",
            "does not belong to the client certificate"),
    refused("certificate file is missing", config({"client-certificate": "nowhere", "client-key": "@key@"}),
            "nowhere: no such file", "nowhere': no such file"),
    refused("no base64", config(CERTIFICATE | {"client-certificate-data": "%%%"}), "illegal base64", "not base64"),
    refused("no certificate", config(CERTIFICATE | {"client-certificate-data": "Z2FyYmFnZQ=="}), "any PEM data",
            "no PEM certificate"),
    refused("token file is missing", config({"tokenFile": "nowhere"}), "nowhere: no such file", "nowhere': no such"),
    refused("token file is empty", {"config": config({"tokenFile": "token"}), "token": "\n"}, "invalid header field",
            "'token' is empty"),
    refused("token file of two lines", {"config": config({"tokenFile": "token"}), "token": "t1\nt2"},
            "invalid header field", "line break"),
    refused("token of two lines", config({"token": "t1\nt2"}), "invalid header field", "line break"),
    refused("token with a line break at its end", config({"token": "t1\n"}), "invalid header field", "line break"),
    refused("token with a control character", config({"token": "t\x01"}), "invalid header field", "control character"),
    refused("token file with a DEL", {"config": config({"tokenFile": "token"}), "token": "t\x7f"},
            "invalid header field", "control character"),
    refused("as with a control character", config(TOKEN | {"as": "j\x1bo"}), "invalid header field",
            "control character"),
    same("token with a tab", config({"token": "t\t1"}), authorization="Bearer t\t1"),
    refused("token and basic", config(TOKEN | BASIC), "only one is allowed", "a token too: keep one"),
    refused("token file and basic", {"config": config(BASIC | {"tokenFile": "token"}), "token": "t1"}, "not both",
            "a token too: keep one"),
    refused("auth-provider", config({"auth-provider": {"name": "gcp"}}), "has been removed", "auth-provider: "),
    differs("name with a colon", "RFC 7617 has no such names: the server takes another name out of it",
            config(BASIC | {"username": "an:n"}), sees(authorization="Basic YW46bjpwYXNz"), "has a ':' in it"),
    differs("base64 with a blank", "kubectl takes line breaks only; a blank does no harm either",
            config(CERTIFICATE | {"client-key-data": " @KEY@"}), "illegal base64", sees(subject="alice")),
    differs("password without name", NOBODY_TO_ASK, config({"password": "p"}), ASKS, sees(authorization="Basic OnA=")),
]

IMPERSONATION = [
    same("as", config(TOKEN | {"as": "jo"}), authorization=BEARER, impersonate={"impersonate-user": ["jo"]}),
    same("as with a certificate", config(CERTIFICATE | {"as": "jö"}), subject="alice",
         impersonate={"impersonate-user": ["jö".encode().decode("latin-1")]}),
    same("as-uid", config(TOKEN | {"as": "jo", "as-uid": "7"}), authorization=BEARER,
         impersonate={"impersonate-user": ["jo"], "impersonate-uid": ["7"]}),
    same("as-groups", config(TOKEN | {"as": "jo", "as-groups": ["g2", "g1"]}), authorization=BEARER,
         impersonate={"impersonate-user": ["jo"], "impersonate-group": ["g2", "g1"]}),
    same("as-user-extra", config(TOKEN | {"as": "jo", "as-user-extra": {
        "scopes": ["x", "y"], "example.org/a b%c": ["z"], "Ä": ["u"], "UPPER": ["v"], "none": [],
        "a:b\"(c)<d>@{e}~|!#$&'*+-.^_`": ["w"]}}), authorization=BEARER, impersonate={
             "impersonate-extra-a%3ab%22%28c%29%3cd%3e%40%7be%7d~|!#$&'*+-.^_`": ["w"],
             "impersonate-user": ["jo"], "impersonate-extra-scopes": ["x", "y"], "impersonate-extra-%c3%84": ["u"],
             "impersonate-extra-example.org%2fa%20b%25c": ["z"], "impersonate-extra-upper": ["v"]}),
    *(refused(f"{next(iter(fields))} without as", config(TOKEN | fields), "without impersonating a user", "as: missing")
      for fields in ({"as-groups": ["g"]}, {"as-uid": "7"}, {"as-user-extra": {"a": ["g"]}})),
    refused("as of two lines", config(TOKEN | {"as": "j\no"}), "invalid header field", "line break"),
    refused("as-user-extra of two lines", config(TOKEN | {"as": "jo", "as-user-extra": {"a": ["x\ny"]}}),
            "invalid header field", "line break"),
    refused("as-groups is a text", config(TOKEN | {"as": "jo", "as-groups": "g"}), "cannot unmarshal string",
            "as-groups: not a list"),
    refused("as-user-extra has texts", config(TOKEN | {"as": "jo", "as-user-extra": {"a": "b"}}),
            "cannot unmarshal string", "not a map of lists"),
]

SERVERS = [
    same("tls-server-name", config(TOKEN, {"tls-server-name": "kubernetes.test"}), sni="kubernetes.test",
         authorization=BEARER),
    same("tls-server-name is an IPv6 address", config(TOKEN, {"tls-server-name": "::1"}), authorization=BEARER),
    differs("tls-server-name in capitals", "libcurl asks for it in small letters, which means the same",
            config(TOKEN, {"tls-server-name": "KUBERNETES.test"}), sees(sni="KUBERNETES.test", authorization=BEARER),
            sees(sni="kubernetes.test", authorization=BEARER)),
    refused("tls-server-name is a path", config(TOKEN, {"tls-server-name": "a/b"}), "not a/b",
            "tls-server-name: neither"),
    refused("tls-server-name has a user", config(TOKEN, {"tls-server-name": "u@h"}), "not u@h",
            "tls-server-name: neither"),
    *(same(f"two authorities of one name, {order}", {"config": config(TOKEN, NO_CA | {"certificate-authority": "ca"}),
                                                     "ca": text}, authorization=BEARER)
      for order, text in (("old and new", "@CA2_PEM@@CA_PEM@"), ("new and old", "@CA_PEM@@CA2_PEM@"))),
    refused("another authority of that name", config(TOKEN, {"certificate-authority-data": "@CA2@"}),
            "certificate signed by unknown authority", "though one has that name", code=3),
    refused("common name without an alternative name", config(TOKEN, {
        "server": "@nameless@", "certificate-authority-data": "@NAMELESSCA@"}), "any IP SANs",
            "names no host in its subject alternative names", code=3),
    same("tls-server-name, unverified", config(TOKEN, INSECURE | {"tls-server-name": "other.test"}), sni="other.test",
         authorization=BEARER),
    same("by name", config(TOKEN, {"server": "https://localhost:@port@"}), sni="localhost", authorization=BEARER),
    same("insecure", config(TOKEN, INSECURE), authorization=BEARER),
    same("insecure with a certificate", config(CERTIFICATE, INSECURE), subject="alice"),
    same("path", config(TOKEN, {"server": "@one@/k8s/clusters/c-1"}), prefix="/k8s/clusters/c-1", authorization=BEARER),
    same("path with a slash at its end", config(TOKEN, {"server": "@one@/k8s/"}), prefix="/k8s", authorization=BEARER),
    same("escaped path", config(TOKEN, {"server": "@one@/k%20s"}), prefix="/k%20s", authorization=BEARER),
    same("slash", config(TOKEN, {"server": "@one@/"}), authorization=BEARER),
    same("query", config(TOKEN, {"server": "@one@/?a=b"}), authorization=BEARER),
    same("fragment", config(TOKEN, {"server": "@one@#x"}), authorization=BEARER),
    same("scheme in capitals", config(TOKEN, {"server": "HTTPS://127.0.0.1:@port@"}), authorization=BEARER),
    refused("no CA", config(TOKEN, NO_CA), "unknown authority", "not trusted", code=3),
    refused("CA file is empty", {"config": config(TOKEN, NO_CA | {"certificate-authority": "ca"}), "ca": ""},
            "unknown authority", "not trusted", code=3),
    refused("CA file is missing", config(TOKEN, NO_CA | {"certificate-authority": "nowhere"}),
            "nowhere: no such file", "nowhere': no such file"),
    refused("CA is garbage", config(TOKEN, {"certificate-authority-data": "Z2FyYmFnZQ=="}), "unable to parse bytes",
            "no PEM certificate"),
    refused("CA and insecure", config(TOKEN, {"insecure-skip-tls-verify": True}), "is not allowed",
            "certificate-authority too: keep one"),
    refused("another tls-server-name", config(TOKEN, {"tls-server-name": "other.test"}), "not other.test",
            "for another name", code=3),
    refused("no address", config(TOKEN, {"server": "not a url"}), "invalid character", "is not an address"),
    refused("blank before the address", config(TOKEN, {"server": " @one@"}), "invalid character", "is not an address"),
    refused("ftp", config(TOKEN, {"server": "ftp://127.0.0.1:@port@"}), "unsupported protocol scheme",
            "does not begin with https://"),
    refused("port that is none", config(TOKEN, {"server": "https://127.0.0.1:99999"}), "invalid port",
            "is not an address"),
    refused("no host", config(TOKEN, {"server": "https://:@port@"}), "ServerName", "is not an address"),
    differs("no server", NOWHERE, config(TOKEN, {"server": None}), LOCALHOST, "server: missing"),
    differs("empty server", NOWHERE, config(TOKEN, {"server": ""}), LOCALHOST, "server: missing"),
    differs("http", "cnpa-op says who it is over TLS only, and kubectl goes as nobody",
            config(TOKEN, NO_CA | {"server": "@plain@"}), sees("plain"), "does not begin with https://"),
    differs("no scheme", "kubectl speaks http then", config(TOKEN, {"server": "127.0.0.1:@port@"}),
            "Unable to connect", sees(authorization=BEARER)),
    differs("blank in the path", "kubectl escapes it; in an address it is a slip", config(
        TOKEN, {"server": "@one@/a b"}), sees(prefix="/a%20b", authorization=BEARER), "is not an address"),
    differs("user in the address", "kubectl lets it beat the token; an address is no place for a password",
            config(TOKEN, {"server": "https://ann:pass@127.0.0.1:@port@"}), sees(authorization=ANN),
            "server: names a user"),
]


def plain(field, value, text=None):
    """Returns a kubeconfig in which a field has a value that is no JSON."""
    fields = {field: "VALUE"}
    user, cluster = (fields, {}) if field == "token" else (TOKEN, NO_CA | fields)
    return config(user | ({} if text is None else text), cluster).replace('"VALUE"', value)


TYPES = [
    same("token looks like a day", plain("token", "2026-01-01"), authorization="Bearer 2026-01-01"),
    same("token with a tag", plain("token", "!!str 123"), authorization="Bearer 123"),
    same("token in quotes", plain("token", "'123'"), authorization="Bearer 123"),
    same("token is null", plain("token", "~", CERTIFICATE), subject="alice"),
    same("field in capitals", config(CERTIFICATE | {"Token": "t1"}), subject="alice"),
    *(same(f"insecure: {word}", plain("insecure-skip-tls-verify", word), authorization=BEARER)
      for word in ("yes", "on", "y", "True")),
    refused("token is a list", plain("token", "[a]"), "cannot unmarshal array", "token: not a text"),
    refused("token is a map", plain("token", "{a: b}"), "cannot unmarshal object", "token: not a text"),
    refused("insecure in quotes", plain("insecure-skip-tls-verify", '"true"'), "cannot unmarshal string",
            "neither true nor false"),
    refused("insecure is 1", plain("insecure-skip-tls-verify", "1"), "cannot unmarshal number",
            "neither true nor false"),
]

FAR = {"server": "https://kubernetes.test:@port@"}  # a name that only the proxy knows
ANY = {"server": "https://0.0.0.0:@port@"}  # not loopback, and in reach without a proxy
HTTPS_PROXY = {"HTTPS_PROXY": "http://127.0.0.1:@proxy@"}


def through(words="kubernetes.test", verb="CONNECT", user=None, sni="kubernetes.test", authorization=BEARER):
    """Returns what server and proxy see. The token is not for the proxy."""
    return {"sni": sni, "authorization": authorization, "proxy": {
        "asked": f"{verb} {words}:@port@", "as": user, "token": None}}


def by(url, cluster=None):
    return config(TOKEN, FAR | {"proxy-url": url} | (cluster or {}))


PROXIES = [
    same("http proxy", by("http://127.0.0.1:@proxy@"), **through()),
    same("http proxy with a password", by("http://ann:p%40ss@127.0.0.1:@proxy@"), **through(user="Basic YW5uOnBAc3M=")),
    same("http proxy with a user", by("http://ann@127.0.0.1:@proxy@"), **through(user="Basic YW5uOg==")),
    same("https proxy", by("https://127.0.0.1:@tlsproxy@"), **through()),
    same("https proxy, insecure", by("https://127.0.0.1:@tlsproxy@", INSECURE), **through()),
    same("http proxy with escapes", by("http://a%3An:p%2f%25@127.0.0.1:@proxy@"),
         **through(user="Basic YTpuOnAvJQ==")),
    same("http proxy with a password only", by("http://:pass@127.0.0.1:@proxy@"), **through(user="Basic OnBhc3M=")),
    same("http proxy with a path", by("http://127.0.0.1:@proxy@/x?y"), **through()),
    same("proxy in capitals", by("HTTP://127.0.0.1:@proxy@"), **through()),
    same("proxy and certificate", config(CERTIFICATE, FAR | {"proxy-url": "http://127.0.0.1:@proxy@"}),
         subject="alice", **through(authorization=None)),
    same("https proxy and certificate", config(CERTIFICATE, FAR | {"proxy-url": "https://127.0.0.1:@tlsproxy@"}),
         subject="alice", **through(authorization=None)),
    same("socks5 proxy", by("socks5://127.0.0.1:@proxy@"), **through(verb="SOCKS")),
    same("socks5 proxy with a password", by("socks5://ann:pass@127.0.0.1:@proxy@"),
         **through(verb="SOCKS", user="ann:pass")),
    same("socks5 proxy with escapes", by("socks5://a%40n:p%3A@127.0.0.1:@proxy@"),
         **through(verb="SOCKS", user="a@n:p:")),
    same("socks5 proxy to an address", by("socks5://127.0.0.1:@proxy@", ANY),
         **through("0.0.0.0", verb="SOCKS", sni=None)),
    same("proxy to loopback", by("http://127.0.0.1:@proxy@", {"server": "@one@"}), **through("127.0.0.1", sni=None)),
    same("proxy and basic", config(BASIC, FAR | {"proxy-url": "http://127.0.0.1:@proxy@"}),
         **through(authorization=ANN)),
    same("proxy and tls-server-name", by("http://127.0.0.1:@proxy@", {
        "server": "https://other.test:@port@", "tls-server-name": "kubernetes.test"}), **through("other.test")),
    same("proxy-url beats variables", by("http://127.0.0.1:@proxy@"), env={
        "HTTPS_PROXY": "http://127.0.0.1:1", "NO_PROXY": "*"}, **through()),
    *(refused(f"proxy is {url.partition(':')[0]}", by(url), "invalid 'proxy-url'", "proxy-url: not a proxy")
      for url in ("ftp://127.0.0.1:@proxy@", "127.0.0.1:@proxy@", "socks5h://127.0.0.1:@proxy@")),
    same("HTTPS_PROXY", config(TOKEN, FAR), env=HTTPS_PROXY, **through()),
    same("https_proxy", config(TOKEN, FAR), env={"https_proxy": "http://127.0.0.1:@proxy@"}, **through()),
    same("HTTPS_PROXY and https_proxy", config(TOKEN, FAR), env=HTTPS_PROXY | {"https_proxy": "http://127.0.0.1:1"},
         **through()),
    same("HTTPS_PROXY without scheme", config(TOKEN, FAR), env={"HTTPS_PROXY": "127.0.0.1:@proxy@"}, **through()),
    same("HTTPS_PROXY with a password", config(TOKEN, FAR), env={"HTTPS_PROXY": "ann:p%40@127.0.0.1:@proxy@"},
         **through(user="Basic YW5uOnBA")),
    same("HTTPS_PROXY is socks5", config(TOKEN, FAR), env={"HTTPS_PROXY": "socks5://127.0.0.1:@proxy@"},
         **through(verb="SOCKS")),
    same("HTTPS_PROXY is empty", config(TOKEN, FAR), env={
        "HTTPS_PROXY": "", "https_proxy": "http://127.0.0.1:@proxy@"}, **through()),
    same("NO_PROXY is empty", config(TOKEN, ANY), env=HTTPS_PROXY | {"NO_PROXY": "", "no_proxy": "0.0.0.0"},
         authorization=BEARER),
    same("HTTPS_PROXY for an address", config(TOKEN, ANY), env=HTTPS_PROXY, **through("0.0.0.0", sni=None)),
    same("HTTPS_PROXY and loopback", config(TOKEN), env=HTTPS_PROXY, authorization=BEARER),
    same("HTTPS_PROXY and localhost", config(TOKEN, {"server": "https://localhost:@port@"}), env=HTTPS_PROXY,
         sni="localhost", authorization=BEARER),
    same("HTTP_PROXY and ALL_PROXY", config(TOKEN, ANY), env={
        "HTTP_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1"}, authorization=BEARER),
    refused("HTTPS_PROXY with a bad port", config(TOKEN, FAR), "proxyconnect", "HTTPS_PROXY: not a proxy",
            env={"HTTPS_PROXY": "http://127.0.0.1:x"}),
    differs("HTTPS_PROXY is ftp", "Go takes a scheme that it does not know for http", config(TOKEN, FAR),
            sees(**through()), "HTTPS_PROXY: not a proxy", env={"HTTPS_PROXY": "ftp://127.0.0.1:@proxy@"}),
    *(same(f"NO_PROXY={entry} takes the direct way", config(TOKEN, ANY), env=HTTPS_PROXY | {"NO_PROXY": entry},
           authorization=BEARER) for entry in (
               "*", "0.0.0.0", "0.0.0.0:@port@", "0.0.0.0/8", " x , 0.0.0.0 ", "::ffff:0.0.0.0", "0.0.0.0:", "[0.0.0.0]:")),
    same("no_proxy takes the direct way", config(TOKEN, ANY), env=HTTPS_PROXY | {"no_proxy": "0.0.0.0"},
         authorization=BEARER),
    *(same(f"NO_PROXY={entry} takes the proxy", config(TOKEN, ANY), env=HTTPS_PROXY | {"NO_PROXY": entry},
           **through("0.0.0.0", sni=None)) for entry in (
               "0.0.0.0:1", "1.0.0.0/8", "0.0.0.0/33", "::/0", "x 0.0.0.0", "[0.0.0.0]")),
    *(refused(f"NO_PROXY={entry} takes the direct way", config(TOKEN, FAR), "no such host|server misbehaving|lookup",
              "resolve", code=3, env=HTTPS_PROXY | {"NO_PROXY": entry}) for entry in (
                  "KUBERNETES.test", "test", ".test", "*.test", "kubernetes.test:@port@")),
    *(same(f"NO_PROXY={entry} takes the proxy", config(TOKEN, FAR), env=HTTPS_PROXY | {"NO_PROXY": entry}, **through())
      for entry in ("bernetes.test", ".kubernetes.test", "*.kubernetes.test", "kubernetes.test:1", "kubernetes.test.")),
]

GOOD = answer(token="t9")
PAIR = answer(clientCertificateData="@CERT_JSON@", clientKeyData="@KEY_JSON@")
T9 = "Bearer t9"
PYTHON = """\
#!/usr/bin/env python3
import json, os
info = json.loads(os.environ["KUBERNETES_EXEC_INFO"])
open(os.environ["HOME"] + "/info", "w").write(json.dumps(info))
print(json.dumps({"kind": "ExecCredential", "apiVersion": info["apiVersion"], "status": {"token": "t7"}}))
"""
INFO = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1", "spec": {"interactive": False}}
EXTENSION = {"extensions": [{"name": "other", "extension": 1}, {
    "name": "client.authentication.k8s.io/exec",
    "extension": {"audience": "x", "n": [1, 1.5, True, None, "1", "yes"], "large": 12345678901, "k": {"y": 1}}}]}


def by_plugin(user=None, prints=GOOD, cluster=None, script=PLUGIN):
    """Returns the files of a row whose plugin prints that."""
    return {"config": config(user or plugin(), cluster), "plugin.sh": script, "answer": prints}


def informed(cluster):
    """Returns what a plugin is to be told of a cluster."""
    return INFO | {"spec": {"interactive": False, "cluster": {
        "server": "@one@", "certificate-authority-data": "@CA@", "config": None} | cluster}}


PLUGINS = [
    same("plugin with a token", by_plugin(), authorization=T9, info=INFO, told="|"),
    same("plugin of v1beta1", by_plugin(plugin("v1beta1", None), answer("v1beta1", token="t9")), authorization=T9,
         info=INFO | {"apiVersion": "client.authentication.k8s.io/v1beta1"}),
    same("plugin with a certificate", by_plugin(prints=PAIR), subject="alice"),
    same("plugin with both", by_plugin(prints=PAIR.replace('"status": {', '"status": {"token": "t9",')),
         subject="alice", authorization=T9),
    same("arguments and variables", by_plugin(plugin(args=["get", "a b", "$HOME", "*"], env=[
        {"name": "COLOUR", "value": "red"}])), env={"COLOUR": "blue"}, authorization=T9, told="get|a b|$HOME|*|red|"),
    same("inherited variable", by_plugin(), env={"COLOUR": "blue"}, authorization=T9, told="blue|"),
    same("variable twice", by_plugin(plugin(env=[{"name": "COLOUR", "value": v} for v in ("red", "green")])),
         authorization=T9, told="green|"),
    same("variable of the protocol", by_plugin(plugin(env=[{"name": "KUBERNETES_EXEC_INFO", "value": "{}"}])),
         authorization=T9, info=INFO),
    same("cluster info", by_plugin(plugin(provideClusterInfo=True), cluster=EXTENSION), authorization=T9,
         info=informed({"config": EXTENSION["extensions"][1]["extension"]})),
    *(same(f"configuration of a plugin: {json.dumps(value)}", by_plugin(plugin(provideClusterInfo=True), cluster={
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": value}]}), authorization=T9,
           info=informed({"config": value})) for value in (
               None, "x", 5, [], {"a": [], "b": {}, "c": "", "d": "é\n", "e": 1e3, "f": "0x10", "g": {"h": [[1]]}})),
    same("cluster info in full", by_plugin(plugin(provideClusterInfo=True), cluster={
        "server": "@one@/k8s", "tls-server-name": "kubernetes.test", "disable-compression": True,
        "proxy-url": "http://127.0.0.1:@proxy@"}), prefix="/k8s",
         info=informed({"server": "@one@/k8s", "tls-server-name": "kubernetes.test", "disable-compression": True,
                        "proxy-url": "http://127.0.0.1:@proxy@"}), **through("127.0.0.1", authorization=T9)),
    same("cluster info with the CA of a file", by_plugin(plugin(provideClusterInfo=True), cluster=NO_CA | {
        "certificate-authority": "@ca@"}), authorization=T9, info=informed({})),
    same("cluster info, insecure", by_plugin(plugin(provideClusterInfo=True), cluster=INSECURE), authorization=T9),
    same("cluster info of v1beta1", by_plugin(plugin("v1beta1", None, provideClusterInfo=True), answer(
        "v1beta1", token="t9"), EXTENSION), authorization=T9),
    same("no cluster info", by_plugin(plugin(provideClusterInfo=False), cluster=EXTENSION), authorization=T9,
         info=INFO),
    same("plugin in PATH", {"config": config(plugin(command="plugin.py")), "bin/plugin.py": PYTHON},
         env={"PATH": f"@folder@/bin:{os.environ['PATH']}"}, authorization="Bearer t7", info=INFO),
    same("plugin beside the kubeconfig", {"config": config(plugin(command="bin/plugin.sh")), "bin/plugin.sh": PLUGIN,
                                          "answer": GOOD}, authorization=T9),
    same("plugin by its path", by_plugin(plugin(command="@folder@/plugin.sh")), authorization=T9),
    same("plugin that would ask if it could", by_plugin(plugin(mode="IfAvailable")), authorization=T9, info=INFO),
    *(same(f"expiry {time}", by_plugin(prints=answer(token="t9", expirationTimestamp=time)), authorization=T9)
      for time in ("2020-01-01T00:00:00Z", "2050-01-01T00:00:00+02:00", "2050-01-01T00:00:00.5Z")),
    same("unknown field of a plugin", by_plugin(prints=answer(token="t9", other=1)), authorization=T9),
    same("plugin and as", by_plugin(plugin() | {"as": "jo"}), authorization=T9,
         impersonate={"impersonate-user": ["jo"]}),
    same("plugin and token", by_plugin(plugin() | TOKEN), authorization=BEARER),
    same("plugin and token file", by_plugin(plugin() | {"tokenFile": "answer"}, prints="t1"), authorization=BEARER),
    same("plugin and basic", by_plugin(plugin() | BASIC), authorization=ANN),
    same("plugin is null", plain("token", "t1\n    exec: null"), authorization=BEARER),
    refused("no command", by_plugin(plugin(command="")), "command must be specified", "command: missing"),
    refused("no apiVersion", by_plugin({"exec": {"command": "./plugin.sh", "interactiveMode": "Never"}}),
            "apiVersion must be specified", "apiVersion: missing"),
    *(refused(f"plugin of {version}", by_plugin(plugin(version)), "invalid apiVersion", "is neither")
      for version in ("v2", "v1alpha1")),
    refused("no interactiveMode", by_plugin(plugin(mode=None)), "interactiveMode must be specified",
            "interactiveMode: missing"),
    refused("another interactiveMode", by_plugin(plugin(mode="Sometimes")), "invalid interactiveMode",
            "'Sometimes' is none of"),
    refused("interactiveMode in small letters", by_plugin(plugin(mode="never")), "invalid interactiveMode",
            "'never' is none of"),
    refused("variable without name", by_plugin(plugin(env=[{"value": "x"}])), "name must be specified",
            "entry without name"),
    refused("variables are a map", by_plugin(plugin(env={"COLOUR": "x"})), "cannot unmarshal object",
            "env: not a list"),
    refused("provideClusterInfo in quotes", by_plugin(plugin(provideClusterInfo="true")), "cannot unmarshal string",
            "neither true nor false"),
    refused("plugin is a text", config({"exec": "x"}), "cannot unmarshal string", "exec: command: missing"),
    refused("plugin that must ask", by_plugin(plugin(mode="Always")), "not a terminal", "is no terminal", code=3),
    refused("plugin is missing", by_plugin(plugin(command="./nowhere", installHint="get it")), "no such file",
            "there is no .*nowhere': get it", code=3),
    refused("plugin is not in PATH", by_plugin(plugin(command="plugin.sh", installHint="get it")),
            "plugin.sh not found[^$]*get it", r"no 'plugin.sh' in \$PATH: get it", code=3),
    refused("plugin is no program", by_plugin(plugin(command="./answer")), "permission denied", "permission denied",
            code=3),
    refused("plugin fails", by_plugin(script="#!/bin/sh\necho log in >&2\nexit 3\n"), "log in\n.*exit code 3",
            "code 3: log in", code=3),
    *(refused(f"plugin prints {what}", by_plugin(prints=prints), theirs, ours, code=3)
      for what, prints, theirs, ours in (
          ("garbage", "garbage", "decoding stdout", "not JSON"),
          ("nothing", "", "plugin returned version", "it printed nothing"),
          ("two documents", GOOD + "\n" + GOOD, "after top-level value", "not JSON"),
          ("another version", answer("v1beta1", token="t9"), "returned version .*v1beta1", "no ExecCredential of"),
          ("another kind", GOOD.replace("ExecCredential", "Other"), 'no kind "Other"', "no ExecCredential of"),
          ("no status", json.dumps({"kind": "ExecCredential", "apiVersion": INFO["apiVersion"]}), "a status field",
           "neither a token nor a certificate"),
          ("an empty status", answer(), "a token or cert/key pair", "neither a token nor a certificate"),
          ("a certificate without key", answer(token="t9", clientCertificateData="@CERT_JSON@"),
           "only certificate or key", "certificate without its key"),
          ("a key without certificate", answer(clientKeyData="@KEY_JSON@"), "only certificate or key",
           "or the other way round"),
          ("no real certificate", answer(clientCertificateData="x", clientKeyData="y"), "any PEM data",
           "no PEM certificate"),
          ("no real time", answer(token="t9", expirationTimestamp="soon"), "parsing time", "is no time"),
          ("an empty time", answer(token="t9", expirationTimestamp=""), "parsing time", "is no time"),
          ("a token of two lines", answer(token="t9\nt8"), "invalid header field", "line break"),
          ("a number for a token", answer(token=9), "cannot unmarshal number", "'status.token' is not a string"),
      )),
    same("plugin prints YAML", by_plugin(
        prints=f"kind: ExecCredential\napiVersion: {INFO['apiVersion']}\nstatus: {{token: t9}}\n"), authorization=T9),
    same("plugin prints a byte order mark", by_plugin(prints="\ufeff" + GOOD), authorization=T9),
    same("plugin prints no time", by_plugin(prints=answer(token="t9", expirationTimestamp=None)), authorization=T9),
]

MERGED = config().replace("  user: {}", "  user:\n    <<: {token: t5}")
WORDS = ("{name: client.authentication.k8s.io/exec, extension: {a: yes, b: 010, c: 0x1F, d: 1_000, e: .5, g: ~,"
         " f: 2026-01-01, h: 1e3, k: +5, l: '12', m: on, o: 1.0, 5: x}}")

ALIKE = [
    refused("apiVersion of another version", config(TOKEN).replace("apiVersion: v1", "apiVersion: v2"),
            'registered for version "v2"', "apiVersion"),
    refused("no other place where $KUBECONFIG is set", {"~/.kube/config": config(TOKEN)}, LOCALHOST, "kubeconfig",
            env=listed("1")),
    same("token beside a token file that is missing", config(TOKEN | {"tokenFile": "nowhere"}), authorization=BEARER),
    same("token beside a token file that is empty", {"config": config(TOKEN | {"tokenFile": "token"}), "token": "\n"},
         authorization=BEARER),
    same("empty group", config(TOKEN | {"as": "jo", "as-groups": [""]}), authorization=BEARER,
         impersonate={"impersonate-user": ["jo"], "impersonate-group": [""]}),
    same("empty value of as-user-extra", config(TOKEN | {"as": "jo", "as-user-extra": {"a": [""]}}),
         authorization=BEARER, impersonate={"impersonate-user": ["jo"], "impersonate-extra-a": [""]}),
    same("YAML merge key", MERGED, authorization="Bearer t5"),
    *(refused(f"token is {value}", plain("token", value), "cannot unmarshal", "token: ")
      for value in ("123", "1.50", "true", "yes")),
    refused("name is a number", config({"username": 5, "password": "x"}), "cannot unmarshal number", "username: "),
    refused("password is a number", config({"username": "x", "password": 5}), "cannot unmarshal number", "password: "),
    refused("as is a number", config(TOKEN | {"as": 5}), "cannot unmarshal number", "as: "),
    refused("group is a number", config(TOKEN | {"as": "jo", "as-groups": [1]}), "cannot unmarshal number",
            "as-groups: "),
    refused("server is a number", config(TOKEN, {"server": 123}), "cannot unmarshal number", "server: "),
    refused("cluster's name is a number", config(TOKEN, names=("1", "a", "a")), "cannot unmarshal number", "name"),
    refused("current context is a number", config(TOKEN, current="1", names=("a", "a", '"1"')),
            "cannot unmarshal number", "current-context"),
    refused("entry that is a word", config(TOKEN) + "- a\n", "cannot unmarshal string", "users"),
    refused("disable-compression in quotes", config(TOKEN, {"disable-compression": "yes"}), "cannot unmarshal string",
            "disable-compression: "),
    refused("argument is a number", by_plugin(plugin(args=[1])), "cannot unmarshal number", "args: "),
    refused("variable is a number", by_plugin(plugin(env=[{"name": "COLOUR", "value": 1}])),
            "cannot unmarshal number", "env: "),
    refused("plugin is an empty map", config(TOKEN | {"exec": {}}), "command must be specified", "command: missing"),
    same("slash at the end of the server that a plugin is told", by_plugin(
        plugin(provideClusterInfo=True), cluster={"server": "@one@/k8s/"}), prefix="/k8s", authorization=T9,
         info=informed({"server": "@one@/k8s/"})),
    same("plain words in the configuration of a plugin", by_plugin(plugin(provideClusterInfo=True)) | {
        "config": config(plugin(provideClusterInfo=True), {"extensions": "X"}).replace('"X"', f"[{WORDS}]")},
         authorization=T9, info=informed({"config": {
             "a": True, "b": 8, "c": 31, "d": 1000, "e": 0.5, "g": None, "f": "2026-01-01", "h": 1000, "k": 5,
             "l": "12", "m": True, "o": 1, "5": "x"}})),
    refused("extension twice", by_plugin(plugin(provideClusterInfo=True), cluster={
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"v": v}} for v in (1, 2)]}),
            "duplicate name", "client.authentication.k8s.io/exec"),
    same("proxy password with an @", by("http://ann:pa@ss@127.0.0.1:@proxy@"), **through(user="Basic YW5uOnBhQHNz")),
    refused("proxy password with a bad escape", by("http://ann:p%zz@127.0.0.1:@proxy@"), "invalid 'proxy-url'",
            "proxy-url: "),
    same("HTTPS_PROXY is socks5h", config(TOKEN, FAR), env={"HTTPS_PROXY": "socks5h://127.0.0.1:@proxy@"},
         **through(verb="SOCKS")),
    refused("bad escape in the path", config(TOKEN, {"server": "@one@/a%zz"}), "invalid URL escape", "server: "),
    refused("nothing after the scheme", config(TOKEN, {"server": "https://"}), "must be a URL", "server: "),
    same("CA file with one certificate that can't be read", {
        "config": config(TOKEN, NO_CA | {"certificate-authority": "ca"}),
        "ca": "@CA_PEM@-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"}, authorization=BEARER),
]


@pytest.fixture(scope="module")
def outcomes(request, tmp_path_factory):
    """The rows that were chosen, run some at a time: by name a future of both Runs and of what is expected of them."""
    worlds, free = [World(tmp_path_factory.mktemp("kubectl")) for _ in range(3)], queue.SimpleQueue()
    for world in worlds:
        free.put(world)

    def run(row):
        world = free.get()
        try:
            return [*world.run(row), world.filled(row.kubectl), world.filled(row.cnpa_op)]
        finally:
            free.put(world)

    calls = [test.callspec for test in request.session.items if test.path == request.path and hasattr(test, "callspec")]
    rows = [call.params["row"] for call in calls if "row" in call.params]
    with ThreadPoolExecutor(len(worlds)) as pool:
        yield {row.name: pool.submit(run, row) for row in rows}
        pool.shutdown(cancel_futures=True)
    for world in worlds:
        world.close()


def check(name, run, expected, code):
    """A run did what a row expects: its requests look so, or it refused in those words before any request."""
    if isinstance(expected, str):
        assert run.code == code, (name, run)
        assert not {"server", "proxy"} & run.seen.keys(), (name, run)
        assert re.search(expected, run.stderr), (name, run)
        return
    assert run.code == 0, (name, run)
    told = {"info", "told", "host"} - expected.keys()
    assert {key: value for key, value in run.seen.items() if key not in told} == expected, (name, run)


@table(*FILES, *LISTS, *CONTEXTS, *CREDENTIALS, *IMPERSONATION, *SERVERS, *TYPES, *PROXIES, *PLUGINS, *ALIKE)
def test_kubeconfig_is_understood_as_by_kubectl(outcomes, row):
    kubectl, ours, of_kubectl, of_ours = outcomes[row.name].result()
    check("kubectl", kubectl, of_kubectl, 1)
    check("cnpa-op", ours, of_ours, row.code)
    if not row.why:
        assert ours.seen == kubectl.seen


# What is kept between passes ----------------------------------------------------------------------------------------


class Plugin:
    """A plugin that counts its runs, and the kubeconfig of a cluster that has it."""

    def __init__(self, cluster):
        self._cluster, self._folder = cluster, cluster.home
        self.kept = cluster.home / ".cache" / "cnpa-op" / "credentials"
        script = self._folder / "plugin.sh"
        script.write_text('#!/bin/sh\necho >> "$HOME/runs"\ncat "$HOME/answer"\n')
        script.chmod(0o700)

    def prints(self, token, seconds=None):
        """Has it print a token from now on, one that is good for `seconds`."""
        expiry = {}
        if seconds is not None:
            time = datetime.now(timezone.utc) + timedelta(seconds=seconds)
            expiry = {"expirationTimestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ")}
        (self._folder / "answer").write_text(answer(token=token, **expiry))

    @property
    def runs(self):
        path = self._folder / "runs"
        return len(path.read_text()) if path.exists() else 0

    def run_pass(self, *arguments, env=None):
        """Runs a pass with something to do and returns its Result."""
        self._cluster.create_team()
        user = plugin(command=str(self._folder / "plugin.sh"), args=list(arguments))
        return self._cluster.once("-v", kubeconfig=self._cluster.plane.kubeconfig_for("by-plugin", user=user), env=env)

    def works(self, *arguments, env=None):
        result = self.run_pass(*arguments, env=env)
        assert result.code == 0 and result.writes, result
        return result


@pytest.fixture(scope="module")
def rights(plane):
    """Gives the user with the token the rights of cnpa-op."""
    plane.kubectl("create", "clusterrolebinding", "by-plugin", "--clusterrole=cnpa-op", "--user=cnpa-op-token")
    wait_for(lambda: allowed(plane, "cnpa-op-token", "list", "teamspaces", "platform.labhub.io"), "it has rights")
    yield
    plane.kubectl("delete", "clusterrolebinding", "by-plugin")


@pytest.fixture
def counted(cluster, rights):
    return Plugin(cluster)


def test_next_pass_has_the_token_without_the_plugin(cluster, counted):
    counted.prints(cluster.plane.token)
    for _ in range(3):
        counted.works()
    assert counted.runs == 1


def test_only_we_can_read_what_is_kept(cluster, counted):
    counted.prints(cluster.plane.token)
    counted.works()
    assert stat.S_IMODE(counted.kept.stat().st_mode) == 0o700
    [file] = counted.kept.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert cluster.plane.token in file.read_text()


@pytest.mark.parametrize("seconds, runs", [(-60, 2), (20, 2), (3600, 1)])
def test_token_is_kept_until_half_a_minute_before_its_end(cluster, counted, seconds, runs):
    counted.prints(cluster.plane.token, seconds)
    counted.works()
    counted.works()
    assert counted.runs == runs


def test_kept_token_that_is_refused_makes_one_new_run_and_the_pass_goes_on(cluster, counted):
    counted.prints("of-yesterday")
    assert counted.run_pass().code == 3
    counted.prints(cluster.plane.token)
    counted.works()
    assert counted.runs == 2
    counted.works()
    assert counted.runs == 2


def test_new_token_that_is_refused_too_ends_the_pass(cluster, counted):
    counted.prints("of-yesterday")
    counted.run_pass()
    result = counted.run_pass()
    assert (result.code, result.writes, counted.runs) == (3, [], 2)
    assert said("unauthorized", result.lines)


def test_kept_token_is_not_for_another_call_of_the_plugin(cluster, counted):
    counted.prints(cluster.plane.token)
    counted.works("one")
    counted.works("two")
    assert counted.runs == 2
    counted.works("one")
    assert counted.runs == 2


def test_kept_token_is_for_whom_the_environment_says_alone(cluster, counted):
    counted.prints(cluster.plane.token)
    for runs in (1, 1):
        counted.works(env={"AWS_PROFILE": "admin"})
        assert counted.runs == runs
    counted.prints("of-somebody-who-may-do-nothing")
    result = counted.run_pass(env={"AWS_PROFILE": "readonly"})
    assert (result.code, result.writes, counted.runs) == (3, [], 2)


def test_what_is_kept_and_is_good_no_more_is_swept_out(cluster, counted):
    counted.prints(cluster.plane.token, 32)
    counted.works("of today")
    [old] = counted.kept.iterdir()
    wait_for(lambda: datetime.now().timestamp() - old.stat().st_mtime > 3, "it has expired")
    counted.prints(cluster.plane.token)
    counted.works("of tomorrow")
    assert not old.exists() and len(list(counted.kept.iterdir())) == 1


def test_nothing_is_kept_where_others_can_look(cluster, counted):
    counted.prints(cluster.plane.token)
    counted.kept.mkdir(parents=True)
    counted.kept.chmod(0o755)
    for _ in range(2):
        assert said("not kept .* chmod 700", counted.works().lines)
    assert counted.runs == 2
    assert not list(counted.kept.iterdir())


def test_damaged_file_is_as_none(cluster, counted):
    counted.prints(cluster.plane.token)
    counted.works()
    [file] = counted.kept.iterdir()
    file.write_text(file.read_text()[:-20])
    counted.works()
    assert counted.runs == 2


# A kubeconfig that others can write ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o664, 0o646])
def test_kubeconfig_that_others_can_write_is_refused_to_root(cluster, mode):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    file = cluster.home / "kubeconfig"
    shutil.copy(cluster.plane.user_kubeconfig, file)
    file.chmod(mode)
    result = cluster.once(kubeconfig=file)
    assert (result.code, result.requests) == (2, [])
    assert f"'{file}' can be written by others than its owner: chmod go-w '{file}'" in result.only_line


def change_owner(path):
    os.chown(path, NOBODY, NOBODY)


def open_up(path):
    path.chmod(0o777)


@pytest.mark.parametrize("change, says", [
    (lambda folder, kubeconfig, config: change_owner(kubeconfig), "kubeconfig: .*belongs to user"),
    (lambda folder, kubeconfig, config: change_owner(folder), "kubeconfig: .*replaced by user .*, to whom"),
    (lambda folder, kubeconfig, config: open_up(folder), "kubeconfig: .*replaced by others, who can write the folder"),
    (lambda folder, kubeconfig, config: change_owner(config), "configuration: .*belongs to user"),
    (lambda folder, kubeconfig, config: config.chmod(0o666), "configuration: .*written by others"),
    (lambda folder, kubeconfig, config: folder.chmod(0o1777), None),
], ids=["kubeconfig of another", "folder of another", "open folder", "configuration of another", "open configuration",
        "sticky folder"])
def test_root_obeys_nothing_that_others_can_change(tmp_path, change, says):
    if os.geteuid() != 0:
        pytest.skip("needs root")
    folder = tmp_path / "folder"
    folder.mkdir()
    kubeconfig, settings = folder / "kubeconfig", tmp_path / "config.yaml"
    user = plugin(command="/bin/sh", args=["-c", f"touch {tmp_path}/ran"])
    kubeconfig.write_text(config(user, NO_CA | {"server": "https://127.0.0.1:1"}))
    kubeconfig.chmod(0o600)
    settings.write_text(f"kubeconfig: {kubeconfig}\n")
    change(folder, kubeconfig, settings)
    result = run_binary(["get"], tmp_path, env={"CNPA_OP_CONFIG": settings})
    assert (tmp_path / "ran").exists() == (says is None), result
    assert result.code == (2 if says else 3), result
    assert says is None or said(says, [result.only_line]), result


# What would wait ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["kubeconfig", "tokenFile", "configuration"])
def test_fifo_holds_nobody_up(tmp_path, which):
    fifo, kubeconfig = tmp_path / "fifo", tmp_path / "kubeconfig"
    os.mkfifo(fifo)
    kubeconfig.write_text(config({"tokenFile": str(fifo)}, NO_CA | {"server": "https://127.0.0.1:1"}))
    kubeconfig.chmod(0o600)
    flags = {"kubeconfig": ["--kubeconfig", fifo], "tokenFile": ["--kubeconfig", kubeconfig],
             "configuration": ["--config", fifo]}[which]
    result = run_binary(["get", *flags], tmp_path, timeout=10)
    assert result.code == 2, result
    assert said(f"'{fifo}': not a regular file", [result.only_line])


def test_time_in_which_a_plugin_asks_somebody_is_not_counted(tmp_path):
    world = World(tmp_path)
    try:
        script = tmp_path / "plugin.sh"
        script.write_text("#!/bin/sh\nread answer\nsleep 1.5\n"
                          "echo '" + answer(token="t1") + "'\n")
        script.chmod(0o700)
        kubeconfig = tmp_path / "kubeconfig"
        kubeconfig.write_text(world.filled(config(plugin(mode="Always", command=str(script)))))
        kubeconfig.chmod(0o600)
        ours, theirs = os.openpty()
        os.write(ours, b"yes\n")
        result = run_binary(["reconcile", "--once", "--timeout=1s", "--kubeconfig", kubeconfig, "--archive",
                             tmp_path / "archive"], tmp_path, stdin=theirs)
        os.close(ours)
        os.close(theirs)
    finally:
        world.close()
    assert result.code == 0, result
    assert {request["authorization"] for request in world.servers[0].seen} == {BEARER}


def test_kubeconfig_that_others_can_write_is_warned_of_and_used_by_another_user(cluster, open_folder):
    options = {}
    if os.geteuid() == 0:
        if reason := usable_by_nobody():
            pytest.skip(reason)
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    file = open_folder / "kubeconfig"
    shutil.copy(cluster.plane.user_kubeconfig, file)
    file.chmod(0o664)
    if options:
        shutil.chown(file, NOBODY, NOBODY)
        shutil.chown(open_folder, NOBODY, NOBODY)
    team = cluster.create_team()
    result = run_binary(["reconcile", "--once", "--kubeconfig", file, "--archive", open_folder / "archive"],
                        open_folder, **options)
    assert result.code == 0, result
    assert said(f"warning: .*'{file}' can be written by others than its owner: chmod go-w", result.lines)
    assert cluster.namespace(team)
