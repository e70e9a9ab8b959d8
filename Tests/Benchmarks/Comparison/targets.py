"""What the project aims at, beside what is measured. The first number must be reached, the second is the goal."""

# Multiples of the floor, by row and point; the second number may be missing.
RATIOS = {
    ("R1", "64 connections"): (1.30, 1.13),
    ("R1-proxy", "64 connections"): (1.30, 1.15),
    ("R2", "1 connection"): (1.20, 1.10),
    ("R2", "64 connections"): (1.40, 1.20),
    ("R2", "256 connections"): (1.45, 1.25),
    ("R3", "64 connections"): (1.50, 1.25),
    ("R4", "64 connections"): (2.00, 1.45),
}
# R5: the additional cost of a call.
SLOPE = (1.5, 1.2)
IDLE_BYTES = (2048, 1229)
START_MS = (20, 5)
IDLE_KIB = (15 * 1024, 8 * 1024)
HANGING_RATIO = 1.25
# The slowest of a hundred responses ends at most this long after the time limit of the call.
HANGING_EXCESS_MS = 10
HEALTHY_SHARE = 0.95


def verdict(value, limits):
    """Where a figure is: less is better."""
    must, goal = limits
    return "goal reached" if value <= goal else "must reached" if value <= must else "missed"
