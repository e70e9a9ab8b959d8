"""The JSON objects that the backends respond with, and the responses that a gateway must make of them."""

import json

SIZES = {"small": 200, "medium": 2000, "large": 20000}
BACKENDS = 16
# Each number of calls that a gateway has an endpoint for.
WIDTHS = (1, 2, 3, 4, 6, 8, 12, 16)


def record(backend, number):
    return {
        "id": 1000 * backend + number, "code": f"AB-{backend}-{number:04d}", "title": f"näherer \"Titel\" {number} / {backend}",
        "price": round(9.95 + number * 1.35, 2), "stock": number * 7 % 50, "labels": ["new", f"b{backend}", None],
        "visible": number % 2 == 0, "box": {"width": 10.5, "weight": 2e3}}


def value(backend, size):
    """Its members have names of their own for each backend."""
    prefix = f"b{backend}_"
    members = {
        "id": 1000 + backend, "name": f"Service {backend}", "price": 19.99, "active": True, "labels": ["a", "b", "c"],
        "owner": {"id": 7, "mail": "ops@example.org"}, "note": "first line\nsecond line, €"}
    result = {prefix + name: member for name, member in members.items()}
    if size != "small":
        records = result[prefix + "records"] = []
        length = len(text_of(result).encode())
        while length < SIZES[size]:
            records.append(record(backend, len(records)))
            length += len(text_of(records[-1]).encode()) + len(",")
    return result


def text_of(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def expected(path):
    """The value of the response to a path, which a test compares with the response's JSON."""
    _, kind, *rest = path.split("/")
    if kind in ("one", "proxy"):
        return value(1, rest[0])
    count, size = {"calls": rest, "hang": (2, "small"), "e": (3, "small")}[kind]
    return {f"b{backend}": value(backend, size) for backend in range(1, int(count) + 1)}
