#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the figures of `make bench`: what a quiet pass takes against the number of team spaces, beside the peers.

    tests/bench/plot.py build/bench.json build/bench.svg

Both axes are logarithmic. The drawing has colours for light and for dark pages, which the reader's browser chooses.
"""

import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from figures import KINDS, find

WIDTH, HEIGHT = 340, 330  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 58, 112, 46, 46
LINE_HEIGHT = 13
# On white and on GitHub's dark grey, each tells itself from the others also by its brightness.
COLOURS = {
    "cnpa-op": ("#0b5fff", "#6ea8fe"),
    "curl": ("#57606a", "#a8b1ba"),
    "kubectl-lists": ("#b35900", "#f0a050"),
    "controller-runtime": ("#0f7b3f", "#56d38a"),
    "script": ("#a3227c", "#f08bd0"),
}
NAMES = {"kubectl-lists": "kubectl", "script": "script"}
# The title of a panel, and the kind that it shows of each program, the first that there is.
PANELS = (
    ("a quiet pass, ms", ("pass.wall",)),
    ("its CPU, ms", ("pass.cpu",)),
    ("peak memory, MiB*", ("pass.memory", "idle.memory")),
)
FOOTNOTE = "* of controller-runtime: resident while nothing happens"


def style():
    def rules(ink, faint, grid, column):
        lines = [f"text{{fill:{ink}}}.faint{{fill:{faint}}}.grid{{stroke:{grid}}}"]
        for program, colours in COLOURS.items():
            name = f".{program}"
            lines.append(f"{name}{{stroke:{colours[column]}}}{name}-dot,text{name}-text{{fill:{colours[column]}}}")
        return "".join(lines)

    light, dark = rules("#1f2328", "#59636e", "#d9dee3", 0), rules("#e6edf3", "#9aa4ae", "#3d444d", 1)
    return ("<style>text{font:11px system-ui,sans-serif}.title{font-weight:600;font-size:12px}"
            f"path,line{{fill:none}}{light}@media (prefers-color-scheme:dark){{{dark}}}</style>")


@dataclass(frozen=True)
class Axis:
    """Whole decades, laid from pixel `start` to pixel `end`."""

    low: int
    high: int
    start: float
    end: float

    @classmethod
    def over(cls, values, start, end):
        low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        return cls(low, max(high, low + 1), start, end)

    def place(self, value):
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def series(figures, kinds):
    """Returns the points of each program: figures by rising number of team spaces."""
    found = {}
    counts = sorted({each["team_spaces"] for each in figures})
    for program in COLOURS:
        for kind in kinds:
            points = [each for count in counts if (each := find(figures, kind, program, count)) and each["value"] > 0]
            if points:
                found[program] = points
                break
    return found


def spread(places):
    """Moves labels apart that would stand on one another: returns the new place of each key."""
    moved, last = {}, -math.inf
    for key, place in sorted(places.items(), key=lambda each: each[1]):
        last = moved[key] = max(place, last + LINE_HEIGHT)
    return moved


def panel(title, lines, offset):
    """Returns the SVG elements of one panel whose left edge is at `offset`."""
    x = Axis.over([each["team_spaces"] for points in lines.values() for each in points], offset + LEFT,
                  offset + WIDTH - RIGHT)
    factor = KINDS[next(iter(lines.values()))[0]["kind"]].factor
    y = Axis.over([each[end] * factor for points in lines.values() for each in points for end in ("low", "high")],
                  HEIGHT - BOTTOM, TOP)
    parts = [text(offset + LEFT, TOP - 18, title, "title"), *grid(x, y)]
    ends = {}
    for program, points in reversed(lines.items()):  # ours lies on top
        places = [(x.place(each["team_spaces"]), y.place(each["value"] * factor)) for each in points]
        route = " ".join(f"{across:.1f},{up:.1f}" for across, up in places)
        parts.append(f'<path class="{program}" stroke-width="2" d="M{route}"/>')
        for each, (across, up) in zip(points, places):
            low, high = y.place(each["low"] * factor), y.place(each["high"] * factor)
            parts.append(f'<line class="{program}" x1="{across:.1f}" x2="{across:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
                         f'<circle class="{program}-dot" cx="{across:.1f}" cy="{up:.1f}" r="3"/>')
        ends[program] = places[-1]
    for program, up in spread({program: end[1] for program, end in ends.items()}).items():
        parts.append(text(ends[program][0] + 8, up + 4, NAMES.get(program, program), f"{program}-text"))
    return parts


def grid(x, y):
    parts = []
    for value in x.ticks():
        across = x.place(value)
        parts.append(f'<line class="grid" x1="{across:.1f}" x2="{across:.1f}" y1="{y.start:.1f}" y2="{y.end:.1f}"/>')
        parts.append(text(across, y.start + 16, f"{value:,.0f}", "faint", "middle"))
    for value in y.ticks():
        up = y.place(value)
        parts.append(f'<line class="grid" x1="{x.start:.1f}" x2="{x.end:.1f}" y1="{up:.1f}" y2="{up:.1f}"/>')
        parts.append(text(x.start - 6, up + 4, f"{value:,g}", "faint", "end"))
    parts.append(text(x.start, y.start + 34, "team spaces", "faint"))
    return parts


def text(across, up, words, kind, anchor="start"):
    return f'<text class="{kind}" x="{across:.1f}" y="{up:.1f}" text-anchor="{anchor}">{words}</text>'


def draw(results):
    """Returns the drawing as a text of SVG."""
    panels = [(title, lines) for title, kinds in PANELS if (lines := series(results["figures"], kinds))]
    width = WIDTH * max(1, len(panels))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT + 18}" width="{width}" role="img">',
             "<title>What a quiet pass takes against the number of team spaces</title>", style()]
    for number, (title, lines) in enumerate(panels):
        parts += panel(title, lines, number * WIDTH)
    about = results["about"]
    parts.append(text(LEFT, HEIGHT + 8, f"{about['date'][:10]}, {about['machine']['cores']} cores, commit "
                      f"{about['commit']}. {FOOTNOTE}", "faint"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def main():
    if len(sys.argv) != 3:
        raise SystemExit("usage: plot.py BENCH.JSON OUTPUT.svg")
    Path(sys.argv[2]).write_text(draw(json.loads(Path(sys.argv[1]).read_text())))


if __name__ == "__main__":
    main()
