#!/usr/bin/env python3
"""Connects to the TLS listeners of a gateway with Python's ssl, `openssl s_client` and curl.

    Tests/Verify/tls.py .build/debug/tributary [--only matrix|input|reload] [--requests 50000] [--nginx]

matrix   versions, policies, names, key types, ALPN, client certificates, resumption: what each handshake must give
input    plain HTTP, silence, single bytes, many records, truncation, half-close, renegotiation, redirects
reload   requests without a failure while certificates are replaced, and a reload that is refused as a whole

Everything runs on loopback, on free ports, and every process that it starts is ended by its id. --nginx runs the
rows that nginx can be configured for against nginx instead, to check this script. Needs cryptography (PyPI), openssl
and curl.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import re
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import warnings

from cryptography import x509

import harness
from authority import DAY, Authority
from harness import accepts, expect, finish, free_port, wait

warnings.simplefilter("ignore", DeprecationWarning)  # Python's for TLS 1.0 and 1.1, which the rows offer on purpose

CONFIG = """\
version: 1
admin: 127.0.0.1:{admin}
workers: 2
listen:
  - {{ address: "127.0.0.1:{redirect}", redirect: "https:{first}" }}
  - address: 127.0.0.1:{first}
    tls: {{ certificates: [{certificates}], handshake_timeout: 1s }}
  - address: 127.0.0.1:{modern}
    tls: {{ certificates: [{certificates}], policy: modern, unknown_name: refuse }}
  - address: 127.0.0.1:{required}
    tls: {{ cert: a.pem, key: a.key, client_ca: root.pem }}
  - address: 127.0.0.1:{optional}
    tls: {{ cert: a.pem, key: a.key, client_ca: root.pem, client_certificate: optional }}
  - address: 127.0.0.1:{untracked}
    tls: {{ cert: a.pem, key: a.key, tickets: off }}
  - address: 127.0.0.1:{newest}
    tls: {{ cert: a.pem, key: a.key, min_version: "1.3" }}
  - {{ address: "127.0.0.1:{plain}" }}
auth:
  partner: {{ certificate: {{ san: ["spiffe://shop/*"] }} }}
backends:
  echo: {{ url: "http://127.0.0.1:{backend}" }}
endpoints:
  - {{ route: GET /hello, auth: none, calls: {{ it: {{ from: echo, get: / }} }} }}
  - {{ route: GET /caller, auth: partner, calls: {{ it: {{ from: echo, get: /, headers: {{ X-Caller: "{{request.caller}}" }} }} }} }}
"""
CERTIFICATES = "{ cert: a.pem, key: a.key }, { cert: a-rsa.pem, key: a-rsa.key }, " \
    "{ cert: wildcard.pem, key: wildcard.key }, { cert: exact.pem, key: exact.key }"

NGINX = """\
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 256; }}
http {{
  access_log off; root {folder}; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  ssl_protocols TLSv1.2 TLSv1.3; ssl_session_cache shared:one:1m; ssl_ecdh_curve X25519:P-256:P-384;
  ssl_ciphers ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-CHACHA20-POLY1305;
  {servers}
}}
"""
NGINX_SERVER = """server {{ listen 127.0.0.1:{port} ssl {default}; server_name {names}; {more}
  location / {{ default_type application/json; return 200 '{{}}'; }} }}
"""


class Backend(harness.Listener):
    """Responds to everything with the caller that the gateway names."""

    def serve(self, connection):
        data = b""
        try:
            while piece := connection.recv(65536):
                data += piece
                while b"\r\n\r\n" in data:
                    head, data = data.split(b"\r\n\r\n", 1)
                    caller = re.search(rb"\r\nX-Caller: ([^\r]*)", head, re.I)
                    body = json.dumps({"caller": caller and caller[1].decode()}).encode()
                    connection.sendall(
                        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
                        + body)
        except OSError:
            pass


class Files:
    """The authority, the certificates of the servers, and those of the clients."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.root = Authority(folder)
        self.other = Authority(folder, "stranger")
        between = Authority(folder, "between", issuer=self.root)
        self.root.issue("a", ["a.test", "localhost"])
        self.root.issue("a-rsa", ["a.test", "localhost"], kind="rsa")
        between.issue("wildcard", ["*.w.test"])
        self.root.issue("exact", ["exact.w.test"])
        past = datetime.datetime.now(datetime.timezone.utc) - 30 * DAY
        self.clients = {
            "valid": self.root.issue("client", ["spiffe://shop/checkout"], usage="client"),
            "another name": self.root.issue("client-2", ["spiffe://other/checkout"], usage="client"),
            "below an intermediate": between.issue("client-3", ["spiffe://shop/below"], usage="client"),
            "untrusted": self.other.issue("client-4", ["spiffe://shop/checkout"], usage="client"),
            "expired": self.root.issue("client-5", ["spiffe://shop/old"], usage="client", begins=past, lifetime=DAY),
            "of a server": self.root.issue("client-6", ["spiffe://shop/server"], usage="server"),
        }


