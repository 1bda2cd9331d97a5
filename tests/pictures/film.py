# SPDX-License-Identifier: Apache-2.0
"""Draws what terminals show as an SVG that moves.

It moves by CSS, so that it does where a page shows it as an image; whoever wants no motion sees the last frame. The
terminal brings its own background, so that it can be read on a light page and on a dark one.
"""

from dataclasses import dataclass
from html import escape

CELL_WIDTH, LINE_HEIGHT, FONT_SIZE = 8.4, 19, 14
MARGIN, BAR = 16, 34
BACKGROUND, FRAME, PLAIN = "#16191f", "#3a404c", "#d7dae0"
COLORS = {"red": "#ff7b72", "green": "#7ee787", "brown": "#e3b341", "blue": "#79c0ff", "magenta": "#d2a8ff",
          "cyan": "#76e3ea"}
NO_BREAK_SPACE = "\u00a0"  # Of two others in a row, one would go.
FONT = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace"


@dataclass(frozen=True)
class Frame:
    """What is on the screen (see Terminal.lines), and for how many seconds."""

    lines: list
    seconds: float


def draw(frames, columns, rows, title):
    """Returns the SVG of a film that begins anew after its last frame."""
    width, height = round(columns * CELL_WIDTH + 2 * MARGIN), BAR + rows * LINE_HEIGHT + MARGIN
    whole = sum(frame.seconds for frame in frames)
    rules, groups, begin = [], [], 0.0
    for number, frame in enumerate(frames):
        end = begin + frame.seconds
        rules.append(moving(number, 100 * begin / whole, 100 * end / whole, whole))
        last = ' class="last"' if number == len(frames) - 1 else ""
        groups.append(f'<g id="f{number}"{last}>{"".join(line(row, line_) for row, line_ in enumerate(frame.lines))}</g>')
        begin = end
    colors = "".join(f".{name}{{fill:{value}}}" for name, value in COLORS.items())
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">
<title>{escape(title)}</title>
<style>
text{{font:{FONT_SIZE}px {FONT};fill:{PLAIN}}}
.bold{{font-weight:700}}{colors}
g{{visibility:hidden}}.last{{visibility:visible}}
@media (prefers-reduced-motion:no-preference){{
{"".join(rules)}}}
</style>
<rect x="1" y="1" width="{width - 2}" height="{height - 2}" rx="9" fill="{BACKGROUND}" stroke="{FRAME}" stroke-width="1.5"/>
<circle cx="20" cy="18" r="5" fill="#ff5f57"/><circle cx="38" cy="18" r="5" fill="#febc2e"/><circle cx="56" cy="18" r="5" fill="#28c840"/>
{chr(10).join(groups)}
</svg>
"""


def moving(number, begin, end, whole):
    """Returns the rules that show frame `number` from `begin` to `end` per cent of `whole` seconds."""
    shown = "".join(f"{at:.3f}%{{visibility:{how}}}" for at, how in
                    sorted({0.0: "hidden", end: "hidden", begin: "visible"}.items()) if at < 100)
    return (f"@keyframes k{number}{{{shown}}}\n"
            f"#f{number}{{animation:k{number} {whole:.1f}s step-end infinite}}\n")


def line(row, stretches):
    """Returns a line of text, each stretch where a terminal has it, whatever the font's widths are."""
    drawn, column, y = [], 0, BAR + (row + 0.8) * LINE_HEIGHT
    for text, style in stretches:
        if text.strip():
            kind = " ".join(filter(None, [style.color if style.color in COLORS else "", "bold" if style.bold else ""]))
            indent = len(text) - len(text.lstrip(" "))
            words = text.strip(" ")
            drawn.append(f'<text x="{MARGIN + (column + indent) * CELL_WIDTH:.1f}" y="{y:.1f}" '
                         f'textLength="{len(words) * CELL_WIDTH:.1f}"{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>'
                         f"{escape(words.replace(' ', NO_BREAK_SPACE), quote=False)}</text>")
        column += len(text)
    return "".join(drawn)
