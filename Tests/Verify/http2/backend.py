"""The role `backend`: calls a gateway over HTTP/1.1, whose backends are the cases."""

import http.client
import json
import time

# These register their cases, in the order in which they run.
import backend_start
import backend_frames
import backend_messages
import backend_ends
from backend_case import registered
from results import Result


def call(port, case, seconds=12):
    """Status and, of a failure, its kind."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    body = case.body if case.method == "POST" else None
    try:
        connection.request(case.route, f"/{case.key}", body, {"Content-Type": "application/json"} if body else {})
        received = connection.getresponse()
        return describe(received.status, received.read())
    except (OSError, http.client.HTTPException) as error:
        return f"no response: {error!r}"
    finally:
        connection.close()


def describe(status, body):
    try:
        failures = json.loads(body).get("failures", [])
    except (ValueError, AttributeError):
        failures = []
    return f"{status} {failures[0]['kind']}" if failures else str(status)


def run_case(case, port):
    """One hostile call, then a healthy one."""
    if case.warm and (outcome := call(port, case)) != "200":
        return Result(case.name, case.title, outcome, case.accepts, "the call before the case")
    case.requests.clear()
    case.hostile = True
    outcome = call(port, case)
    attempts = len(case.requests)
    case.hostile = False
    time.sleep(case.pause)
    control = None
    if case.attempts and attempts not in case.attempts:
        control = f"the backend received {attempts} requests"
    if (after := call(port, case)) != "200":
        control = f"the next call gave {after}"
    return Result(case.name, case.title, outcome, case.accepts, control)


def chosen(only=None):
    return [case for case in registered if only is None or only(case.name)]


def run(port, selected, revive=lambda: None):
    """`revive` starts a gateway again that a case has ended, so that calibration can go on."""
    results = []
    for case in selected:
        results.append(run_case(case, port))
        revive()
    return results


def by_success(result):
    """For other gateways, which have no kinds of failures and stream: whether there is a complete response."""
    outcome = f"success {result.outcome}" if result.outcome.startswith("2") else f"failure {result.outcome}"
    accepts = {"success" if accepted == "200" else "failure" for accepted in result.accepts}
    matches = frozenset({outcome}) if outcome.split()[0] in accepts else frozenset(accepts)
    return Result(result.name, result.title, outcome, matches, result.control)