class Gateway(harness.Gateway):
    NAMES = ["redirect", "first", "modern", "required", "optional", "untracked", "newest", "plain"]

    def __init__(self, binary, files, backend):
        super().__init__(
            binary, files.folder, CONFIG, self.NAMES, backend=backend.port, certificates=CERTIFICATES)


class Nginx(harness.Server):
    """The same certificates and rules, as far as nginx has them."""

    def __init__(self, files):
        folder = files.folder
        self.ports = {name: free_port() for name in Gateway.NAMES}
        pair = lambda name: f"ssl_certificate {folder}/{name}.pem; ssl_certificate_key {folder}/{name}.key; "
        server = lambda port, names, more, default="": NGINX_SERVER.format(
            port=self.ports[port], names=names, more=more, default=default)
        named = lambda port, more, default: (
            server(port, "a.test localhost", pair("a") + pair("a-rsa") + more, default)
            + server(port, "*.w.test", pair("wildcard") + more) + server(port, "exact.w.test", pair("exact") + more))
        newest = "ssl_protocols TLSv1.3; "
        authority = f"ssl_client_certificate {folder}/root.pem; ssl_verify_depth 3; "
        servers = (
            named("first", "", "default_server") + named("modern", newest, "")
            + server("modern", "_", newest + "ssl_reject_handshake on;", "default_server")
            + server("required", "_", pair("a") + authority + "ssl_verify_client on;")
            + server("optional", "_", pair("a") + authority + "ssl_verify_client optional;")
            + server("untracked", "_", pair("a") + "ssl_session_tickets off; ssl_session_cache none;")
            + server("newest", "_", pair("a") + newest))
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(folder=folder, servers=servers))
        super().__init__(["nginx", "-p", str(folder), "-c", str(config)])
        self.wait_until(lambda: accepts(self.ports["first"]))


VERSIONS = {"1.0": ssl.TLSVersion.TLSv1, "1.1": ssl.TLSVersion.TLSv1_1, "1.2": ssl.TLSVersion.TLSv1_2,
            "1.3": ssl.TLSVersion.TLSv1_3}


@dataclasses.dataclass
class Outcome:
    """What one connection gave: the alert or error, or the facts of the handshake and the response."""

    error: str = ""
    version: str = ""
    names: tuple = ()
    kind: str = ""
    alpn: str = None
    reused: bool = False
    status: int = 0
    body: dict = None
    session: object = None


class Client:
    """Python's ssl with chosen parameters."""

    def __init__(self, files, version=None, alpn=None, certificate=None):
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self.context.load_verify_locations(files.root.path)
        self.context.check_hostname = False
        if version in ("1.0", "1.1"):
            self.context.set_ciphers("ALL:@SECLEVEL=0")
        if version:
            self.context.minimum_version = self.context.maximum_version = VERSIONS[version]
        if alpn:
            self.context.set_alpn_protocols(alpn)
        if certificate:
            self.context.load_cert_chain(*certificate)

    def connect(self, port, name="a.test", session=None):
        plain = socket.create_connection(("127.0.0.1", port), timeout=5)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return self.context.wrap_socket(plain, server_hostname=name, session=session)

    def outcome(self, port, name="a.test", session=None, path="/hello", refused=False):
        """One handshake and one request. Where the row expects a refusal, the client only reads: with TLS 1.3 the
        refusal of a client certificate arrives after the client's handshake."""
        out = Outcome()
        try:
            with self.connect(port, name, session) as connection:
                out.version, out.alpn = connection.version(), connection.selected_alpn_protocol()
                out.reused = connection.session_reused
                certificate = x509.load_der_x509_certificate(connection.getpeercert(True))
                out.names = tuple(
                    certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
                    .get_values_for_type(x509.DNSName))
                out.kind = "rsa" if "rsa" in type(certificate.public_key()).__name__.lower() else "ec"
                if refused and out.version == "TLSv1.3":
                    connection.recv(1)
                    return out
                connection.sendall(
                    f"GET {path} HTTP/1.1\r\nHost: {name or 'a.test'}\r\nConnection: close\r\n\r\n".encode())
                data = b""
                while piece := connection.recv(65536):
                    data += piece
                out.status = int(data[9:12])
                text = data.split(b"\r\n\r\n", 1)[1]
                out.body = json.loads(text) if text.startswith(b"{") else None
                out.session = connection.session
        except ssl.SSLError as error:
            out.error = (error.reason or str(error)).upper().replace(" ", "_")
        except OSError as error:
            out.error = type(error).__name__
        return out


