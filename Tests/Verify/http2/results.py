"""Results of cases, and how they are printed."""

import dataclasses
import json
import pathlib


@dataclasses.dataclass
class Result:
    name: str
    title: str
    outcome: str
    accepts: frozenset
    control: str = None  # what was wrong with the healthy request behind the case

    @property
    def passed(self):
        return self.outcome in self.accepts and self.control is None

    def line(self):
        accepted = " | ".join(sorted(self.accepts))
        wrong = "" if self.outcome in self.accepts else f" instead of {accepted}"
        return f"{self.name} {self.title}: {self.outcome}{wrong}" + (f"; {self.control}" if self.control else "")


def report(role, results, calibrate=False):
    """Prints the failed cases, or with `calibrate` what happened in each, and the total."""
    for result in results:
        if calibrate or not result.passed:
            print(("  " if result.passed else "- ") + result.line())
    print(f"{role}: {sum(result.passed for result in results)} of {len(results)}", flush=True)


def save(path, roles):
    pathlib.Path(path).write_text(
        json.dumps(
            {
                role: [
                    {**dataclasses.asdict(result), "accepts": sorted(result.accepts), "passed": result.passed}
                    for result in results
                ]
                for role, results in roles.items()
            },
            indent=1,
        )
    )
