#!/usr/bin/env python3
"""Backends and clients for the check of the page, on loopback.

    page_traffic.py backends 27310                       six backends on this port and the following ones
    page_traffic.py clients 27300 --rate 1000 --seconds 40

Both use one thread and Python's standard library. Random numbers have a fixed seed.
"""

import argparse
import asyncio
import random
import time

BACKENDS = ["catalog", "stock", "reviews", "users", "search", "orders"]

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 2
log: {{ level: error }}
defaults: {{ deadline: 800ms, timeout: 400ms }}
backends:
  catalog: {{ url: "http://127.0.0.1:{catalog}" }}
  stock: {{ url: "http://127.0.0.1:{stock}" }}
  reviews: {{ url: "http://127.0.0.1:{reviews}", max_concurrent: 200 }}
  users: {{ url: "http://127.0.0.1:{users}" }}
  search: {{ url: "http://127.0.0.1:{search}", max_concurrent: 12, queue: {{ size: 50, wait: 60ms }} }}
  orders: {{ url: "http://127.0.0.1:{orders}" }}
endpoints:
  - route: GET /products/{{id}}
    params: {{ id: {{ type: integer, min: 1 }} }}
    calls:
      product: {{ from: catalog, get: "/items/{{id}}", required: true }}
      stock: {{ from: stock, get: "/levels/{{id}}" }}
      reviews: {{ from: reviews, get: "/by-item/{{id}}", hedge: {{ after: 45ms }} }}
  - route: GET /home
    succeed_when: any
    calls:
      profile: {{ from: users, get: /me }}
      news: {{ from: catalog, get: /news, if_failed: [] }}
      recommended: {{ from: catalog, get: "/for/{{profile.segment}}" }}
  - route: GET /search
    calls:
      hits: {{ from: search, get: /hits, required: true }}
      facets: {{ from: search, get: /facets }}
  - route: POST /orders
    body: {{ type: object, max: 4KiB }}
    calls:
      order: {{ from: orders, post: /orders, body: "{{request.body}}", required: true }}
      receipt: {{ from: orders, get: "/receipts/{{order.id}}", retry: {{ on: [503], backoff: 2ms }} }}
  - route: POST /login
    body: {{ type: object, max: 4KiB }}
    deadline: 180ms
    min_duration: 200ms
    calls:
      session: {{ from: users, post: /sessions, body: "{{request.body}}", required: true }}