def s_client(port, files, *options, name="a.test", text=b"", seconds=10):
    """Output of `openssl s_client` and whether it completed the handshake."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-servername", name, "-CAfile", files.root.path,
               *options]
    done = subprocess.run(command, input=text, capture_output=True, timeout=seconds)
    output = (done.stdout + done.stderr).decode(errors="replace")
    return output, "Cipher is (NONE)" not in output and "New, " in output or "Reused, " in output


def matrix(server, files, is_nginx):
    ports = server.ports
    rows_of_versions(ports, files)
    rows_of_names(ports, files, is_nginx)
    rows_of_parameters(ports, files)
    rows_of_alpn(ports, files)
    rows_of_clients(ports, files, is_nginx)
    rows_of_resumption(server, files, is_nginx)


def rows_of_versions(ports, files):
    accepted = {"first": {"1.2", "1.3"}, "modern": {"1.3"}, "newest": {"1.3"}}
    for listener, versions in accepted.items():
        for version in VERSIONS:
            out = Client(files, version).outcome(ports[listener])
            if version in versions:
                expect(out.status == 200 and out.version == f"TLSv{version}", f"{listener}, TLS {version}: {out}")
            else:
                expect("PROTOCOL_VERSION" in out.error, f"{listener}, TLS {version} must be refused: {out}")


# Name that the client sends, the first DNS name of the expected certificate; None where no certificate has the name.
NAMES = [("a.test", "a.test"), ("A.TesT", "a.test"), ("localhost", "a.test"), ("x.w.test", "*.w.test"),
         ("exact.w.test", "exact.w.test"), ("w.test", None), ("x.y.w.test", None), ("other.test", None), (None, None)]


def rows_of_names(ports, files, is_nginx):
    for listener, version in (("first", "1.2"), ("first", "1.3"), ("modern", "1.3")):
        for name, expected in NAMES:
            if is_nginx and name == "x.y.w.test":
                continue  # a wildcard of nginx stands for several labels
            out = Client(files, version).outcome(ports[listener], name)
            what = f"{listener}, TLS {version}, name {name}"
            if expected is None and listener == "modern" and name is not None:
                expect("UNRECOGNIZED_NAME" in out.error, f"{what} must be refused: {out}")
            elif expected is None and listener == "modern":
                # A client that sends no name at all gets the first certificate or the same refusal.
                expect(out.status == 200 or "UNRECOGNIZED_NAME" in out.error, f"{what}: {out}")
            else:
                expect(out.status == 200 and out.names[0] == (expected or "a.test"), f"{what}: {out}")


# Name of the row, options of s_client, expression of the output, or None where the handshake must fail.
PARAMETERS = [
    ("1.2 RSA only", ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"], r"Peer signature type: RSA"),
    ("1.2 ECDSA only", ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"], r"Peer signature type: ECDSA"),
    ("1.3 RSA only", ["-tls1_3", "-sigalgs", "rsa_pss_rsae_sha256"], r"Peer signature type: RSA-PSS"),
    ("1.3 ECDSA only", ["-tls1_3", "-sigalgs", "ecdsa_secp256r1_sha256"], r"Peer signature type: ECDSA"),
    ("1.3 both", ["-tls1_3"], r"Peer signature type: ECDSA"),
    ("X25519", ["-groups", "X25519"], r"Server Temp Key: X25519"),
    ("P-256", ["-groups", "P-256"], r"Server Temp Key: ECDH, prime256v1"),
    ("P-384", ["-groups", "P-384"], r"Server Temp Key: ECDH, secp384r1"),
    ("P-521", ["-groups", "P-521"], None),
    ("X448", ["-groups", "X448"], None),
    ("CBC", ["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-SHA256"], None),
    ("RSA key exchange", ["-tls1_2", "-cipher", "AES128-GCM-SHA256"], None),
    ("DHE", ["-tls1_2", "-cipher", "DHE-RSA-AES128-GCM-SHA256"], None),
    ("CCM", ["-tls1_3", "-ciphersuites", "TLS_AES_128_CCM_SHA256"], None),
    ("ChaCha20", ["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"], r"TLS_CHACHA20_POLY1305_SHA256"),
]


def rows_of_parameters(ports, files):
    for what, options, pattern in PARAMETERS:
        output, completed = s_client(ports["first"], files, *options)
        if pattern is None:
            expect(not completed, f"{what} must be refused: {output[-300:]}")
        else:
            expect(completed and re.search(pattern, output), f"{what}: {output[-1500:]}")


def rows_of_alpn(ports, files):
    for version in ("1.2", "1.3"):
        for offered, chosen in ((None, None), (["http/1.1"], "http/1.1"), (["spdy/3", "http/1.1"], "http/1.1"),
                                (["spdy/3"], "refused")):
            out = Client(files, version, alpn=offered).outcome(ports["first"])
            what = f"TLS {version}, ALPN {offered}: {out}"
            if chosen == "refused":
                expect("NO_APPLICATION_PROTOCOL" in out.error, what)
            else:
                expect(out.status == 200 and out.alpn == chosen, what)


# Certificate of the client, and the alerts that refuse it.
CLIENTS = [("valid", None), ("below an intermediate", None), ("untrusted", "UNKNOWN_CA"),
           ("expired", "CERTIFICATE_EXPIRED"),
           ("of a server", "UNSUPPORTED_CERTIFICATE|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN")]


def rows_of_clients(ports, files, is_nginx):
    for listener in ("required", "optional"):
        for version in ("1.2", "1.3"):
            for certificate, alert in CLIENTS:
                # nginx answers 400 in HTTP instead of an alert.
                refused = alert is not None and not is_nginx
                out = Client(files, version, certificate=files.clients[certificate]).outcome(
                    ports[listener], refused=refused)
                what = f"{listener}, TLS {version}, certificate {certificate}: {out}"
                if refused:
                    expect(re.search(alert, out.error), what)
                else:
                    expect(out.status == (200 if alert is None else 400), what)
            none = Client(files, version).outcome(ports[listener], refused=listener == "required" and not is_nginx)
            what = f"{listener}, TLS {version}, no certificate: {none}"
            if listener == "optional":
                expect(none.status == 200, what)
            elif is_nginx:
                expect(none.status == 400, what)
            else:
                expect("CERTIFICATE_REQUIRED" in none.error if version == "1.3" else "HANDSHAKE_FAILURE" in none.error,
                       what)
    if is_nginx:
        return
    for listener in ("required", "optional", "first"):
        for certificate in ("valid", "another name", None):
            client = Client(files, certificate=certificate and files.clients[certificate])
            if listener == "required" and certificate is None:
                continue
            out = client.outcome(ports[listener], path="/caller")
            what = f"{listener}, /caller, certificate {certificate}: {out}"
            if listener == "first" or certificate is None:
                expect(out.status == 401, what)
            elif certificate == "another name":
                expect(out.status in (401, 403), what)
            else:
                expect(out.status == 200 and out.body["it"]["caller"] == "spiffe://shop/checkout", what)


def rows_of_resumption(server, files, is_nginx):
    ports = server.ports
    for version in ("1.2", "1.3"):
        client = Client(files, version)
        first = client.outcome(ports["first"])
        # More than one connection, so that both workers are reached.
        again = [client.outcome(ports["first"], session=first.session) for _ in range(6)]
        expect(not first.reused and all(out.reused and out.status == 200 for out in again),
               f"TLS {version}: a ticket is accepted by every worker: {first} {again}")
        if not is_nginx:
            elsewhere = client.outcome(ports["optional"], session=first.session)
            expect(not elsewhere.reused and elsewhere.status == 200,
                   f"TLS {version}: another listener does not accept the ticket: {elsewhere}")
        untracked = client.outcome(ports["untracked"])
        again = client.outcome(ports["untracked"], session=untracked.session)
        expect(not again.reused and again.status == 200, f"TLS {version}: no tickets: {again}")
        certificate = Client(files, version, certificate=files.clients["valid"])
        first = certificate.outcome(ports["required"], path="/hello" if is_nginx else "/caller")
        again = certificate.outcome(ports["required"], session=first.session, path="/hello" if is_nginx else "/caller")
        expect(again.reused and again.status == 200 and again.body == first.body,
               f"TLS {version}: a resumed connection keeps its client: {first} {again}")
        if not is_nginx:
            client = Client(files, version)
            first = client.outcome(ports["first"])
            server.reload()
            again = client.outcome(ports["first"], session=first.session)
            expect(again.reused and again.status == 200, f"TLS {version}: a ticket survives a reload: {again}")
    output, _ = s_client(ports["first"], files, "-tls1_3", text=b"GET /hello HTTP/1.1\r\nHost: a.test\r\n\r\n")
    expect("Max Early Data: 0" in output or "Early data was not sent" in output, f"no early data: {output[-800:]}")


def curl(files, *options):
    done = subprocess.run(["curl", "-sS", "--max-time", "10", "--cacert", files.root.path, *options],
                          capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else f"curl: {done.returncode} {done.stderr}"


def inputs(server, files):
    ports = server.ports
    body = curl(files, f"https://localhost:{ports['first']}/hello")
    expect(json.loads(body) == {"it": {"caller": None}}, f"curl over https: {body}")
    out = curl(files, "-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", f"http://localhost:{ports['redirect']}/a%20b?c=1&d")
    expect(out == f"308 https://localhost:{ports['first']}/a%20b?c=1&d", f"redirect: {out}")
    out = curl(files, "-o", "/dev/null", "-w", "%{http_code}", f"http://localhost:{ports['plain']}/hello")
    expect(out == "200", f"the plain listener serves beside: {out}")
    out = curl(files, "-k", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: bad host", f"http://localhost:{ports['redirect']}/")
    expect(out == "400", f"a redirect with a bad Host: {out}")

    with socket.create_connection(("127.0.0.1", ports["first"]), timeout=5) as plain:
        plain.sendall(b"GET /hello HTTP/1.1\r\nHost: a.test\r\n\r\n")
        data = everything(plain)
        expect(data.startswith(b"HTTP/1.1 400 ") and b"application/problem+json" in data, f"plain HTTP: {data[:200]}")
    for first in (b"", b"\x16", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x00" * 20, b"\xff" * 20):
        begin = time.monotonic()
        with socket.create_connection(("127.0.0.1", ports["first"]), timeout=5) as plain:
            plain.sendall(first)
            everything(plain)
        took = time.monotonic() - begin
        expect(took < 3, f"{first[:8]} and then nothing ends after handshake_timeout: {took:.1f} s")
    drip(ports["first"])
    many_records(ports["first"], files)
    half_close(ports["first"], files)
    truncation(server, files)
    output, _ = s_client(ports["first"], files, "-tls1_2", text=b"R\nGET /hello HTTP/1.1\r\nHost: a.test\r\n\r\n")
    expect("HTTP/1.1 200" not in output or "no renegotiation" in output, f"renegotiation: {output[-500:]}")
    expect("Compression: NONE" in output, "no compression")
    alive = Client(files).outcome(ports["first"])
    expect(alive.status == 200, f"after all of this a client is served: {alive}")


def everything(connection):
    data = b""
    try:
        while piece := connection.recv(65536):
            data += piece
    except OSError:
        pass
    return data


def client_hello(files, name="a.test"):
    """A complete first flight, from Python's ssl."""
    context = Client(files).context
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return tls, incoming, outgoing


