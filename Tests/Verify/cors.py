#!/usr/bin/env python3
"""Sends requests from pages of two and more origins in headless Chromium, and checks which of them the browser
lets the pages read.

    Tests/Verify/cors.py .build/debug/tributary [--chromium /usr/bin/chromium]

Where the configuration allows an origin, the page must read status, body and exposed headers, and the console must
have no error but the browser's own line about a status of 400 and above. Where it does not, every request must
fail in the page with an error of CORS on the console. Everything runs on loopback. Needs Playwright's Python
package and Chromium.
"""

import argparse
import http.server
import tempfile
import threading
import time

from playwright.sync_api import sync_playwright

from harness import Gateway, expect, finish, free_port

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 1
defaults:
  deadline: 400ms
  cors:
    origins: ["{allowed}"]
    headers: [Content-Type, X-A]
    expose: [ETag]
    credentials: true
    max_age: 5m
backends:
  up: {{ url: "http://127.0.0.1:{backend}" }}
  down: {{ url: "http://127.0.0.1:{closed}" }}
endpoints:
  - {{ route: GET /items, calls: {{ items: {{ from: up, get: /items, relay_headers: [ETag, X-Hidden] }} }} }}
  - {{ route: POST /items, calls: {{ item: {{ from: up, post: /items, body: "{{request.body?}}" }} }} }}
  - {{ route: PUT /items, calls: {{ item: {{ from: up, put: /items, body: "{{request.body?}}" }} }} }}
  - {{ route: GET /checked, params: {{ n: {{ type: integer, required: true }} }}, calls: {{ items: {{ from: up, get: /items }} }} }}
  - {{ route: GET /down, calls: {{ items: {{ from: down, get: /items }} }} }}
  - {{ route: GET /slow, calls: {{ items: {{ from: up, get: /slow }} }} }}
  - {{ route: GET /refused, clients: {{ deny: [127.0.0.1] }}, calls: {{ items: {{ from: up, get: /items }} }} }}
  - {{ route: GET /open, cors: {{ origins: ["*"], headers: ["*"] }}, calls: {{ items: {{ from: up, get: /items }} }} }}
  - {{ route: GET /sub, cors: {{ origins: ["{subdomains}"] }}, calls: {{ items: {{ from: up, get: /items }} }} }}
  - {{ route: GET /none, cors: none, calls: {{ items: {{ from: up, get: /items }} }} }}
  - {{ route: PUT /none, cors: none, calls: {{ item: {{ from: up, put: /items }} }} }}
