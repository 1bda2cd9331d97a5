# SPDX-License-Identifier: Apache-2.0
"""A certificate authority for tests, made with the openssl command line: EC P-256 keys, which take no time to make."""

import re
import subprocess
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

# Self-contained, so that the machine's own openssl.cnf has no say. Subject and authority key identifiers are there
# because Python 3.13 and other strict verifiers want them.
CONFIGURATION = """\
[req]
distinguished_name = name
prompt = no
[name]
CN = replaced by -subj
[root]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = {alternative_names}
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[ca]
default_ca = authority
[authority]
database = {folder}/issued.txt
new_certs_dir = {folder}
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any
[any]
commonName = supplied
"""
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


class CertificateError(RuntimeError):
    """openssl is missing or refused; the message has its output."""


@dataclass(frozen=True)
class Certificate:
    """A certificate and its private key, both PEM files."""

    certificate: Path
    key: Path


class Authority:
    """Issues server and client certificates into `folder`, which exists and is empty.

    Its own certificate is for `name`. Safe to use from several threads. Errors: CertificateError.
    """

    def __init__(self, folder, server_names=("127.0.0.1", "localhost"), name="cnpa-op test authority",
                 key_identifiers=True):
        """Certificates of servers are for `server_names`: addresses, names of hosts, and, with an "@", of people."""
        self.folder = Path(folder)
        self._lock = threading.Lock()  # openssl ca rewrites issued.txt at each call
        self._configuration = self.folder / "openssl.cnf"
        names = ",".join(f"{kind_of(each)}:{each}" for each in server_names)
        text = CONFIGURATION.format(folder=self.folder, alternative_names=names)
        if not key_identifiers:
            text = re.sub("KeyIdentifier = .*", "KeyIdentifier = none", text)
        self._configuration.write_text(text)
        (self.folder / "issued.txt").touch()
        self._root = self._pair("ca")
        self._openssl("req", "-new", "-x509", *NEW_KEY, "-config", self._configuration, "-extensions", "root", "-days",
                      "3650", "-subj", f"/CN={name}", "-keyout", self._root.key, "-out",
                      self._root.certificate)

    @property
    def certificate(self):
        """The authority's own certificate, a PEM file."""
        return self._root.certificate

    @property
    def key(self):
        """The authority's own private key, a PEM file."""
        return self._root.key

    def server(self, name, not_before=None, not_after=None):
        """Returns a new server Certificate for the names that this authority was made with.

        It is valid from yesterday for ten years unless `not_before` and `not_after`, datetimes with a time zone, say
        otherwise.
        """
        return self._issue(name, "server", f"/CN={name}", not_before or days(-1), not_after or days(3650))

    def client(self, user, groups=(), not_before=None, not_after=None):
        """Returns a new client Certificate for `user`, a member of `groups`.

        It is valid from an hour ago for a year unless `not_before` and `not_after`, datetimes with a time zone, say
        otherwise. A `not_after` in the past makes one that has expired.
        """
        not_after = not_after or days(365)
        not_before = not_before or min(datetime.now(timezone.utc), not_after) - timedelta(hours=1)
        subject = "".join(f"/O={escape(group)}" for group in groups) + f"/CN={escape(user)}"
        return self._issue(user, "client", subject, not_before, not_after)

    def signing_key(self, name):
        """Returns a new private key without a certificate, a PEM file.

        It is of the old SEC 1 form: from that alone kube-apiserver can take the public key of an EC key too.
        """
        key = self.folder / f"{name}.key"
        self._openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", key)
        return key

    def _issue(self, name, extensions, subject, not_before, not_after):
        with self._lock:
            issued = self._pair(self._free_name(name))
            request = issued.key.with_suffix(".csr")
            self._openssl("req", "-new", *NEW_KEY, "-config", self._configuration, "-utf8", "-subj", subject, "-keyout",
                          issued.key, "-out", request)
            self._openssl("ca", "-batch", "-notext", "-config", self._configuration, "-extensions", extensions,
                          "-preserveDN", "-cert", self._root.certificate, "-keyfile", self._root.key, "-startdate",
                          openssl_time(not_before), "-enddate", openssl_time(not_after), "-in", request, "-out",
                          issued.certificate)
            return issued

    def _free_name(self, name):
        stem = "".join(letter if letter.isalnum() else "-" for letter in name)
        number = sum(1 for _ in self.folder.glob("*.csr"))
        return f"{stem}-{number}"

    def _pair(self, stem):
        return Certificate(self.folder / f"{stem}.crt", self.folder / f"{stem}.key")

    def _openssl(self, *arguments):
        try:
            done = subprocess.run(["openssl", *map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True)
        except FileNotFoundError:
            raise CertificateError("there is no openssl on the PATH: it makes the test certificates") from None
        if done.returncode != 0:
            raise CertificateError(f"openssl {arguments[0]} failed: {done.stderr.strip()}")


def kind_of(name):
    """Returns OpenSSL's word for what kind of name a server's is."""
    if name[0].isdigit() or ":" in name:
        return "IP"
    return "email" if "@" in name else "DNS"


def days(count):
    """Returns the time `count` days from now."""
    return datetime.now(timezone.utc) + timedelta(days=count)


def escape(text):
    """Returns `text` as the value of an openssl -subj part."""
    return "".join("\\" + letter if letter in "/+\\=" else letter for letter in text)


def openssl_time(time):
    return time.astimezone(timezone.utc).strftime("%Y%m%d%H%M%SZ")