"""


def config(listen, admin, first):
    ports = {name: first + index for index, name in enumerate(BACKENDS)}
    return CONFIG.format(listen=listen, admin=admin, **ports)


# Backends


def answer(backend, target, chance, outage=None):
    """Status, seconds and body of one response."""
    if outage == "hang" and backend == "catalog":
        return 200, 3600, b"{}"
    if outage == "fail" and backend == "reviews":
        return 500, 0.004, b"{}"
    if outage == "unknown" and target.startswith(b"/items"):
        return 404, 0.003, b"{}"
    quick = chance.lognormvariate(-5.6, 0.45)  # a median of 3.7 ms
    if backend == "catalog":
        return 200, quick, b'{"id":42,"name":"Lamp"}'
    if backend == "stock":
        if chance.random() < 0.02:
            return 500, quick / 2, b'{"error":"flaky"}'
        return 200, quick * 0.7, b'{"available":7}'
    if backend == "reviews":
        late = chance.random() < 0.03
        return 200, quick * 4 + (0.25 if late else 0), b'[{"stars":5}]'
    if backend == "users":
        return 200, quick * 1.5, b'{"name":"Ann","segment":"lamps","token":"t"}'
    if backend == "search":
        return 200, quick * (5 if target.startswith(b"/hits") else 2), b"[1,2,3]"
    if target == b"/orders":
        return 201, quick * 6, b'{"id":4711}'
    if chance.random() < 0.15:
        return 503, quick, b'{"error":"busy"}'
    return 200, quick * 2, b'{"lines":1}'


class Backend(asyncio.Protocol):
    def __init__(self, name, chance, outage):
        self.name, self.chance, self.outage, self.text = name, chance, outage, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.text += data
        while (end := self.text.find(b"\r\n\r\n")) >= 0:
            head = self.text[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.text) < end + 4 + length:
                return
            target = self.text.split(b" ", 2)[1]
            self.text = self.text[end + 4 + length:]
            status, seconds, body = answer(self.name, target, self.chance, self.outage())
            asyncio.get_running_loop().call_later(seconds, self.respond, status, body)

    def respond(self, status, body):
        if not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
                % (status, len(body), body))


async def serve(first, outage=None, after=0):
    loop = asyncio.get_running_loop()
    begin = time.monotonic()

    def present():
        return outage if time.monotonic() - begin >= after else None

    for index, name in enumerate(BACKENDS):
        chance = random.Random(name)
        await loop.create_server(
            lambda name=name, chance=chance: Backend(name, chance, present), "127.0.0.1", first + index, backlog=512)
    print("ready", flush=True)
    await asyncio.Event().wait()


# Clients


def request(chance):
    """One request. Some have markup where a client can put it: ids, paths and queries."""
    markup = "<img/src=x/onerror=document.title=1>"
    kind = chance.random()
    if kind < 0.50:
        line, body = f"GET /products/{chance.randint(1, 999)}?note=%3Cscript%3E", ""
    elif kind < 0.72:
        line, body = "GET /home", ""
    elif kind < 0.86:
        line, body = "GET /search?q=lamp", ""
    elif kind < 0.94:
        line, body = "POST /orders", '{"item":42}'
    elif kind < 0.985:
        line, body = "POST /login", '{"user":"ann","password":"good"}'
    elif kind < 0.993:
        line, body = "GET /products/none", ""
    elif kind < 0.998:
        line, body = "GET /%3Cscript%3Edocument.title=1%3C/script%3E", ""
    else:
        line, body = "GET /<script>document.title=1</script>", ""
    fields = ["Host: shop.example.com"]
    if chance.random() < 0.3:
        own = "client-%d" % chance.getrandbits(40)
        fields.append("X-Request-Id: " + (markup if chance.random() < 0.5 else own))
    if body:
        fields += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return (f"{line} HTTP/1.1\r\n" + "\r\n".join(fields) + f"\r\n\r\n{body}").encode()


class Client(asyncio.Protocol):
    """One connection; it is idle while it has no request."""

    def __init__(self, idle, counts):
        self.idle, self.counts, self.text = idle, counts, b""

    def connection_made(self, transport):
        self.transport = transport
        self.idle.append(self)

    def connection_lost(self, error):
        if self in self.idle:
            self.idle.remove(self)

    def data_received(self, data):
        self.text += data
        end = self.text.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.text[:end].lower()
        at = head.find(b"content-length:")
        length = int(head[at + 15:].split(b"\r\n", 1)[0]) if at >= 0 else 0
        if len(self.text) < end + 4 + length:
            return
        self.text = b""
        self.counts["responses"] += 1
        if b"connection: close" in head:
            self.transport.close()
        else:
            self.idle.append(self)


def total(passed, ramp=5):
    """Seconds at the full rate that correspond to the time since the start: the rate grows at first, so that
    connections open one after the other."""
    return passed * passed / 2 / ramp if passed < ramp else passed - ramp / 2


async def send(port, rate, seconds):
    loop = asyncio.get_running_loop()
    chance, idle, counts = random.Random(7), [], {"responses": 0, "requests": 0}
    begin = time.monotonic()
    while (passed := time.monotonic() - begin) < seconds:
        due = int(total(passed) * rate) - counts["requests"]
        for _ in range(due):
            if not idle:
                await loop.create_connection(lambda: Client(idle, counts), "127.0.0.1", port)
            idle.pop().transport.write(request(chance))
            counts["requests"] += 1
        await asyncio.sleep(0.004)
    print("%d requests, %d responses" % (counts["requests"], counts["responses"]), flush=True)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("role", choices=["backends", "clients"])
    arguments.add_argument("port", type=int)
    arguments.add_argument("--rate", type=int, default=1000)
    arguments.add_argument("--seconds", type=float, default=40)
    arguments.add_argument("--outage", choices=["hang", "fail", "unknown"], help="of backends: the first required "
                           "one hangs, an optional one fails, or products are unknown")
    arguments.add_argument("--after", type=float, default=40, help="seconds before the outage")
    options = arguments.parse_args()
    if options.role == "backends":
        asyncio.run(serve(options.port, options.outage, options.after))
    else:
        asyncio.run(send(options.port, options.rate, options.seconds))


if __name__ == "__main__":
    main()
