"""The report of a run."""

import html
import pathlib
from typing import Union

from ._process import in_python


class Report:
    """The report of a run: a page in a notebook, and text where it is printed."""

    def __init__(self, text: str, page: str):
        self.text, self.page = in_python(text), in_python(page)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.page)}" style="width: 100%; height: 40em; border: 0" '
                'title="report"></iframe>')

    def save(self, path: Union[str, pathlib.Path]) -> None:
        """Writes the page as an HTML file."""
        pathlib.Path(path).write_text(self.page, encoding="utf-8")
