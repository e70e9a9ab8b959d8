"""The role `floods`: each flood of the gateway's table of limits for ten seconds, with a healthy connection beside it.

An attacker in a process of its own connects again whenever its connection is closed. The healthy client sends
requests at a fixed rate on one connection; it must reach nine tenths of what it reaches without the flood, and the
memory of the server must not grow by more than MEMORY. The rate is fixed, and not the most that is possible, because
the attacker needs a part of the machine, too.

The attacker is stopped and continued every SLICE seconds, so that both rates are measured under the same load of
other programs; the server must have processed all that it received before the rate without the flood is measured.
"""

import itertools
import multiprocessing
import os
import pathlib
import re
import signal
import time

from connection import Connection, json_text, request
from frames import *
from results import Result

RATE = 100  # requests per second of the healthy client
SHARE = 0.9
SLICE = 2  # seconds
SETTLED = 0.2  # of a processor: what the server uses when it has processed the flood
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


def attack(target, sent, frames, reads=True):
    """Sends frames in bursts, and connects again when the connection is closed or takes nothing for a second."""
    while True:
        begin = time.monotonic()
        try:
            connection = Connection(target, acknowledge=reads, credit=False)
            connection.send(PREFACE, settings())
            pour(connection, sent, frames(connection), reads)
            connection.close()
        except OSError:
            pass
        time.sleep(max(0, begin + 1 / RECONNECTS - time.monotonic()))


def pour(connection, sent, frames, reads):
    while not connection.failed:
        connection.socket.settimeout(1)
        connection.socket.sendall(b"".join(itertools.islice(frames, BURST)))
        sent.value += BURST
        if reads:
            connection.wait(lambda: False, 0.001)
            connection.frames.clear()
            connection.pongs.clear()


def hold(target, sent, opens):
    """Many connections that send one thing and nothing else; closed ones are opened again."""
    held = []
    while True:
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


def cpu(pid):
    """Of the process so far, in seconds."""
    if not pid:
        return 0
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def settles(pid, seconds=5):
    """Whether the server processes what it has received in this time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before = cpu(pid)
        time.sleep(0.2)
        if cpu(pid) - before <= SETTLED * 0.2:
            return True
    return False


class Flood:
    """An attacker that can be paused, and what was measured with and without it."""

    def __init__(self, target, pid, attacker, arguments):
        self.target, self.pid = target, pid
        fork = multiprocessing.get_context("fork")
        self.sent = fork.Value("q", 0, lock=False)
        self.process = fork.Process(target=attacker, args=(target, self.sent, *arguments), daemon=True)
        self.usual, self.rates, self.shares = [], [], []
        self.has_settled = settles(pid)
        self.before = self.most = memory(pid)

    def run(self, seconds):
        for _ in range(max(1, seconds // SLICE)):
            self.usual.append(healthy_rate(self.target, SLICE))
            self.continue_attack()
            begin, used = time.monotonic(), cpu(self.pid)
            for _ in range(SLICE):
                self.rates.append(healthy_rate(self.target, 1))
                self.most = max(self.most, memory(self.pid))
            self.shares.append((cpu(self.pid) - used) / (time.monotonic() - begin))
            os.kill(self.process.pid, signal.SIGSTOP)
            self.has_settled = settles(self.pid) and self.has_settled
            if self.growth > 8 * MEMORY:
                break  # it has failed; the machine needs its memory
        self.has_attacked = self.process.is_alive() and self.sent.value > 0
        self.process.kill()
        self.process.join()

    def continue_attack(self):
        if self.process.pid:
            os.kill(self.process.pid, signal.SIGCONT)
        else:
            self.process.start()

    @property
    def growth(self):
        return self.most - self.before

    @property
    def is_kept(self):
        usual, rate = mean(self.usual), mean(self.rates)
        is_fast = usual >= SHARE * RATE and rate >= SHARE * usual
        return self.has_attacked and self.has_settled and is_fast and self.growth <= MEMORY

    def __str__(self):
        """What was measured; the processor time is that of the server during the flood."""
        found = f"{mean(self.rates):.0f} of {mean(self.usual):.0f} requests per second"
        busy = "" if self.has_settled else ", still busy after it"
        ended = "" if self.has_attacked else ", the attacker has failed"
        return f"{found}, {mean(self.shares):.0%} of a processor{busy}, memory {self.growth / 1024:+.1f} MiB{ended}"


def mean(values):
    return sum(values) / len(values)


def run_flood(number, title, attacker, arguments, target, pid, seconds):
    plain = type(target)(target.host, target.port, target.tls)  # without the recorder, which stays in this process
    flood = Flood(plain, pid, attacker, arguments)
    flood.run(seconds)
    print(f"  {title}: {flood}, {flood.sent.value} frames or connections", flush=True)
    return Result(f"floods/{number}", title, "kept" if flood.is_kept else str(flood), KEPT)


def run(target, only=None, pid=None, seconds=10):
    rows = [(title, attack, (frames,)) for title, frames in FLOODS.items()]
    rows += [(title, attack, (frames, False)) for title, frames in DEAF.items()]
    rows += [(title, hold, (opens,)) for title, opens in HELD.items()]
    return [
        run_flood(number, title, attacker, arguments, target, pid, seconds)
        for number, (title, attacker, arguments) in enumerate(rows, 1)
        if only is None or only(f"floods/{number}")
    ]
