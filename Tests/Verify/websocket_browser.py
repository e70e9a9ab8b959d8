#!/usr/bin/env python3
"""Opens WebSockets in Chromium on a page that arrived over HTTP/2: the browser opens them on the same connection (RFC 8441).

    Tests/Verify/websocket_browser.py .build/release/tributary

The page and the WebSockets pass through the gateway, to a backend of HTTP/1.1 each. The access log shows the protocol: the
status of a tunnel is 200 on a stream of HTTP/2, and 101 on a connection of HTTP/1.1. Everything runs on loopback, on free
ports. Needs Chromium, openssl, and websockets, wsproto and playwright (PyPI).
"""

import argparse
import http.server
import json
import tempfile
import threading

import playwright.sync_api

from harness import Gateway, certificate, expect, finish, wait
from websocket import EchoServer

CONFIG = """\
version: 1
listen:
  - address: 127.0.0.1:{listen}
    tls: {{ cert: "{certificates}/cert.pem", key: "{certificates}/key.pem" }}
  - address: 127.0.0.1:{http1}
    tls: {{ cert: "{certificates}/cert.pem", key: "{certificates}/key.pem" }}
    protocols: [http1]
admin: 127.0.0.1:{admin}
workers: 1
backends:
  page: {{ url: "http://127.0.0.1:{page}" }}
  live: {{ url: "http://127.0.0.1:{live}" }}
endpoints:
  - {{ route: GET /, proxy: page }}
  - {{ route: GET /live, proxy: {{ to: live, path: /, upgrade: [websocket], idle_timeout: 1m }} }}
  - {{ route: GET /closed, proxy: page }}
"""
# Sends every message when the one before has returned; resolves with what was observed.
SCRIPT = """async () => {
    const open = (path) => new Promise((resolve) => {
        const socket = new WebSocket(`wss://${location.host}${path}`);
        const seen = { echoes: 0, extensions: "", code: 0 };
        const sizes = [0, 1, 125, 126, 65535, 65536, 1000000];
        const send = () => socket.send("x".repeat(sizes[seen.echoes]));
        socket.onopen = () => { seen.extensions = socket.extensions; send(); };
        socket.onmessage = (event) => {
            if (event.data.length === sizes[seen.echoes]) seen.echoes += 1;
            if (seen.echoes === sizes.length) socket.close(1000, "done"); else send();
        };
        socket.onclose = (event) => { seen.code = event.code; seen.clean = event.wasClean; resolve(seen); };
    });
    const sockets = await Promise.all(Array.from({ length: 20 }, () => open("/live")));
    return {
        protocol: performance.getEntriesByType("navigation")[0].nextHopProtocol,
        sockets,
        refused: await open("/closed"),
    };
}"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>page</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def logged(gateway, path):
    """The statuses of the requests to a path, as the access log has them."""
    lines = [json.loads(line) for line in gateway.log_path.read_text().splitlines() if line.startswith("{")]
    return [line["status"] for line in lines if line.get("path") == path]


def observe(browser, port):
    """What the script finds on a page of this port."""
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(f"https://localhost:{port}/")
    found = page.evaluate(SCRIPT)
    context.close()
    return found


def check(browser, gateway, port, protocol, status):
    before = len(logged(gateway, "/live"))
    found = observe(browser, port)
    expect(found["protocol"] == protocol, f"the page arrived over {found['protocol']}")
    good = [one for one in found["sockets"] if one["echoes"] == 7 and one["code"] == 1000 and one["clean"]]
    expect(len(good) == 20, f"{protocol}: {len(good)} of 20 WebSockets: {found['sockets']}")
    extensions = {one["extensions"] for one in found["sockets"]}
    compressed = all(one.startswith("permessage-deflate") for one in extensions)
    expect(compressed, f"{protocol}: the extensions are {extensions}")
    expect(found["refused"]["code"] == 1006, f"{protocol}: an endpoint without upgrade: {found['refused']}")
    wait(lambda: len(logged(gateway, "/live")) == before + 20)
    statuses = logged(gateway, "/live")[before:]
    expect(statuses == [status] * 20, f"{protocol}: the log has {statuses}")
    print(f"{protocol}: {len(good)} of 20 WebSockets, status {set(statuses)}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    pages = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    live = EchoServer()
    with tempfile.TemporaryDirectory() as folder:
        certificate(folder)
        values = {"certificates": folder, "page": pages.server_port, "live": live.port}
        gateway = Gateway(options.binary, folder, CONFIG, ports=["http1"], **values)
        with playwright.sync_api.sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
            check(browser, gateway, gateway.port, "h2", 200)
            check(browser, gateway, gateway.ports["http1"], "http/1.1", 101)
            browser.close()
        gateway.stop()
    finish()


if __name__ == "__main__":
    main()