"""

# Name, path, options of fetch, and the status that a page reads where it may.
DEFAULT_RULES = [
    ("simple", "/items", {}, 200),
    ("head", "/items", {"method": "HEAD"}, 200),
    ("form", "/items", {"method": "POST", "body": "a=b"}, 200),
    ("json", "/items", {"method": "POST", "body": "{}", "headers": {"Content-Type": "application/json"}}, 200),
    ("put", "/items", {"method": "PUT", "body": "{}"}, 200),
    ("listed header", "/items", {"headers": {"X-A": "1"}}, 200),
    ("credentials", "/items", {"credentials": "include"}, 200),
    ("put with credentials", "/items", {"method": "PUT", "credentials": "include"}, 200),
    ("unknown path", "/nothing", {}, 404),
    ("wrong method", "/checked", {"method": "POST", "body": "a"}, 405),
    ("invalid parameter", "/checked?n=a", {}, 400),
    ("backend down", "/down", {}, 502),
    ("deadline", "/slow", {}, 504),
    ("refused client", "/refused", {}, 403),
]
# Blocked for every origin.
NEVER = [
    ("header that is not listed", "/items", {"headers": {"X-B": "1"}}),
    ("method without a route", "/items", {"method": "DELETE"}),
    ("unknown path with a preflight", "/nothing", {"method": "PUT"}),
    ("no rules", "/none", {}),
    ("no rules with a preflight", "/none", {"method": "PUT"}),
    ("any origin with credentials", "/open", {"credentials": "include"}),
    # A 414: the gateway does not read the headers of such a request, so it does not know the origin.
    ("target that is too long", "/items?" + "a" * 9000, {}),
]
# Allowed for every origin.
ALWAYS = [
    ("any origin", "/open", {}, 200),
    ("any origin and header", "/open", {"headers": {"X-B": "1"}}, 200),
    ("opaque", "/none", {"mode": "no-cors"}, 0),
]

SCRIPT = """async ([url, options]) => {
    try {
        const response = await fetch(url, options);
        return {
            status: response.status, length: (await response.text()).length,
            names: ["ETag", "X-Hidden", "X-Request-Id", "Gateway-Complete"].filter(n => response.headers.get(n)),
        };
    } catch (error) { return { error: String(error) }; }
}"""


class Pages(http.server.BaseHTTPRequestHandler):
    """An empty page at every address."""

    def do_GET(self):
        body = b"<!doctype html><title>page</title><link rel=icon href=data:,>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Backend(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/slow":
            time.sleep(1)
        body = b'{"ok":true}'
        self.send_response(200)
        self.send_header("ETag", '"1"')
        self.send_header("X-Hidden", "1")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            pass  # The gateway has cancelled the call.

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


class Matrix:
    def __init__(self, gateway):
        self.gateway = gateway

    def run(self, page, origin, name, path, options, status):
        """One request; status is None where the browser has to block it."""
        errors = []

        def listen(message):
            if message.type == "error":
                errors.append(message.text)

        page.on("console", listen)
        result = page.evaluate(SCRIPT, [self.gateway + path, options])
        page.wait_for_timeout(30)
        page.remove_listener("console", listen)
        name = f"{name} from {origin}"
        if status is None:
            expect("error" in result and any("CORS" in error for error in errors),
                   f"{name}: expected an error of CORS; the page has read {result}, errors {errors}")
            return None
        others = [error for error in errors if "the server responded with a status of" not in error]
        expect(result.get("status") == status and not others, f"{name}: {result}, expected {status}; {errors}")
        return result


def serve(handler):
    """The port of a new server."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def run_matrix(matrix, browser, allowed, other, subdomain):
    def page_of(origin):
        page = browser.new_context().new_page()
        page.goto(origin + "/")
        return page

    page = page_of(allowed)
    for name, path, options, status in DEFAULT_RULES + ALWAYS:
        result = matrix.run(page, allowed, name, path, options, status)
        if name == "simple":
            expect(result.get("names") == ["ETag", "X-Request-Id", "Gateway-Complete"], f"exposed headers: {result}")
    for name, path, options in NEVER:
        matrix.run(page, allowed, name, path, options, None)
    for origin in [other, subdomain]:
        page = page_of(origin)
        for name, path, options, _ in DEFAULT_RULES:
            matrix.run(page, origin, name, path, options, None)
        for name, path, options in NEVER:
            matrix.run(page, origin, name, path, options, None)
        for name, path, options, status in ALWAYS:
            matrix.run(page, origin, name, path, options, status)
        matrix.run(page, origin, "subdomain", "/sub", {}, 200 if origin == subdomain else None)
    # A sandboxed frame of an allowed page has the origin null.
    page = page_of(allowed)
    page.evaluate("""() => new Promise(loaded => {
        const frame = document.createElement("iframe");
        frame.sandbox = "allow-scripts"; frame.srcdoc = "<p>"; frame.onload = loaded;
        document.body.append(frame);
    })""")
    frame = page.frames[1]
    for name, path, status in [("sandboxed", "/items", None), ("sandboxed, any origin", "/open", 200)]:
        result = frame.evaluate(SCRIPT, [matrix.gateway + path, {}])
        expect(result.get("status") == status, f"{name}: {result}, expected {status}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    backend, pages, others = serve(Backend), serve(Pages), serve(Pages)
    allowed, other = f"http://127.0.0.1:{pages}", f"http://127.0.0.1:{others}"
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(
            options.binary, folder, CONFIG, backend=backend, closed=free_port(), allowed=allowed,
            subdomains=f"http://*.localhost:{pages}")
        matrix = Matrix(f"http://127.0.0.1:{gateway.port}")
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
            print(f"Chromium {browser.version}")
            run_matrix(matrix, browser, allowed, other, f"http://shop.localhost:{pages}")
            browser.close()
        gateway.stop()
        finish()


if __name__ == "__main__":
    main()
