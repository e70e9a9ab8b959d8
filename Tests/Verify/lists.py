#!/usr/bin/env python3
"""Calls with `each` on random arrays against a reference of its own: the responses must be equal byte for byte.

    Tests/Verify/lists.py TRIBUTARY [--count N] [--seed S]

The reference knows only the manual (docs/reference/each.md). A third of the arrays is filled with members, a third
becomes an array of values, and for a third the requests are batches.
"""

import argparse
import asyncio
import decimal
import hashlib
import json
import multiprocessing
import pathlib
import random
import tempfile
import urllib.parse

import harness

CONFIG = """
version: 1
listen: "127.0.0.1:{port}"
workers: 1
limits: {{ connections: 100 }}
backends: {{ b: {{ url: "http://127.0.0.1:{backend}", max_concurrent: 64, queue: {{ size: 1000, wait: 5s }} }} }}
defaults: {{ deadline: 20s, timeout: 10s }}
endpoints:
  - route: GET /member
    calls:
      list: {{ from: b, get: "/list?n={{request.query.n}}", take: items }}
      item: {{ from: b, each: {{ in: "{{list[]}}", as: e, parallel: 3 }}, get: "/item/{{e.sku}}", at: "list[].item" }}
  - route: GET /array
    calls:
      list: {{ from: b, get: "/list?n={{request.query.n}}", take: items }}
      item: {{ from: b, each: {{ in: "{{list[]}}", as: e, distinct: false }}, get: "/item/{{e.sku}}", if_failed: omit }}
  - route: GET /batch
    calls:
      list: {{ from: b, get: "/list?n={{request.query.n}}", take: items }}
      item:
        each: {{ in: "{{list[]}}", as: e, batch: 3, match: {{ sku: "{{e.sku}}" }} }}
        from: b
        get: "/levels?sku={{e.sku,}}"
        take: levels
        at: "list[].item"
"""

SKUS = ['"a"', '"b"', '"c"', '"\\u00e9 %/"', '"x\\"y"', "1", "1.0", '"1"', "2e1", "20", "true", "null", "[1]", '{"a":1}']


# ---------------------------------------------------------------------------------------- inputs
def array(seed, number):
    """The text of a random array; the same for each process."""
    rnd = random.Random(f"{seed} {number}")

    def space():
        return rnd.choice(["", "", "", " ", "\n ", "\t"])

    def member():
        key = rnd.choice(['"sku"', '"sku"', '"s\\u006bu"', '"n"', '"item"', '"it"', '"q\\"k"'])
        value = rnd.choice(SKUS if key in ('"sku"', '"s\\u006bu"') else SKUS + ['"}]{["', "-0.50", '{ "sku" : [ ] }'])
        return f"{space()}{key}{space()}:{space()}{value}{space()}"

    def element():
        if rnd.random() < 0.1:
            return rnd.choice(["null", "7", '"text"', "[]", '[{"sku":"a"}]'])
        return "{" + ",".join(member() for _ in range(rnd.randrange(5))) + rnd.choice(["}", " }"])

    elements = [f"{space()}{element()}{space()}" for _ in range(rnd.choice([0, 1, 2, 3, 3, 4, 6, 9]))]
    return "[" + ",".join(elements) + "]"


def digest(text):
    return hashlib.sha256(text.encode()).digest()[0]


def item(text):
    """Status and body for the value of a `sku`."""
    kind = digest(text) % 8
    name = json.dumps(text, ensure_ascii=False)
    return [(404, "{}"), (500, "[]"), (200, "{"), (200, "null"), (200, ' "text" '), (200, "1.50e2")][kind] if kind < 6 \
        else (200, f'{{ "of" : {name}, "n":[1, 2.0] }}')


def levels(texts):
    if any(digest(text) % 5 == 0 for text in texts):
        return 503, "{}"
    results = [f'{{"sku": {text if number(text) is not None else json.dumps(text)},"n":1.0 }}' for text in texts if digest(text) % 3]
    return 200, '{"levels":[' + ", ".join(results + results[:1]) + "]}"


def number(text):
    try:
        return decimal.Decimal(text).normalize()
    except decimal.InvalidOperation:
        return None


# ---------------------------------------------------------------------------------------- the reference
class Raw:
    """A JSON value with its text, and its members or elements, each with their places in the text."""

    def __init__(self, text):
        self.text = text
        self.value = json.loads(text)
        self.members, self.elements = [], []
        decoder, at = json.JSONDecoder(), 1

        def skip(at):
            while text[at] in " \n\t\r,:":
                at += 1
            return at

        if isinstance(self.value, (dict, list)):
            at = skip(at)
            while text[at] not in "}]":
                if isinstance(self.value, dict):
                    key, at = decoder.raw_decode(text, at)
                    at = skip(at)
                _, end = decoder.raw_decode(text, at)
                if isinstance(self.value, dict):
                    self.members.append((key, at, end))
                else:
                    self.elements.append((at, end))
                at = skip(end)

    def member(self, key):
        """The text of a member, of several the last one; None without one."""
        found = [self.text[start:end] for name, start, end in self.members if name == key]
        return found[-1] if found else None

    def adding(self, key, text):
        if self.member(key) is not None:
            return self.text
        end = self.members[-1][2] if self.members else 1
        return self.text[:end] + ("," if self.members else "") + f'"{key}":{text}' + self.text[end:]


