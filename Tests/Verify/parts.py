#!/usr/bin/env python3
"""Reads a response in parts in headless Chromium, with the code of the reference page, and checks that the parts
arrive in the order in which they are complete, each as soon as it is.

    Tests/Verify/parts.py .build/debug/tributary [--chromium /usr/bin/chromium]

The gateway serves the page itself. Everything runs on loopback. Needs Playwright's Python package and Chromium.
"""

import argparse
import json
import pathlib
import re
import tempfile
import time

from playwright.sync_api import sync_playwright

from harness import Gateway, Stub, expect, finish

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 1
backends: {{ up: {{ url: "http://127.0.0.1:{backend}" }} }}
endpoints:
  - route: GET /
    respond: {{ headers: {{ Content-Type: text/html }}, body: "<!doctype html><title>parts</title>" }}
  - route: GET /page
    deadline: 2s
    parts: {{ as: [ndjson, sse] }}
    calls:
      needed: {{ from: up, get: /150, required: true }}
      late: {{ from: up, get: /700 }}
      early: {{ from: up, get: /20 }}
      middle: {{ from: up, get: /400 }}
      broken: {{ from: up, get: /fails }}
  - route: GET /missing
    parts: {{ as: [ndjson] }}
    calls: {{ needed: {{ from: up, get: /gone, required: true }} }}
"""

# The members in the order in which they are complete, with the milliseconds of their calls.
ORDER = [("early", 150), ("broken", 150), ("needed", 150), ("middle", 400), ("late", 700)]


def respond(path):
    """Responds after as many milliseconds as the path says."""
    name = path.strip("/")
    time.sleep(int(name) / 1000 if name.isdigit() else 0.05)
    return {"fails": 500, "gone": 404}.get(name, 200), json.dumps({"ms": name}).encode()


def example():
    """The JavaScript of the reference page."""
    page = pathlib.Path(__file__).parents[2] / "docs/reference/parts.md"
    return re.search(r"```javascript\n(.*?)```", page.read_text(), re.S).group(1)


FETCH = """async (code) => {
  const parts = new Function(code + "; return parts;")();
  const began = performance.now(), records = [];
  const iterator = parts("/page");
  for (;;) {
    const { value, done } = await iterator.next();
    if (done) return { records, complete: value };
    records.push({ ...value, at: performance.now() - began });
  }
}"""

EVENTS = """() => new Promise((resolve, reject) => {
  const began = performance.now(), records = [];
  const source = new EventSource("/page");
  source.onerror = () => reject(new Error("the stream broke"));
  source.onmessage = (event) => {
    const record = JSON.parse(event.data);
    if (record.end) { source.close(); resolve({ records, complete: record.complete }); }
    else records.push({ ...record, at: performance.now() - began });
  };
})"""


def check(name, result):
    records = result["records"]
    names = [record["part"] for record in records]
    expect(names == [part for part, _ in ORDER], f"{name}: the order is {names}")
    expect(result["complete"] is False, f"{name}: complete is {result['complete']}")
    for record, (part, ms) in zip(records, ORDER):
        # The browser and the machine add to the time of the call, never as much as the next step.
        expect(ms - 20 <= record["at"] < ms + 200, f"{name}: {part} arrived after {record['at']:.0f} ms")
    failed = next(record for record in records if record["part"] == "broken")
    expect(failed.get("failure", {}).get("status") == 500, f"{name}: {failed}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(options.binary, folder, CONFIG, backend=Stub(respond).port)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
            print(f"Chromium {browser.version}")
            page = browser.new_page()
            page.goto(f"http://127.0.0.1:{gateway.port}/")
            # The first request opens connections.
            page.evaluate(FETCH, example())
            check("fetch", page.evaluate(FETCH, example()))
            check("EventSource", page.evaluate(EVENTS))
            script = FETCH.replace("/page", "/missing")
            message = page.evaluate(f"(code) => ({script})(code).catch((error) => error.message)", example())
            expect(message == "status 404", f"a failure before the head: {message}")
            browser.close()
        gateway.stop()
        finish()


if __name__ == "__main__":
    main()
