"""The Python of the page runs as it stands."""

import os
import re

import pytest

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")


@pytest.mark.filterwarnings("ignore")
def test_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    with open("docs/python.md", encoding="utf-8") as file:
        text = file.read().split("## Four notebooks")[0]  # which have a test of their own
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks[0].splitlines()) == 5 and len(blocks) > 2
    names = {}
    for block in blocks:
        exec(block.replace('"30s"', '"2s", verbose=False'), names)  # a test has less time
    assert names["model"].predict_proba(names["X"].head()).shape == (5, 2)
