"""The role `client`: every case against a server, with a healthy request behind each."""

import threading

# These register their cases, in the order in which they run.
import client_start
import client_frames
import client_streams
import client_settings
import client_flow
import client_messages
import client_fields
import client_compression
import client_limits
from case import cases
from connection import Connection, fetch
from frames import window_update
from results import Result


def run_case(case, target):
    try:
        connection = Connection(target, **case.options)
    except OSError as error:
        return Result(case.name, case.title, f"no connection: {error}", case.accepts)
    try:
        if not case.raw:
            connection.start()
        observed = case.run(connection)
        outcome = describe(case, connection, observed)
        control = controls(case, connection, outcome)
    except Exception as error:  # of the decoder: a response that cannot be decoded
        outcome, control = f"{type(error).__name__}: {error}", None
    finally:
        connection.close()
    # A stopped server must not pass the cases in which it closes the connection.
    control = control or healthy(fetch(target), "on a new connection")
    return Result(case.name, case.title, outcome, case.accepts, control)


def describe(case, connection, observed):
    if isinstance(observed, str):
        return observed
    if observed is None:
        return connection.outcome(case.seconds)
    return connection.stream_outcome(observed, case.seconds)


def controls(case, connection, outcome):
    """A request on the same connection, where the outcome leaves it open; None if all is well."""
    if not case.reuse or not (outcome.isdigit() or outcome == "open" or outcome.startswith("RST_STREAM")):
        return None
    connection.next_stream = max(connection.next_stream, max(connection.streams, default=0) // 2 * 2 + 3)
    stream = connection.request("/empty")
    connection.send(window_update(0, 1000), window_update(stream, 1000))  # the case may have closed the windows
    return healthy(connection.stream_outcome(stream), "on the same connection")


def healthy(outcome, where):
    return None if outcome == "200" else f"a request {where} gave {outcome}"


def run(target, only=None):
    """The results in the order of the cases. Those that wait for time limits run beside the others."""
    chosen = [case for case in cases if (only is None or only(case.name)) and not (case.cleartext and target.tls)]
    results = {}

    def keep(case):
        results[case.name] = run_case(case, target)

    slow = [threading.Thread(target=keep, args=(case,)) for case in chosen if case.slow]
    for thread in slow:
        thread.start()
    for case in chosen:
        if not case.slow:
            keep(case)
    for thread in slow:
        thread.join()
    return [results[case.name] for case in chosen]
