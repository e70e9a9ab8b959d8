#!/usr/bin/env python3
"""Checks the page of the admin address in headless Chromium while the gateway serves 1,000 requests per second.

    Tests/Verify/page.py .build/release/tributary [--rate 1000] [--seconds 30] [--images docs/images]

The backends and clients are those of page_traffic.py; everything runs on loopback. It needs Chromium, and
Python's packages playwright and axe-playwright-python, which carries axe-core; script/verify installs them.
With --images it also writes the screenshots of the documentation.
"""

import argparse
import http.client
import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

import page_traffic

TRAFFIC = pathlib.Path(__file__).with_name("page_traffic.py")
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
VIEWS = {"1": "endpoints", "2": "requests", "3": "backends", "4": "process"}
BYTES_MAX = 62 * 1024

# Records long tasks and violations of the Content-Security-Policy from the first moment on.
OBSERVER = """
window.seen = { tasks: [], violations: [], summaries: [] };
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) seen.tasks.push(Math.round(entry.duration));
}).observe({ type: "longtask" });
document.addEventListener("securitypolicyviolation", (event) => seen.violations.push(event.violatedDirective));
"""


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


# The gateway and its traffic


class Gateway:
    def __init__(self, options):
        self.port, self.rate = options.port, options.rate
        self.admin = options.port + 1
        config = page_traffic.config(self.port, self.admin, options.port + 10)
        outage = ["--outage", options.outage] if options.outage else []
        self.backends = self.traffic("backends", options.port + 10, *outage, stdout=subprocess.PIPE)
        self.backends.stdout.readline()
        self.process = subprocess.Popen(
            [options.binary, "serve", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.process.stdin.write(config.encode())
        self.process.stdin.close()
        self.clients = None
        self.wait_until_ready()

    def traffic(self, *arguments, **more):
        return subprocess.Popen([sys.executable, str(TRAFFIC), *map(str, arguments)], **more)

    def wait_until_ready(self):
        for _ in range(200):
            expect(self.process.poll() is None, "the gateway ended at its start")
            try:
                if self.get("/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise Failure("the gateway did not become ready")

    def start_clients(self, seconds):
        self.clients_began = time.monotonic()
        self.clients = self.traffic("clients", self.port, "--rate", self.rate, "--seconds", seconds)

    def get(self, path, fields={}, method="GET", port=None, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", port or self.admin, timeout=5)
        connection.request(method, path, body=body, headers=fields)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response.status, dict(response.getheaders()), text

    def requests_served(self):
        overview = json.loads(self.get("/-/overview")[2])
        return sum(endpoint["requests"] for endpoint in overview["endpoints"])

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cpu_per_request(self, seconds):
        """In microseconds, over so many seconds from now."""
        requests, cpu = self.requests_served(), self.cpu_seconds()
        time.sleep(seconds)
        cpu = self.cpu_seconds() - cpu
        return 1e6 * cpu / max(1, self.requests_served() - requests)

    def stop(self):
        for process in [self.clients, self.process, self.backends]:
            if process and process.poll() is None:
                process.kill()
            if process:
                process.wait()


# The browser


class Browser:
    """Opens the page in tabs and records what must not happen in any of them."""

    def __init__(self, playwright, gateway):
        self.chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        self.address = f"http://127.0.0.1:{gateway.admin}/"
        self.problems = []
        self.requested = set()
        self.is_watching = True

    def open(self, scheme="light", before=None, size=(1360, 820), **options):
        context = self.chromium.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, locale="en-GB", **options)
        page = context.new_page()
        page.add_init_script(OBSERVER)
        page.on("request", lambda request: self.requested.add(request.url))
        page.on("pageerror", lambda error: self.problem(f"error: {error}"))
        page.on("console", self.console)
        if before:
            before(page)
        page.goto(self.address)
        return page

    def console(self, message):
        # A status that a check provokes is no error of the page.
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.problem(f"console: {message.text}")

    def problem(self, text):
        if self.is_watching:
            self.problems.append(text)

    def close(self, page):
        violations = page.evaluate("seen.violations")
        if violations:
            self.problem(f"violations of the policy: {violations}")
        page.context.close()


def until(page, condition, timeout=10_000):
    """Waits for a condition; Playwright's own function evaluates a string, which the policy forbids."""
    end = time.monotonic() + timeout / 1000
    while not page.evaluate(condition):
        expect(time.monotonic() < end, f"never: {condition}")
        page.wait_for_timeout(50)


def wait_for_rows(page, view="endpoints"):
    until(page, f"document.querySelectorAll('#{view} tr').length > 0", timeout=15_000)


def names(page, view="endpoints"):
    return page.eval_on_selector_all(f"#{view} tr", "rows => rows.map(row => row.rowKey)")


def texts(page, selector):
    return page.eval_on_selector_all(selector, "nodes => nodes.map(node => node.textContent)")


def focused(page):
    return page.evaluate(
        "({ key: document.activeElement.rowKey ?? null, id: document.activeElement.id,"
        " outline: getComputedStyle(document.activeElement).outlineStyle })")


# Checks


def check_headers(gateway, browser):
    status, fields, text = gateway.get("/")
    policy = fields["Content-Security-Policy"]
    expect(status == 200 and fields["Content-Type"] == "text/html; charset=utf-8", "the document")
    expect(policy.startswith("default-src 'none'; script-src 'sha256-"), f"the policy: {policy}")
    expect("unsafe" not in policy and "http" not in policy, f"the policy: {policy}")
    expect(fields["X-Content-Type-Options"] == "nosniff", "nosniff")
    expect(fields["Referrer-Policy"] == "no-referrer" and fields["Cache-Control"] == "no-store", "headers")
    expect(len(text.encode()) <= BYTES_MAX, f"the document has {len(text.encode())} bytes")
    expect('<link rel="icon" href="data:image/svg+xml,' in text, "the icon")
    expect("://" not in text.replace("http://www.w3.org/2000/svg", ""), "the document names an address")
    for path in ["/", "/-/overview", "/-/requests/recent"]:
        expect(gateway.get(path, {"Host": "evil.example"})[0] == 421, f"{path} of another host")
        expect(gateway.get(path, {"Origin": "http://evil.example"})[0] == 403, f"{path} of another origin")


def check_stability(gateway, browser, seconds):
    """Long tasks, rates and rows, while the page is open for thirty seconds."""
    page = browser.open()
    wait_for_rows(page)
    page.wait_for_timeout(3_000)
    page.evaluate("seen.tasks.length = 0")
    rows, rates = names(page), []
    page.wait_for_timeout(1_000 * (seconds - 3))
    rates.append(page.inner_text("#rate"))
    for key in "231":
        page.keyboard.press(key)
        page.wait_for_timeout(1_000)
    tasks = page.evaluate("seen.tasks")
    expect(names(page) == rows, f"rows moved: {rows} to {names(page)}")
    rate = float(rates[0].replace(",", ""))
    expect(abs(rate - gateway.rate) < 0.15 * gateway.rate, f"the page shows {rate} requests per second")
    print(f"   {rate:.0f} requests per second shown; {len(tasks)} long tasks {tasks}")
    expect(not tasks, f"long tasks in milliseconds: {tasks}")
    # The observer works: a task of 80 ms is one.
    page.evaluate("setTimeout(() => { const end = performance.now() + 80; while (performance.now() < end); })")
    until(page, "seen.tasks.length === 1", timeout=5_000)
    browser.close(page)


def check_cost(gateway, browser, seconds):
    """CPU per request while something reads what an open page reads, against CPU without. Without a browser,
    whose own work changes how the gateway runs on a machine with few processors."""
    costs = {False: [], True: []}
    for slice in range(12):
        stop = threading.Event()
        reader = threading.Thread(target=read_as_a_page, args=(gateway, stop))
        if slice % 2:
            reader.start()
        costs[bool(slice % 2)].append(gateway.cpu_per_request(seconds / 6))
        stop.set()
        if slice % 2:
            reader.join()
    closed, opened = (statistics.median(costs[is_open]) for is_open in [False, True])
    print(f"   CPU per request: {closed:.1f} us with the page closed, {opened:.1f} us with it open, "
          f"{100 * (opened / closed - 1):+.1f} %")
    expect(opened < 1.15 * closed, "an open page costs too much")


def read_as_a_page(gateway, stop):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.admin, timeout=5)
    cursor = ""
    while not stop.wait(0.5):
        for path in ["/-/overview", f"/-/requests/recent?limit=200&after={cursor}"]:
            connection.request("GET", path)
            document = json.loads(connection.getresponse().read())
            cursor = document.get("cursor", cursor)


def check_summary(gateway, browser):
    """Screen readers get a sentence, at most every ten seconds."""
    page = browser.open()
    wait_for_rows(page)
    page.evaluate(
        "new MutationObserver(() => seen.summaries.push(performance.now()))"
        ".observe(document.getElementById('summary'), { childList: true, characterData: true, subtree: true })")
    page.wait_for_timeout(22_000)
    moments = page.evaluate("seen.summaries")
    expect(1 <= len(moments) <= 3, f"{len(moments)} sentences in 22 seconds")
    expect(all(later - earlier > 9_000 for earlier, later in zip(moments, moments[1:])), f"{moments}")
    expect("requests per second" in page.inner_text("#summary"), page.inner_text("#summary"))
    browser.close(page)


def check_keyboard(gateway, browser):
    page = browser.open()
    wait_for_rows(page)
    for key, view in VIEWS.items():
        page.keyboard.press(key)
        expect(page.is_visible(f"#view-{view}"), f"key {key}")
        expect(page.get_attribute(f"#tab-{view}", "aria-selected") == "true", f"tab {view}")
    # Every control is reached with the tabulator and shows the focus.
    page.keyboard.press("1")
    page.evaluate("document.activeElement.blur()")
    reached = []
    for _ in range(6):
        page.keyboard.press("Tab")
        now = focused(page)
        expect(now["outline"] != "none", f"no visible focus on {now}")
        reached.append(now["id"] or now["key"])
    expect(reached[:5] == ["tab-endpoints", "filter", "sample", "pause", "help-button"], f"order {reached}")
    expect(reached[5] == names(page)[0], f"the first row after the controls: {reached}")
    # The filter takes keys that are commands elsewhere.
    page.keyboard.press("/")
    page.keyboard.type("home 2?")
    expect(page.is_visible("#view-endpoints") and page.input_value("#filter") == "home 2?", "typing")
    until(page, "document.querySelectorAll('#endpoints tr').length === 0")
    page.keyboard.press("Escape")
    wait_for_rows(page)
    page.keyboard.type("/home")
    until(page, "document.querySelectorAll('#endpoints tr').length === 1")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    # Rows.
    until(page, "document.querySelectorAll('#endpoints tr').length > 3")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    expect(focused(page)["key"] == names(page)[1], "the second row")
    page.keyboard.press("ArrowUp")
    expect(focused(page)["key"] == names(page)[0], "the first row again")
    page.keyboard.press("Enter")
    expect(page.is_visible("#view-requests"), "the requests of an endpoint")
    expect(page.input_value("#filter") == f'endpoint:"{names(page)[0]}"', "the filter of an endpoint")
    check_detail_keys(page)
    # Pause.
    page.keyboard.press(" ")
    expect(page.get_attribute("#pause", "aria-pressed") == "true", "pause")
    page.wait_for_timeout(1_000)
    count = len(page.evaluate("performance.getEntriesByType('resource')"))
    page.wait_for_timeout(1_500)
    expect(len(page.evaluate("performance.getEntriesByType('resource')")) == count, "requests while paused")
    page.keyboard.press(" ")
    page.wait_for_timeout(1_500)
    expect(len(page.evaluate("performance.getEntriesByType('resource')")) > count, "requests after the pause")
    # Help.
    page.keyboard.press("?")
    expect(page.is_visible("#help"), "help")
    page.keyboard.press("3")
    expect(page.is_visible("#view-requests"), "keys do nothing behind the help")
    page.keyboard.press("Escape")
    expect(not page.is_visible("#help"), "help closed")
    browser.close(page)


def check_detail_keys(page):
    """Rows stay while one has the focus; details with every phase; back to the row."""
    until(page, "document.querySelectorAll('#requests tr').length > 1", timeout=20_000)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    row = focused(page)["key"]
    place = page.evaluate("document.activeElement.getBoundingClientRect().top")
    order = names(page, "requests")
    page.wait_for_timeout(3_000)
    expect(names(page, "requests") == order, "rows moved while one had the focus")
    expect(page.evaluate("document.activeElement.getBoundingClientRect().top") == place, "the row moved")
    page.keyboard.press("Enter")
    expect(page.is_visible("#detail") and focused(page)["id"] == "detail", "details")
    position = page.inner_text("#position")
    page.keyboard.press("ArrowLeft")
    if not position.startswith("1 of"):
        expect(page.inner_text("#position") != position, "the older request")
    page.keyboard.press("ArrowRight")
    expect(page.inner_text("#position") == position, "the newer request")
    heads = [text.strip() for text in texts(page, ".phases thead th.number")]
    expect(heads == ["Began", "Queue", "Connect", "Wait", "Receive", "Total"], f"phases {heads}")
    page.keyboard.press("Escape")
    expect(not page.is_visible("#detail") and focused(page)["key"] == row, "back to the row")
    page.keyboard.press("Escape")
    expect(focused(page)["key"] is None, "left the row")


def check_copy(gateway, browser):
    page = browser.open(permissions=["clipboard-read", "clipboard-write"])
    open_partial_request(page)
    page.click("#copy")
    until(page, "document.getElementById('copy').textContent === 'Copied'")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    expect(copied["id"] in page.inner_text("#facts"), "the copied request is the shown one")
    expect(all(call["attempts"] for call in copied["calls"]), "attempts of its calls")
    browser.close(page)


def open_partial_request(page, text='partial endpoint:"GET /products/{id}"'):
    page.keyboard.press("2")
    page.fill("#filter", text)
    wait_for_rows(page, "requests")
    page.wait_for_timeout(1_200)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector("#phases tr")


def check_accessibility(gateway, browser):
    """axe-core in both colour schemes, in every view, in the details and in the help."""
    script = Axe().axe_script
    for scheme in ["light", "dark"]:
        page = browser.open(scheme)
        page.evaluate(script)
        wait_for_rows(page)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        expect((ground == "rgb(18, 21, 24)") == (scheme == "dark"), f"{scheme}: {ground}")
        for key, view in VIEWS.items():
            page.keyboard.press(key)
            wait_for_rows(page, view)
            expect_accessible(page, f"{scheme}, {view}")
        open_partial_request(page)
        expect_accessible(page, f"{scheme}, details")
        expect_bars_with_texts(page)
        page.keyboard.press("?")
        expect_accessible(page, f"{scheme}, help")
        browser.close(page)


def expect_accessible(page, where):
    page.wait_for_timeout(300)
    found = page.evaluate("axe.run({ resultTypes: ['violations'] }).then((results) => results.violations)")
    lines = [f"{each['id']}: {each['nodes'][0]['html'][:160]}" for each in found]
    expect(not lines, f"{where}: " + "; ".join(lines))
    expect(page.evaluate("axe.run({ resultTypes: ['passes'] }).then((results) => results.passes.length)") > 10,
           "axe-core checks something")


def expect_bars_with_texts(page):
    bars = page.eval_on_selector_all(
        "svg", "all => all.map(svg => [svg.getAttribute('role'), svg.getAttribute('aria-label')])")
    expect(len(bars) > 5 and all(role == "img" and label for role, label in bars), f"bars without text: {bars}")


def check_reduced_motion(gateway, browser):
    durations = []
    for motion in ["no-preference", "reduce"]:
        page = browser.open(reduced_motion=motion)
        durations.append(page.evaluate("getComputedStyle(document.getElementById('pause')).transitionDuration"))
        browser.close(page)
    expect(durations[0] != "0s" and set(durations[1].split(", ")) == {"0s"}, f"{durations}")


MARKUP = "<img src=x onerror=\"document.title='markup'\"><script>document.title='markup'</script>"


def check_markup(gateway, browser):
    """Markup in every text of both documents stays text."""

    def poison(value):
        if isinstance(value, dict):
            return {key: each if key in ("key", "outcome", "cursor", "connection") else poison(each)
                    for key, each in value.items()}
        if isinstance(value, list):
            return [poison(each) for each in value]
        return f"{value} {MARKUP}" if isinstance(value, str) else value

    def answer(route):
        response = route.fetch()
        route.fulfill(response=response, body=json.dumps(poison(response.json())))

    page = browser.open(before=lambda page: page.route("**/-/**", answer))
    wait_for_rows(page)
    open_partial_request(page, "")
    for key, view in VIEWS.items():
        page.keyboard.press(key)
        page.wait_for_timeout(700)
        expect(MARKUP in page.inner_text(f"#view-{view}"), f"the text is shown in {view}")
    expect(page.evaluate("document.images.length + document.scripts.length") == 1, "markup became elements")
    expect("markup'" in page.title() and page.title() != "markup", f"title {page.title()}")
    browser.close(page)


def check_padding(gateway, browser):
    """No time of an endpoint with min_duration reaches the page."""
    overview = json.loads(gateway.get("/-/overview")[2])
    recent = json.loads(gateway.get("/-/requests/recent?limit=500")[2])
    documents = [each for each in overview["endpoints"] if each["endpoint"] == "POST /login"]
    documents += [each for each in recent["requests"] if each["endpoint"] == "POST /login"]
    others = [each for each in overview["endpoints"] if each["endpoint"] == "GET /home"]
    expect(documents[0]["requests"] > 0 and documents[0]["calls"][0]["made"] > 0, "it has requests")
    for document in documents:
        expect(document["times_hidden"] is True and times_in(document) == set(), f"{times_in(document)}")
    expect({"p50_ms", "end_p99_ms"} <= times_in(others[0]), "other endpoints have times")


def times_in(value):
    if isinstance(value, list):
        return set().union(*map(times_in, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    own = {key for key in value if key.endswith("_ms") or key == "ms"} - {"at_ms"}
    return own.union(*map(times_in, value.values()))


def check_blame(gateway, browser):
    """A call that the gateway cancelled because another one failed is neither named nor marked."""
    attempt = {"cause": "first", "host": "h:1", "connection": "new", "began_ms": 0, "permitted_ms": 0, "sent_ms": 1}
    calls = [
        {"name": "user", "outcome": "unexpected_status", "began_ms": 0, "ended_ms": 5, "attempts": [
            attempt | {"outcome": "answered", "decided": True, "status": 404, "first_byte_ms": 4, "last_byte_ms": 5}]},
        {"name": "orders", "outcome": "cancelled", "began_ms": 0, "ended_ms": 5, "attempts": [
            attempt | {"outcome": "cancelled", "ended_ms": 5}]},
        {"name": "reviews", "outcome": "skipped", "attempts": []},
    ]
    request = {"endpoint": "GET /users/{id}", "status": 404, "outcome": "rejected", "reasons": ["rejected"], "ms": 5}
    page = browser.open()

    def what(calls):
        return page.evaluate("request => whatHappened(request)", request | {"calls": calls})

    def crosses(call):
        row = "([request, call]) => phaseRow(request, call, call.attempts[0], 0).querySelectorAll('.cross, .bad').length"
        return page.evaluate(row, [request, call])

    expect(what(calls) == "user: unexpected status 404", what(calls))
    expect(what(calls[1:]) == "orders: cancelled, reviews: skipped", what(calls[1:]))
    late = calls[1] | {"outcome": "http_response_timeout", "attempts": [
        calls[1]["attempts"][0] | {"outcome": "http_response_timeout"}]}
    expect(what([calls[0], late]) == "orders: http response timeout", what([calls[0], late]))
    caused = [calls[0], calls[1] | {"because_of": "user"}]
    expect(what(caused) == "user: unexpected status 404, orders cancelled because of user", what(caused))
    stock = calls[0] | {"name": "stock", "attempts": [calls[0]["attempts"][0] | {"status": 500}]}
    both = [calls[0], stock, caused[1]]
    expect(what(both).startswith("user: unexpected status 404, stock: unexpected status 500, orders"), what(both))
    expect((crosses(calls[1]), crosses(late)) == (0, 2), "only a failure is marked")
    browser.close(page)


def check_list(gateway, browser):
    """A list is one row with its shortest, median and longest request, and a row for each failed one."""
    failed = {"cause": "first", "host": "h:1", "outcome": "http_response_timeout", "began_ms": 10, "permitted_ms": 10,
              "sent_ms": 11, "ended_ms": 30, "detail": "no response"}
    calls = [{
        "name": "product", "outcome": "ok", "began_ms": 10, "ended_ms": 60, "attempts": [failed],
        "list": {"elements": 50, "shared": 3, "failed": 1, "requests": 47, "min_ms": 1, "median_ms": 4, "max_ms": 20},
    }, {
        "name": "none", "outcome": "ok", "began_ms": 10, "ended_ms": 10, "attempts": [],
        "list": {"elements": 0, "requests": 0},
    }]
    request = {"endpoint": "GET /list", "status": 200, "outcome": "partial", "reasons": ["partial"], "ms": 100}
    page = browser.open()
    rows = page.evaluate(
        "request => { showPhases(request); return [...byId('phases').rows].map(row => row.innerText); }",
        request | {"calls": calls})
    text = "50 elements, 3 shared, 1 failed: min 1.00, median 4.00, max 20.0 ms"
    told = page.evaluate("request => whatHappened(request)", request | {"calls": calls})
    expect(told == "product: 1 of 50 elements failed", told)
    cancelled = calls[0] | {"outcome": "cancelled", "because_of": "user", "attempts": []}
    row = page.evaluate(
        "([request, call]) => { const row = phaseRow(request, call, null, 0);"
        " return row.textContent + row.querySelectorAll('.bad').length; }",
        [request, cancelled])
    expect("cancelled" in row and "because of user" in row and row.endswith("0"), row)
    expect(len(rows) == 3 and "47 requests" in rows[0] and text in rows[0], f"rows {rows}")
    expect("http response timeout" in rows[1] and "no response" in rows[1], f"rows {rows}")
    expect("0 requests" in rows[2] and "0 elements" in rows[2], f"rows {rows}")
    places = page.evaluate(
        "[...byId('phases').rows[0].querySelectorAll('.p50, .whisker')].map(each => "
        "[each.getAttribute('x') ?? each.getAttribute('x1'), each.getAttribute('width') ?? each.getAttribute('x2')])")
    expect(places == [["10.00%", "4.00%"], ["11.00%", "30.00%"], ["11.00%", "11.00%"], ["30.00%", "30.00%"]], f"{places}")
    browser.close(page)


def check_trend(gateway, browser):
    """Rows draw their rate, failures and p99 after two points of five seconds."""
    page = browser.open()
    until(page, "document.querySelector('#endpoints .trend path.line')?.getAttribute('d')?.startsWith('M')")
    label = page.get_attribute("#endpoints svg.trend", "aria-label")
    expect("per second" in label and "p99 at most" in label, label)
    labels = page.eval_on_selector_all("svg.trend", "all => all.map(svg => svg.getAttribute('aria-label'))")
    hidden = labels[names(page).index("POST /login")]
    expect("p99" not in hidden, f"times of an endpoint that hides them: {hidden}")
    browser.close(page)


def check_search(gateway, browser):
    """A search without a result says why an id may be missing."""
    page = browser.open()
    wait_for_rows(page)
    page.keyboard.press("2")
    page.fill("#filter", "no-such-id")
    until(page, "document.querySelectorAll('#requests tr').length === 0")
    text = page.inner_text("#requests-empty")
    expect("No kept request matches" in text and "Ordinary requests" in text and "access log" in text, text)
    page.check("#sample")
    until(page, "!document.getElementById('requests-empty').textContent.includes('Ordinary requests')")
    browser.close(page)


def check_process(gateway, browser):
    """The hosts, limits, requests in flight and links of the process."""
    page = browser.open()
    page.keyboard.press("4")
    wait_for_rows(page, "process")
    text = page.inner_text("#process")
    for part in ["In flight: ", "✓ usable", "of 200", "none since the start", "Certificates"]:
        expect(part in text, f"{part} in {text}")
    until(page, "document.getElementById('process').textContent.includes(': response')")
    page.click("#links a[href='/-/plan']")
    until(page, "document.getElementById('linked').textContent.includes('/home')")
    for path in texts(page, "#links a"):
        expect(gateway.get(path)[0] == 200, path)
    browser.close(page)


def check_phone(gateway, browser):
    """On a phone nothing is outside, and a row shows p99, failures and the waterfall."""
    page = browser.open("dark", size=(390, 844))
    page.evaluate(Axe().axe_script)
    wait_for_rows(page)
    for key, view in VIEWS.items():
        page.keyboard.press(key)
        wait_for_rows(page, view)
        expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{view} is too wide")
        expect_accessible(page, f"phone, {view}")
    page.keyboard.press("1")
    for part in ["td[data-label='p99 ms']", "td[data-label='Failed']", ".lane svg", "svg.trend"]:
        expect_inside(page, f"#endpoints tr {part}")
    open_partial_request(page)
    for part in ["svg .wait", ".lane-cell", "td:last-child"]:
        expect_inside(page, f"#phases {part}")
    browser.close(page)


def expect_inside(page, selector):
    box = page.locator(selector).first.bounding_box()
    expect(box and box["width"] > 0 and box["x"] >= 0 and box["x"] + box["width"] <= 390, f"{selector}: {box}")


def check_privacy(gateway, browser):
    """No value of a query, a header, a body or a path of a client."""
    fields = {"Content-Type": "application/json", "Cookie": "secret-cookie", "X-Request-Id": "privacy-check"}
    expect(gateway.get("/orders?q=secret-query", fields, "POST", gateway.port, '{"a":"secret-body"')[0] == 400,
           "a request that is kept")
    gateway.get("/secret-path", fields, "GET", gateway.port)
    time.sleep(0.5)
    text = "".join(gateway.get(path)[2] for path in ["/-/overview", "/-/requests/recent?limit=500"])
    expect("privacy-check" in text, "the request is kept")
    expect("secret" not in text, "a value of the client")


def check_token(gateway, browser):
    """Asks for the token, sends it, keeps it for the tab only."""
    seen = []

    def answer(route):
        token = route.request.headers.get("authorization")
        seen.append(token)
        if token == "Bearer s3cret":
            route.continue_()
        else:
            route.fulfill(status=401, headers={"WWW-Authenticate": "Bearer"}, body="")

    page = browser.open(before=lambda page: page.route("**/-/**", answer))
    page.wait_for_selector("#token-dialog[open]")
    expect(focused(page)["id"] == "token" and set(seen) == {None}, f"before: {seen}")
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    page.wait_for_timeout(1_500)
    expect(page.is_visible("#token-dialog") and "Bearer wrong" in seen, "a wrong token")
    page.keyboard.type("s3cret")
    page.keyboard.press("Enter")
    wait_for_rows(page)
    expect(page.evaluate("[sessionStorage.length, localStorage.length, document.cookie]") == [1, 0, ""], "storage")
    browser.close(page)


def check_lost_connection(gateway, browser):
    page = browser.open()
    wait_for_rows(page)
    rows = names(page)
    page.route("**/-/**", lambda route: route.abort())
    page.wait_for_selector("#notice:not([hidden])")
    expect("numbers are old" in page.inner_text("#notice") and names(page) == rows, "the notice")
    page.unroute("**/-/**")
    page.wait_for_selector("#notice", state="hidden")
    # Workers that do not answer in time.
    page.route("**/-/overview", leave_workers_out)
    page.wait_for_selector("#notice:not([hidden])")
    expect("worker 0, 1" in page.inner_text("#notice") and names(page) == rows, "the workers")
    page.unroute("**/-/overview")
    page.wait_for_selector("#notice", state="hidden")
    browser.close(page)


def leave_workers_out(route):
    response = route.fetch()
    route.fulfill(response=response, body=json.dumps(
        {**response.json(), "missing_workers": [0, 1], "endpoints": [], "unmatched": [], "backends": []}))


def check_hidden_page(gateway, browser):
    """A page that is not visible requests nothing."""
    page = browser.open()
    wait_for_rows(page)
    page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })")
    page.wait_for_timeout(1_200)
    count = len(page.evaluate("performance.getEntriesByType('resource')"))
    page.wait_for_timeout(1_500)
    expect(len(page.evaluate("performance.getEntriesByType('resource')")) == count, "requests while hidden")
    page.evaluate("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_timeout(1_500)
    expect(len(page.evaluate("performance.getEntriesByType('resource')")) > count, "requests when visible")
    browser.close(page)


def check_isolation(gateway, browser):
    """Nothing in all these tabs went wrong or elsewhere, and the policy would have shown it."""
    strange = [url for url in browser.requested if not url.startswith((browser.address, "data:"))]
    expect(not strange, f"requests to other origins: {strange}")
    expect(not browser.problems, "; ".join(browser.problems))
    browser.is_watching = False
    page = browser.open()
    page.evaluate("const image = new Image(); image.src = 'http://127.0.0.2:9/x.png'; document.body.append(image)")
    until(page, "seen.violations.includes('img-src')", timeout=5_000)
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), { text: 'document.title = 1' }))")
    until(page, "seen.violations.some((each) => each.startsWith('script-src'))", timeout=5_000)
    page.context.close()


