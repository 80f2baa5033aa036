"""The report of a run, and what drives the predictions of a classifier: importances and effects of its inputs."""

import functools
import html
import pathlib
from typing import Any, Callable, Union

import numpy as np

from . import _table
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


class Effects:
    """Importances and effects of the inputs of a classifier, as pandas frames, or record arrays if it is not imported.

    Attributes:
        importance (table, a row for each input, the most important first): ``input``; ``bits``, the information per
            case that predictions lose if the values of the input come from other cases, with the ends ``lo`` and ``hi``
            of its 95 % interval; ``noise``, the level of noise. Empty without labels.
        curves (table, a row for each point of each curve): ``input``; ``kind``, partial_dependence, the mean prediction
            if all cases had this x, or accumulated_local, local effects up to x, of mean 0; ``scale``, probability or
            latent, the latent function; ``class``, of two the positive one alone; ``beside`` and ``given``, the
            second input of a pair and its value; ``x``, the value of the input, NaN for a category, whose name is
            ``level``; ``mean``, with its 95 % band ``lo`` to ``hi``, NaN where there is none. A date has curves of its
            parts, named with them: "day days" since 1970, "day month (sine)", "day month (cosine)", ...
        base_bits (float): Information of the predictions of the labelled cases, in bits per case; NaN without labels.
        report_ (Report): The page with all tables and pictures, which a notebook shows."""
    def __init__(self, of: dict[str, Any], names: dict[str, Any], classes: dict[str, Any], page: Callable[[], str]):
        self.base_bits = float(of["base_bits"]) if of["scored"] else float("nan")
        rows = of["importance"] or []
        self.importance = _table.frame({"input": [names.get(row["input"], row["input"]) for row in rows], **{
            key: np.array([row[key] for row in rows], dtype=float) for key in ("bits", "lo", "hi", "noise")}})
        columns: dict[str, Any] = {key: [] for key in "input kind scale class beside given x level mean lo hi".split()}
        for curve in of["curves"] or []:
            n, levels, shown = len(curve["x"]), curve.get("names"), {"input": names, "beside": names, "class": classes}
            for key in ("input", "beside", "kind", "scale", "given", "class"):
                columns[key] += [shown.get(key, {}).get(curve.get(key), curve.get(key, ""))] * n
            columns["level"] += levels or [""] * n
            for key in ("x", "mean", "lo", "hi"):
                columns[key] += (key != "x" or not levels) and curve.get(key) or [np.nan] * n
        columns.update({key: np.array(columns[key], dtype=float) for key in ("x", "mean", "lo", "hi")})
        self.curves = _table.frame(columns)
        self._page, self._text = page, ", ".join((
            f"importance of {len(rows)} inputs" if of["scored"] else "importances need y, the labels",
            f"points of curves: {len(columns['x'])}"))

    @functools.cached_property
    def report_(self) -> Report:
        return Report(self._text, self._page())

    def __repr__(self) -> str:
        return f"Effects({self._text})\n{self.importance}"

    def _repr_html_(self) -> str:
        return self.report_._repr_html_()