def drip(port):
    """One byte every 100 ms: the whole handshake has one time limit, not each byte."""
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)
        closed = False
        for byte in hello[:40]:
            try:
                plain.sendall(bytes([byte]))
                plain.settimeout(0.1)
                closed = plain.recv(1) == b""
            except TimeoutError:
                continue
            except OSError:
                closed = True
            if closed:
                break
    took = time.monotonic() - begin
    expect(closed and took < 3, f"a byte every 100 ms ends after handshake_timeout: {closed}, {took:.1f} s")


def many_records(port, files):
    """A ClientHello in records of one byte each completes or is refused; it does not stay open."""
    _, _, outgoing = client_hello(files)
    hello = outgoing.read()[5:]
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        try:
            plain.sendall(b"".join(b"\x16\x03\x01\x00\x01" + bytes([byte]) for byte in hello))
        except OSError:
            pass
        everything(plain)
    took = time.monotonic() - begin
    expect(took < 3, f"a ClientHello in {len(hello)} records: {took:.1f} s")


def half_close(port, files):
    """close_notify from the client after its request: the response is still sent."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as plain:
        tls, incoming, outgoing = client_hello(files)
        while True:
            plain.sendall(outgoing.read())
            try:
                tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                incoming.write(plain.recv(65536))
        tls.write(b"GET /hello HTTP/1.1\r\nHost: a.test\r\n\r\n")
        try:
            tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        plain.sendall(outgoing.read())
        data = b""
        try:
            while piece := plain.recv(65536):
                incoming.write(piece)
                try:
                    while piece := tls.read(65536):
                        data += piece
                except ssl.SSLWantReadError:
                    pass
        except (ssl.SSLError, OSError):
            pass
        expect(data.startswith(b"HTTP/1.1 200 "), f"the response after close_notify: {data[:100]}")


def truncation(server, files):
    """An end of the connection without close_notify in the middle of a request: nothing is served to it."""
    client = Client(files)
    connection = client.connect(server.ports["first"])
    connection.sendall(b"GET /hello HTTP/1.1\r\nHost: a.t")
    plain = connection.detach()
    os.close(plain)
    expect(wait(lambda: Client(files).outcome(server.ports["first"]).status == 200), "a truncated connection")


def reload(server, files, total):
    """Requests in eight threads, 20 for each connection, while certificates change."""
    port = server.ports["first"]
    finished, serials, errors = [0] * 8, set(), []
    stop = threading.Event()

    def load(thread):
        client = Client(files)
        while finished[thread] < total // 8 and not errors:
            try:
                with client.connect(port) as connection:
                    serials.add(x509.load_der_x509_certificate(connection.getpeercert(True)).serial_number)
                    stream = connection.makefile("rb")
                    for _ in range(20):
                        connection.sendall(b"GET /hello HTTP/1.1\r\nHost: a.test\r\n\r\n")
                        status = stream.readline()
                        length = 0
                        while (line := stream.readline()) not in (b"\r\n", b""):
                            if line.lower().startswith(b"content-length:"):
                                length = int(line.split(b":")[1])
                        if not status.startswith(b"HTTP/1.1 200 ") or len(stream.read(length)) != length:
                            raise OSError(status)
                        finished[thread] += 1
            except (OSError, ssl.SSLError) as error:
                errors.append(repr(error))
        if thread == 0:
            stop.set()

    threads = [threading.Thread(target=load, args=(thread,)) for thread in range(8)]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    reloads = 0
    while any(thread.is_alive() for thread in threads):
        for name in ("a", "a-rsa"):
            files.root.issue(name, ["a.test", "localhost"], kind="rsa" if name == "a-rsa" else "ec")
        server.reload()
        reloads += 1
        time.sleep(0.3)
    for thread in threads:
        thread.join()
    took = time.monotonic() - begin
    print(f"{sum(finished)} requests in {took:.0f} s, {reloads} reloads, {len(serials)} certificates seen, "
          f"{len(errors)} failures")
    expect(not errors and sum(finished) >= total // 8 * 8, f"requests across reloads: {errors[:3]}")
    expect(reloads >= 3 and len(serials) >= 3, "the clients see the new certificates")

    # One bad file: none of the new ones is used, and the old ones are served.
    current = Client(files).outcome(port)
    (files.folder / "exact.pem").write_text("not a certificate")
    files.root.issue("a", ["a.test", "changed.test"])
    server.reload()
    after = Client(files).outcome(port)
    expect(after.status == 200 and after.names == current.names, f"a refused reload keeps every certificate: {after}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--only", choices=["matrix", "input", "reload"])
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--nginx", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = Files(folder)
        server = Nginx(files) if options.nginx else Gateway(options.binary, files, Backend())
        if options.only in (None, "matrix"):
            matrix(server, files, options.nginx)
            print(f"matrix: {harness.checked - len(harness.failures)} of {harness.checked} rows")
        if not options.nginx:
            if options.only in (None, "input"):
                inputs(server, files)
            if options.only in (None, "reload"):
                reload(server, files, options.requests)
        finish()


if __name__ == "__main__":
    main()
