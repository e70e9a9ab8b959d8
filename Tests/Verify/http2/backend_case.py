"""The registry of the role `backend`, and the outcomes of calls: the kinds of docs/reference/answers.md."""

import collections

from backend_server import BackendCase

OK = frozenset({"200"})
PROTOCOL = frozenset({"502 http_protocol_error"})
TERMINATED = frozenset({"502 connection_terminated"})
INCOMPLETE = frozenset({"502 http_response_incomplete"})
TIMEOUT = frozenset({"504 http_response_timeout"})
HEADER_SIZE = frozenset({"502 http_response_header_section_size"})
HEADER_COUNT = frozenset({"502 http_response_header_count"})
TOO_LARGE = frozenset({"502 http_response_body_size"})
UNEXPECTED = frozenset({"502 unexpected_status"})
INVALID = frozenset({"502 invalid_json"})
ONCE, TWICE = frozenset({1}), frozenset({2})  # numbers of requests that arrive

registered = []
numbers = collections.Counter()


def case(group, title, accepts, **options):
    """Registers the decorated function: what the backend does."""

    def register(run):
        numbers[group] += 1
        registered.append(BackendCase(f"{group}/{numbers[group]}", title, run, accepts, **options))
        return run

    return register


def answers(group, title, accepts, make, **options):
    """Reads the request and sends frames, made from the id of its stream."""

    def run(backend, stream):
        backend.whole_request(stream)
        backend.send(make(stream))

    case(group, title, accepts, **options)(run)
