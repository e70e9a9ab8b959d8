"""A certificate authority for the scripts of this folder: keys and certificates with chosen names, purposes and dates.

Needs cryptography (PyPI).
"""

import datetime
import ipaddress
import pathlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

HOUR = datetime.timedelta(hours=1)
DAY = datetime.timedelta(days=1)


def new_key(kind):
    return rsa.generate_private_key(65537, 2048) if kind == "rsa" else ec.generate_private_key(ec.SECP256R1())


def general_name(text):
    """An address, a URI or a DNS name."""
    if "://" in text:
        return x509.UniformResourceIdentifier(text)
    try:
        return x509.IPAddress(ipaddress.ip_address(text))
    except ValueError:
        return x509.DNSName(text)


class Authority:
    """A root that issues certificates into a folder."""

    def __init__(self, folder, name="root", issuer=None):
        self.folder = pathlib.Path(folder)
        self.name = name
        self.issuer = issuer
        self.key = new_key("ec")
        parent = issuer or self
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Authority {name}")])
        self.subject = subject
        self.certificate = (
            self.builder(subject, self.key.public_key(), 365 * DAY, parent)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(
                x509.KeyUsage(
                    digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False,
                    key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
                    decipher_only=False), critical=True)
            .sign(parent.key, hashes.SHA256()))
        self.path = self.write(f"{name}.pem", self.pem(self.certificate))

    def builder(self, subject, public_key, lifetime, parent, begins=None):
        now = datetime.datetime.now(datetime.timezone.utc)
        begins = begins or now - HOUR
        return (
            x509.CertificateBuilder().subject_name(subject).issuer_name(parent.subject).public_key(public_key)
            .serial_number(x509.random_serial_number()).not_valid_before(begins).not_valid_after(begins + lifetime)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public_key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(parent.key.public_key()), critical=False))

    @staticmethod
    def pem(certificate):
        return certificate.public_bytes(serialization.Encoding.PEM)

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data)
        path.chmod(0o600)
        return str(path)

    def issue(self, file, names, kind="ec", usage="server", begins=None, lifetime=90 * DAY, common_name=None):
        """Writes FILE.pem, with the chain behind the certificate, and FILE.key. Returns both paths."""
        key = new_key(kind)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name or file)])
        purposes = {"server": ExtendedKeyUsageOID.SERVER_AUTH, "client": ExtendedKeyUsageOID.CLIENT_AUTH}
        certificate = (
            self.builder(subject, key.public_key(), lifetime, self, begins)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(x509.ExtendedKeyUsage([purposes[usage]]), critical=False)
            .add_extension(x509.SubjectAlternativeName([general_name(name) for name in names]), critical=False)
            .sign(self.key, hashes.SHA256()))
        chain, issuer = self.pem(certificate), self
        while issuer.issuer:  # the root is not part of the chain
            chain += self.pem(issuer.certificate)
            issuer = issuer.issuer
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return self.write(f"{file}.pem", chain), self.write(f"{file}.key", private)
