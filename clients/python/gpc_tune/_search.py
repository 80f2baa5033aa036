"""The search of the best point of any function, by asking for points and telling their values."""

from __future__ import annotations

import itertools
import json
import math
import os
import sys
import weakref
from typing import Any, Callable, Mapping, NamedTuple, Optional, Tuple, Type, Union

from ._classifiers import Report, _seed
from ._process import GpcTuneError, Process, _leave

Value = Union[float, int, str, bool, None]


class Asked(NamedTuple):
    """A point to evaluate: its values by name, and the id with which its value is told."""

    point: dict[str, Value]
    id: str


class Search:
    """A search whose points are asked for, and whose values are told.

    Parameters
    ----------
    space : mapping
        The range of each value by its name: ``(0.0, 1.0)`` are numbers, ``(1, 8)`` whole numbers,
        ``["a", "b"]`` a choice, and ``{"log": {"from": 1e-5, "to": 1}}`` any range of a file.
    trials : int
        The number of points.
    method : text
        A strategy of ``gpc-tune list strategies``.
    maximize : bool
        Large values are good.
    folder : path, optional
        Where the search is kept. A search with the same arguments goes on there.
    random_state : int, optional
        Seed of the search.

    Attributes
    ----------
    untold_ : list of Asked
        The points whose values are not told yet, also those of an earlier program in this folder.
    done : bool
        The last ask said that all values are told.
    """

    def __init__(self, space: Mapping[str, Any], *, trials: int = 50, method: str = "bayes", maximize: bool = False,
                 folder: Union[str, "os.PathLike[str]", None] = None, random_state: Optional[int] = None):
        self.done = False
        self._folder = os.path.abspath(os.fspath(folder)) if folder is not None else ""
        program = {"hyperparameters": {name: _range(of) for name, of in space.items()}, "minimize": not maximize}
        study = json.dumps({"version": 1, "name": "search", "seed": _seed(random_state), "program": program,
                            "tune": {"method": method, "trials": trials}})
        self._file = os.path.join(self._folder, "search.yaml")
        self._run = os.path.join(self._folder, "run")
        self._maximize = maximize
        self._process = Process()
        self._process.models += 1
        weakref.finalize(self, _leave, self._process).atexit = False
        self.untold_: list[Asked] = []
        self._asked = os.path.join(self._folder, "asked.json")
        if os.path.exists(self._asked):
            with open(self._asked, encoding="utf-8") as file:
                self.untold_ = [Asked(*asked) for asked in json.load(file)]
        if folder is None:
            self._process.ask("write", study.encode(), name=self._file)
        else:
            os.makedirs(self._folder, exist_ok=True)
            with open(self._file, "w", encoding="utf-8") as file:
                file.write(study)

    def ask(self) -> Optional[Asked]:
        """The next point, or None if all are told; an error if the method waits for values first."""
        asked = json.loads(self._process.command("ask", self._file, "-o", self._run))
        self.done = asked["done"]
        if asked["id"] is None and not self.done:
            raise GpcTuneError(f"the method waits for the values of {', '.join(asked['untold'])}: tell them first, "
                               "a value or None")
        if self.done:
            return None
        out = Asked(asked["point"], asked["id"])
        self.untold_.append(out)
        self._keep()
        return out

    def tell(self, asked: Union[Asked, str], value: Optional[float], why: str = "it has no value") -> None:
        """Records the value of a point; None or NaN means that it failed, for the reason why."""
        name = asked if isinstance(asked, str) else asked.id
        if value is None or not math.isfinite(value):
            text = ["failed", why if value is None else f"the value is {value}"]
        else:
            text = [repr(float(value))]
        self._process.command("tell", self._file, "-o", self._run, "--", name, *text)
        self.untold_ = [asked for asked in self.untold_ if asked.id != name]
        self._keep()

    def _keep(self) -> None:
        if self._folder:
            with open(self._asked, "w", encoding="utf-8") as file:
                json.dump(self.untold_, file)

    @property
    def trials_(self) -> list[dict[str, Any]]:
        """The points whose values are told, in their order: point, value (NaN: failed) and failure."""
        table = json.loads(self._process.command("export", self._run, "--what", "trials", "--format", "json",
                                                 warn=False))
        return [{"point": t["hyperparameters"], "value": math.nan if t["value"] is None else float(t["value"]),
                 "failure": t["failure"]} for t in table]

    @property
    def best_(self) -> Tuple[dict[str, Value], float]:
        """The best point and its value."""
        told = [(t["value"], t["point"]) for t in self.trials_ if math.isfinite(t["value"])]
        if not told:
            raise GpcTuneError("no point has a value yet")
        value, point = (max if self._maximize else min)(told, key=lambda t: t[0])
        return point, value

    @property
    def report_(self) -> Report:
        """The report of the search."""
        self._process.command("report", self._run, "--formats", "html", warn=False, partly=True)
        if self._folder:
            with open(os.path.join(self._run, "report.html"), encoding="utf-8") as file:
                page = file.read()
        else:
            page = self._process.ask("read", name=os.path.join(self._run, "report.html"))[1].decode()
        return Report(self._process.command("show", self._run, warn=False), page)


def minimize(f: Callable[[dict[str, Value]], float], space: Mapping[str, Any], *, trials: int = 50,
             method: str = "bayes", folder: Union[str, "os.PathLike[str]", None] = None,
             random_state: Optional[int] = None, catch: Tuple[Type[BaseException], ...] = (),
             verbose: bool = False) -> Search:
    """Searches the point at which f is smallest.

    Parameters
    ----------
    f : function
        Takes a point, a dict of values by name, and returns a number. NaN is a failed trial.
    space, trials, method, folder, random_state
        As of Search. With a folder, a search that was stopped goes on.
    catch : exceptions
        Those of f that are failed trials; others end the search.
    verbose : bool
        Shows every value on standard error.

    Returns
    -------
    Search
        ``best_`` is the best point with its value, ``trials_`` are all points, and ``report_`` is a
        page.
    """
    search = Search(space, trials=trials, method=method, folder=folder, random_state=random_state)
    for asked in itertools.chain(search.untold_, iter(search.ask, None)):
        try:
            value = f(dict(asked.point))
        except catch as wrong:
            search.tell(asked, None, f"{type(wrong).__name__}: {wrong}")
            continue
        search.tell(asked, value)
        if verbose:
            print(f"{value:.6g} at {asked.point}", file=sys.stderr, flush=True)
    return search


def _range(of: Any) -> Any:
    """A range as in a file."""
    if isinstance(of, list):
        return {"choice": {"values": of}}
    if isinstance(of, tuple):
        whole = all(isinstance(v, int) and not isinstance(v, bool) for v in of)
        return {"whole" if whole else "linear": {"from": of[0], "to": of[1]}}
    return of