# Screenshots


def take_screenshots(browser, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ["light", "dark"]:
        page = browser.open(scheme)
        wait_for_rows(page)
        page.wait_for_timeout(12_000)
        for key, view in list(VIEWS.items()):
            page.keyboard.press(key)
            page.wait_for_timeout(1_200)
            if scheme == "light":
                save(page, folder / f"page-{view}-{scheme}.png")
        open_partial_request(page, "endpoint:products call:reviews -rejected")
        page.wait_for_timeout(500)
        page.mouse.move(0, 0)
        if scheme == "dark":
            save(page, folder / "page-request-dark.png")
        browser.close(page)


def take_outage_screenshots(browser, folder, outage):
    """What a page shows that was open before the outage: on a desktop and on a phone, in all views."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {"light": browser.open(), "phone-dark": browser.open("dark", size=(390, 844))}
    pages["light"].wait_for_timeout(75_000)
    for look, page in pages.items():
        for key, view in VIEWS.items():
            page.keyboard.press(key)
            page.wait_for_timeout(1_200)
            save(page, folder / f"page-{outage}-{view}-{look}.png")


def save(page, path):
    height = page.evaluate("Math.ceil(document.getElementById('footer').getBoundingClientRect().bottom)")
    width, limit = page.viewport_size.values()
    page.screenshot(path=str(path), clip={"x": 0, "y": 0, "width": width, "height": min(limit, height)})


CHECKS = [
    check_headers, check_keyboard, check_copy, check_accessibility, check_reduced_motion, check_markup,
    check_padding, check_blame, check_list, check_trend, check_search, check_process, check_phone, check_privacy,
    check_token, check_lost_connection, check_hidden_page, check_summary,
]


def verify(options, gateway):
    failures = []

    def run(name, body):
        began = time.monotonic()
        try:
            result = body()
            print(f"ok  {name}, {time.monotonic() - began:.1f} s", flush=True)
            return result
        except Exception as error:
            failures.append(name)
            print(f"FAILED  {name}: {error}", flush=True)

    wanted = [check for check in CHECKS if not options.only or check.__name__[6:] in options.only]
    if options.outage:
        gateway.start_clients(90)
        with sync_playwright() as playwright:
            take_outage_screenshots(Browser(playwright, gateway), pathlib.Path(options.images), options.outage)
        return failures
    gateway.start_clients(240 + 4 * options.seconds)
    time.sleep(8)
    with sync_playwright() as playwright:
        browser = Browser(playwright, gateway)
        if not options.only or "stability" in options.only:
            run("stability", lambda: check_stability(gateway, browser, options.seconds))
        if not options.only or "cost" in options.only:
            run("cost", lambda: check_cost(gateway, browser, options.seconds))
        for check in wanted:
            run(check.__name__[6:], lambda: check(gateway, browser))
        run("isolation", lambda: check_isolation(gateway, browser))
        if options.images:
            # The times of the last minute are then those of this traffic at its full rate.
            time.sleep(max(0, 75 - (time.monotonic() - gateway.clients_began)))
            take_screenshots(browser, pathlib.Path(options.images))
    return failures


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("binary")
    arguments.add_argument("--rate", type=int, default=1000)
    arguments.add_argument("--seconds", type=float, default=30)
    arguments.add_argument("--port", type=int, default=27300)
    arguments.add_argument("--images")
    arguments.add_argument("--outage", choices=["hang", "fail", "unknown"], help="take only pictures of this outage")
    arguments.add_argument("--only", nargs="*", help="names of checks")
    options = arguments.parse_args()
    gateway = Gateway(options)
    try:
        failures = verify(options, gateway)
    finally:
        gateway.stop()
    if failures:
        sys.exit("failed: " + ", ".join(failures))


if __name__ == "__main__":
    main()