def sku(element):
    """The text of the value that a request has; None if it is not text."""
    if not isinstance(element.value, dict):
        return None
    text = element.member("sku")
    if text is None or text[0] in "[{n":
        return None
    return json.loads(text) if text[0] == '"' else text


def key(text):
    if text[0] == '"':
        return "s", json.loads(text)
    return ("n", number(text)) if text[0] not in "tf" else ("b", text)


def valid(text):
    try:
        json.loads(text)
        return True
    except ValueError:
        return False


def outcomes(elements, isBatch):
    """For each element its value, None for one without a result, or False if it failed."""
    if not isBatch:
        results = []
        for element in elements:
            status, body = item(sku(element)) if sku(element) is not None else (0, "")
            results.append(body.strip() if status == 200 and valid(body) else False)
        return results
    distinct = {}
    for element in elements:
        if sku(element) is not None:
            distinct.setdefault(key(element.member("sku")), sku(element))
    values, keys = {}, list(distinct)
    for start in range(0, len(keys), 3):
        batch = keys[start:start + 3]
        status, body = levels(list(dict.fromkeys(distinct[k] for k in batch)))
        found = {}
        if status == 200:
            whole = Raw(Raw(body).member("levels"))
            for at, end in whole.elements:
                result = Raw(whole.text[at:end])
                found.setdefault(key(result.member("sku")), result.text)
        for k in batch:
            values[k] = found.get(k) if status == 200 else False
    return [values[key(e.member("sku"))] if sku(e) is not None else False for e in elements]


def expected(text, kind):
    whole = Raw(text)
    elements = [Raw(text[at:end]) for at, end in whole.elements]
    results = outcomes(elements, kind == "batch")
    failed = [index for index, result in enumerate(results) if result is False]
    if kind == "array":
        entries = [r for r in results if r not in (False, None)]
        return f'{{"list":{text},"item":[{",".join(entries)}]}}', failed, False
    collides = any(r not in (False, None) and isinstance(e.value, dict) and e.member("item") is not None
                   for e, r in zip(elements, results))
    filled, copied = "", 0
    for (at, end), element, result in zip(whole.elements, elements, results):
        isObject = isinstance(element.value, dict)
        filled += text[copied:at] + (element.adding("item", result or "null") if isObject else element.text)
        copied = end
    return f'{{"list":{filled}{text[copied:]}}}', failed, collides


# ---------------------------------------------------------------------------------------- processes
async def exchanges(reader, writer, seed):
    while line := await reader.readline():
        target = line.split(b" ")[1].decode()
        while (await reader.readline()) != b"\r\n":
            pass
        path, _, query = target.partition("?")
        if path == "/list":
            status, body = 200, f'{{"items":{array(seed, int(query[2:]))}}}'
        elif path == "/levels":
            status, body = levels([urllib.parse.unquote(text) for text in query[4:].split(",")])
        else:
            status, body = item(urllib.parse.unquote(path[len("/item/"):]))
        content = body.encode()
        writer.write(f"HTTP/1.1 {status} -\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content)
    writer.close()


def serve(port, seed):
    async def run():
        server = await asyncio.start_server(lambda r, w: exchanges(r, w, seed), "127.0.0.1", port)
        await server.serve_forever()
    asyncio.run(run())


async def check(port, seed, numbers):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for number in numbers:
        kind = ["member", "array", "batch"][number % 3]
        writer.write(f"GET /{kind}?n={number} HTTP/1.1\r\nHost: g\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
        body = (await reader.readexactly(length)).decode()
        text = array(seed, number)
        wanted, failed, collides = expected(text, kind)
        made, _, report = body.partition(',"_gateway":')
        made += "}" if report else ""
        if failed and len(failed) == len(Raw(text).elements) and kind == "array":
            wanted = f'{{"list":{text},"item":[]}}'
        harness.expect(made == wanted, f"{number} {kind} {text}\n  made   {made}\n  wanted {wanted}")
        first = failed[:10]
        entry = f'"count":{len(failed)},"first":{json.dumps(first, separators=(",", ":"))}'
        harness.expect((entry in report) == bool(failed), f"{number} {kind} {text}: {failed}, reported {report}")
        harness.expect(('"collision"' in report) == collides, f"{number} {kind} {text}: {collides}, reported {report}")
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tributary")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    port, backend = harness.free_port(), harness.free_port()
    process = multiprocessing.Process(target=serve, args=(backend, options.seed), daemon=True)
    process.start()
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "c.yaml")
        file.write_text(CONFIG.format(port=port, backend=backend))
        gateway = harness.subprocess.Popen([options.tributary, "serve", file], stdout=harness.subprocess.DEVNULL)
        harness.processes.append(gateway)
        harness.expect(harness.wait(lambda: harness.accepts(port) and harness.accepts(backend)), "the gateway serves")

        async def run():
            await asyncio.gather(*(check(port, options.seed, range(part, options.count, 16)) for part in range(16)))
        asyncio.run(run())
        harness.end_processes()
    process.terminate()
    harness.finish()


if __name__ == "__main__":
    main()
