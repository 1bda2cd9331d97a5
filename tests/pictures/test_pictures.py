# SPDX-License-Identifier: Apache-2.0
"""The pictures of the README are made by scripts from the real program, and what they show is still so."""

import re
import subprocess
import sys
import xml.etree.ElementTree as xml
from pathlib import Path

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
PICTURES = REPOSITORY / "docs" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"


def words(picture):
    """Returns the texts of a picture without what is other each time: numbers, times and uids."""
    texts = [" ".join((element.text or "").split()) for element in xml.parse(picture).iter(f"{SVG}text")]
    for varying in (r"[0-9a-f]{8}-[0-9a-f-]{27}", r"(?:\d+(?:\.\d+)? ?(?:ms|[smhd]))+\b", r"\d+(?:\.\d+)?"):
        texts = [re.sub(varying, "N", text) for text in texts]
    return texts


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_architecture_is_what_its_script_draws_of_the_sources(tmp_path):
    run(HERE / "architecture", tmp_path / "new.svg")
    assert (tmp_path / "new.svg").read_text() == (PICTURES / "architecture.svg").read_text(), "run: make pictures"


def test_the_recording_shows_what_the_program_says(tmp_path):
    run(REPOSITORY / "tests/cluster/cluster", "run", "--", sys.executable, HERE / "record", tmp_path / "new.svg")
    assert words(tmp_path / "new.svg") == words(PICTURES / "recording.svg"), "run: make pictures"


def test_the_readme_shows_both():
    readme = (REPOSITORY / "README.md").read_text()
    for picture in sorted(PICTURES.glob("*.svg")):
        assert f"(docs/pictures/{picture.name})" in readme
