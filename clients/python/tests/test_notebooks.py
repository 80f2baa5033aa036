"""The notebooks of the page are what their script writes."""

import importlib.util
import os

import pytest

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")


@pytest.mark.filterwarnings("ignore")
def test_page_is_what_the_script_writes(monkeypatch):
    monkeypatch.chdir(ROOT)
    spec = importlib.util.spec_from_file_location("notebooks", "clients/python/notebooks.py")
    notebooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notebooks)
    text, pictures = notebooks.page()
    with open(notebooks.PAGE, encoding="utf-8") as file:
        assert file.read().endswith(text), "run clients/python/notebooks.py and look at what has changed"
    for name, svg in pictures.items():
        with open(name, encoding="utf-8") as file:
            assert file.read() == svg, name
