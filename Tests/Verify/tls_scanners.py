#!/usr/bin/env python3
"""Scans the TLS listeners of a gateway with testssl.sh and sslyze; neither may find anything.

    Tests/Verify/tls_scanners.py .build/debug/tributary [--nginx]

sslyze compares the listeners with Mozilla's recommendations `intermediate` and `modern`. testssl.sh rates each of its
findings; those of the severity LOW and above count, except the ones that EXPECTED names with their reasons.
Everything runs on loopback, on free ports. --nginx scans nginx instead, to check this script. Needs testssl.sh
(Debian), sslyze and cryptography (PyPI).
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile

import tls
from harness import expect, finish

# What testssl.sh reports about a test authority on loopback, not about the gateway.
EXPECTED = {
    "cert_trust": "the names of the certificate are not those of 127.0.0.1",
    "cert_chain_of_trust": "the authority of this test is in no trust store",
    "cert_crlDistributionPoints": "the authority of this test publishes no list",
    "cert_revocation": "the authority of this test revokes nothing",
    "OCSP_stapling": "the gateway does not staple; the largest authorities have ended OCSP",
    "DNS_CAArecord": "the names of this test have no DNS records",
    "cert_caIssuers": "the authority of this test has no address",
    "certificate_transparency": "the authority of this test logs nothing",
    "HSTS": "a header that a configuration sets",
    "security_headers": "headers that a configuration sets",
    "cipher_order": "Mozilla's recommendation leaves the order to the client, whose hardware decides what is fast",
    "overall_grade": "limited by the trust in the test's authority",
    "grade_cap_reason": "limited by the trust in the test's authority",
}


def sslyze(port, profile, files):
    done = subprocess.run(
        [sys.executable, "-m", "sslyze", f"--mozilla_config={profile}", "--certinfo",
         f"--certinfo_ca_file={files.root.path}", "--sni=a.test", f"127.0.0.1:{port}"],
        capture_output=True, text=True, timeout=300)
    compliant = re.search(r"127\.0\.0\.1:\d+: OK - Compliant", done.stdout)
    expect(compliant, f"sslyze, {profile}: {done.stdout[-1500:]}{done.stderr[-500:]}")
    print(f"sslyze {profile}: {'compliant' if compliant else 'not compliant'}")


def testssl(port, name, files):
    out = files.folder / f"testssl-{name}.json"
    subprocess.run(
        ["testssl", "--quiet", "--color", "0", "--warnings", "batch", "--nodns", "min", "--ip", "127.0.0.1",
         "--add-ca", files.root.path, "--jsonfile", str(out), f"a.test:{port}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=1200)
    findings = json.loads(out.read_text())
    expect(len(findings) > 50, f"testssl.sh, {name}: only {len(findings)} results")
    serious = [finding for finding in findings if finding["severity"] in ("LOW", "MEDIUM", "HIGH", "CRITICAL", "WARN", "FATAL")]
    remaining = [finding for finding in serious if not any(finding["id"].startswith(known) for known in EXPECTED)]
    expect(not remaining, f"testssl.sh, {name}: " + "; ".join(
        f"{finding['id']} ({finding['severity']}): {finding['finding']}" for finding in remaining))
    print(f"testssl.sh {name}: {len(findings)} results, {len(serious) - len(remaining)} about the test's authority, "
          f"{len(remaining)} findings")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--nginx", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = tls.Files(folder)
        server = tls.Nginx(files) if options.nginx else tls.Gateway(options.binary, files, tls.Backend())
        for listener, profile in (("first", "intermediate"), ("newest", "modern")):
            if listener == "newest" and not options.nginx:
                listener = "modern"
            sslyze(server.ports[listener], profile, files)
            testssl(server.ports[listener], listener, files)
        finish()


if __name__ == "__main__":
    main()
