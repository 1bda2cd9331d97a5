#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The figures of `make bench` as a table: a column a program, a row a kind and a number of team spaces.

    tests/bench/report.py build/bench.json                         prints it as Markdown
    tests/bench/report.py build/bench.json docs/performance.md     puts it there, between the marks that say so
"""

import json
import sys
from pathlib import Path

from figures import GOALS, KINDS, OURS, PROGRAMS, find, on_curve

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"


def shown(value, kind):
    return f"{value * KINDS[kind].factor:,.{KINDS[kind].decimals}f}"


def cell(figure):
    """Returns a figure as it is read: the median, and the range of its runs."""
    if figure is None:
        return ""
    text = shown(figure["value"], figure["kind"])
    low, high = (shown(figure[end], figure["kind"]) for end in ("low", "high"))
    return text if low == high else f"{text} ({low}..{high})"


def ratios(figures, kind, count):
    """Returns how cnpa-op stands to the goals; of a pass without one, to curl."""
    ours = find(figures, kind, OURS, count)
    curl = find(figures, kind, "curl", count)
    if (kind, count) not in GOALS and kind.startswith("pass.") and ours and curl and curl["value"]:
        return f"{times(ours['value'] / curl['value'])} curl"
    words = []
    for goal in GOALS.get((kind, count), ()):
        ours = find(figures, kind, goal.program, count)
        peer = find(figures, kind, goal.peer, count)
        if ours and not goal.peer:
            whose = "" if goal.program == OURS else f" for {PROGRAMS[goal.program]}"
            words.append(f"goal {goal.limit:g} {KINDS[kind].unit}".rstrip() + whose)
        elif ours and peer and peer["value"]:
            words.append(f"{times(ours['value'] / peer['value'])} {goal.peer}, goal {times(goal.limit).removesuffix(' of')}")
    return "; ".join(words)


def times(ratio):
    return f"{ratio:.2f} x" if ratio >= 0.1 else f"1/{1 / ratio:.0f} of"


def rows(results):
    """Returns the table as rows of text, the head first."""
    figures = results["figures"]
    plain = [each for each in figures if "concurrency" not in each]
    columns = [program for program in PROGRAMS if any(each["program"] == program for each in plain)]
    table = [["what", "N", *(PROGRAMS[column] for column in columns), "stands"]]
    for kind in KINDS:
        for count in sorted({each["team_spaces"] for each in plain if each["kind"] == kind}):
            cells = [cell(find(figures, kind, column, count)) for column in columns]
            unit = f", {KINDS[kind].unit}" if KINDS[kind].unit else ""
            table.append([KINDS[kind].words + unit, f"{count:,}", *cells, ratios(figures, kind, count)])
    return table + curve_rows(figures, len(columns))


def curve_rows(figures, columns):
    """Returns the rows of the times to converge by concurrency."""
    return [[f"{KINDS[each['kind']].words}, s: {each['backend']}, --concurrency {each['concurrency']}",
             f"{each['team_spaces']:,}", cell(each), *[""] * columns]
            for each in on_curve(figures, "converge.wall")]


def heading(results):
    """Returns the lines that tell when, where and with what."""
    about, machine, versions = results["about"], results["about"]["machine"], results["about"]["versions"]
    lines = [
        f"{about['date']}, commit {about['commit']}: {about['command']}",
        f"{machine['cores']} cores ({machine['processor']}), {machine['memory_bytes'] / (1 << 30):.0f} GiB, Linux "
        f"{machine['kernel']}; load before: {machine['load']:.1f}",
        f"{versions['cnpa-op']}; Kubernetes {versions['kubernetes']}, etcd {versions['etcd']}; "
        f"{' '.join(versions['curl'].split()[:2])}; controller-runtime {versions['controller-runtime']}",
    ]
    return lines + [f"left out: {each['what']}: {each['why']}" for each in results["missing"]]


def as_text(results):
    table = rows(results)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = [" | ".join(text.ljust(width) if column in (0, len(widths) - 1) else text.rjust(width)
                        for column, (text, width) in enumerate(zip(row, widths))).rstrip() for row in table]
    lines.insert(1, "-+-".join("-" * width for width in widths))
    return "\n".join(heading(results) + [""] + lines)


def as_markdown(results):
    head, *body = rows(results)
    sides = ["---", *["---:"] * (len(head) - 2), "---"]
    lines = ["| " + " | ".join(row) + " |" for row in [head, sides, *body]]
    return "\n".join([line + "  " for line in heading(results)] + [""] + lines)


def put(text, page):
    """Puts `text` between the marks of a page. Errors: SystemExit when they are not there."""
    before, begin, rest = page.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"report: {page} has no '{BEGIN}' and '{END}' to put it between")
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}")


def main():
    if len(sys.argv) not in (2, 3):
        raise SystemExit("usage: report.py BENCH.JSON [PAGE.md]")
    text = as_markdown(json.loads(Path(sys.argv[1]).read_text()))
    if len(sys.argv) == 2:
        print(text)
    else:
        put(text, Path(sys.argv[2]))


if __name__ == "__main__":
    main()
