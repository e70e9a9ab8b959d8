#!/usr/bin/env python3
"""Prints the results of several servers as tables in Markdown: numbers by section, and the cases in which one differs.

Tests/Verify/http2/table.py nghttpd.json nginx.json ...     files of `run.py --json`, one role of one server each
"""

import json
import re
import sys

SERVED = {"200", "open", "HTTP/1.1 200"}


def read(path):
    with open(path) as file:
        ((name, results),) = json.load(file).items()
    return name.split()[0], {result["name"]: result for result in results}


def is_refusal(outcome):
    """Whether the server has refused what it received, in whatever way."""
    return bool(re.match(r"(HTTP/1\.1 )?[45]|RST_STREAM|closed|GOAWAY (?!NO_ERROR)", outcome))


def verdict(result):
    """`expected`, `refused` in another way than accepted, or `different`."""
    if result["passed"]:
        return "expected"
    refused = is_refusal(result["outcome"]) and not SERVED & set(result["accepts"]) and not result["control"]
    return "refused" if refused else "different"


def group(name):
    """The chapter of a case: `RFC 9113, 6`, `RFC 7541`, `RFC 8441` or `limits`."""
    section = name.partition("/")[0]
    rfc, dash, _ = section.partition("-")
    if dash:
        return f"RFC {rfc}"
    return f"RFC 9113, {section[0]}" if section[0].isdigit() else section


def numbers(servers):
    """Of each group and server: outcomes as expected, refusals of another kind, and others."""
    print("| cases | |", " | ".join(servers), "|")
    print("|---" * (2 + len(servers)) + "|")
    names = list(next(iter(servers.values())))
    for title in [*sorted(set(map(group, names))), "all"]:
        chosen = [name for name in names if title in (group(name), "all")]
        verdicts = [[verdict(results[name]) for name in chosen] for results in servers.values()]
        cells = [" / ".join(str(one.count(kind)) for kind in ("expected", "refused", "different")) for one in verdicts]
        print(f"| {title} | {len(chosen)} |", " | ".join(cells), "|")


def cell(result):
    """Empty if the outcome is accepted."""
    if result["passed"]:
        return ""
    outcome = result["outcome"] if result["outcome"] not in result["accepts"] else result["control"]
    outcome = outcome.replace("|", "\\|")
    return outcome if verdict(result) == "refused" else f"**{outcome}**"


def differences(servers):
    print("| case | | accepted |", " | ".join(servers), "|")
    print("|---" * (3 + len(servers)) + "|")
    for name, case in next(iter(servers.values())).items():
        cells = [cell(results[name]) for results in servers.values()]
        if any(cells):
            accepted = ", ".join(sorted(case["accepts"]))
            print(f"| {name} | {case['title']} | {accepted} |", " | ".join(cells), "|")


def main():
    servers = dict(map(read, sys.argv[1:]))
    numbers(servers)
    print()
    differences(servers)


if __name__ == "__main__":
    main()
