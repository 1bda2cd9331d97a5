# SPDX-License-Identifier: Apache-2.0
"""A terminal in which commands are run, and what it shows."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from dataclasses import dataclass

import pyte


@dataclass(frozen=True)
class Style:
    """How a stretch of text is written: a colour's name as terminals have it, or "default"; bold or not."""

    color: str = "default"
    bold: bool = False


class Terminal:
    """A terminal of `columns` by `rows`, whose lines scroll out at the top."""

    def __init__(self, columns, rows):
        self._size = struct.pack("HHHH", rows, columns, 0, 0)
        self._screen = pyte.Screen(columns, rows)
        self._screen.set_mode(pyte.modes.LNM)
        self._stream = pyte.ByteStream(self._screen)

    def show(self, text):
        """Shows a text, which may have escape sequences in it."""
        self._stream.feed(text.encode())

    def run(self, command, folder, environment):
        """Runs a command in a shell, as if it had been typed here; returns its exit code and how long it took."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, self._size)
        begin = time.monotonic()
        process = subprocess.Popen(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, stdin=theirs,
                                   stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        with os.fdopen(ours, "rb", buffering=0) as output:
            while piece := self._read(output):
                self._stream.feed(piece)
        return process.wait(), time.monotonic() - begin

    @staticmethod
    def _read(output):
        try:
            return output.read(4096)
        except OSError:  # the last one to write has gone
            return b""

    def lines(self):
        """Returns what is on the screen: a list of stretches (text, Style) for each line, without the empty end."""
        lines = [self._line(row) for row in range(self._screen.lines)]
        while lines and not lines[-1]:
            lines.pop()
        return lines

    def _line(self, row):
        cells = [self._screen.buffer[row][column] for column in range(self._screen.columns)]
        while cells and cells[-1].data == " ":
            cells.pop()
        stretches = []
        for cell in cells:
            style = Style(cell.fg, cell.bold)
            if stretches and stretches[-1][1] == style:
                stretches[-1][0].append(cell.data)
            else:
                stretches.append(([cell.data], style))
        return [("".join(text), style) for text, style in stretches]
