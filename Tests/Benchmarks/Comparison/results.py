"""Measurements: one dictionary each, a line of JSON in the file of raw figures; medians, and ratios to the floor.

Each measurement has the table (`row`), the line in it (`point`), the program (`server`) and the repetition.
"""

import json
import statistics


class Results:
    def __init__(self, path=None):
        self.path = path
        self.all = []
        self.setting = {}

    def add(self, row, point, server, repetition, **figures):
        entry = dict(row=row, point=point, server=server, repetition=repetition, **figures)
        self.all.append(entry)
        self.write(entry)

    def describe(self, setting):
        self.setting = setting
        self.write({"setting": setting})

    def write(self, entry):
        if self.path:
            with open(self.path, "a") as file:
                file.write(json.dumps(entry) + "\n")

    @staticmethod
    def read(path):
        results = Results()
        with open(path) as file:
            for line in file:
                entry = json.loads(line)
                if "setting" in entry:
                    results.setting = entry["setting"]
                else:
                    results.all.append(entry)
        return results

    def rows(self):
        return set(entry["row"] for entry in self.all)

    def points(self, row):
        """In the order of their first measurement."""
        return list(dict.fromkeys(entry["point"] for entry in self.all if entry["row"] == row))

    def servers(self, row, names):
        """Those of the names that the row has figures of."""
        present = {entry["server"] for entry in self.all if entry["row"] == row}
        return [name for name in names if name in present]

    def figures(self, row, point, server, name):
        """By repetition."""
        return {
            entry["repetition"]: entry[name] for entry in self.all
            if (entry["row"], entry["point"], entry["server"]) == (row, point, server) and entry.get(name) is not None}

    def median(self, row, point, server, name):
        """None without a figure."""
        values = self.figures(row, point, server, name).values()
        return statistics.median(values) if values else None

    def others(self):
        """What other programs used during the measurements, in processors: the median and the most."""
        values = [entry["others"] for entry in self.all if entry.get("others") is not None]
        return (statistics.median(values), max(values)) if values else None

    def ratios(self, row, point, server, name="cpu_us"):
        """To the floor's figure of the same repetition, in ascending order.

        The two were measured one after the other, so what else the machine did has changed both.
        """
        base = self.figures(row, point, "floor", name)
        own = self.figures(row, point, server, name)
        return sorted(own[repetition] / base[repetition] for repetition in own if base.get(repetition))

    def ratio(self, row, point, server, name="cpu_us"):
        ratios = self.ratios(row, point, server, name)
        return statistics.median(ratios) if ratios else None
