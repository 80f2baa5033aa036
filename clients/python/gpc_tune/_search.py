"""The search of the best point of any function, by asking for points and telling their values."""

import functools
import inspect
import json
import math
import os
import pathlib
import queue
import sys
import threading
import time
import weakref
from typing import Any, Callable, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
from ._classifiers import Part, Report, _seed, plain
from ._process import GpcTuneError, InvalidError, Process, Wait, keep, warn

Value = Union[float, int, str, bool, None]
Path = Union[str, "os.PathLike[str]", None]
_held: "weakref.WeakValueDictionary[tuple[int, str], _Held]" = weakref.WeakValueDictionary()
METHODS = ("bayes", "auto", "random", "sobol", "latin_hypercube", "nelder_mead", "cmaes")


class Asked(NamedTuple):
    """A point to evaluate: ``point`` has its values by name, and its value is told with ``id``, or with all of this."""
    point: dict[str, Value]
    id: str


class StopTrial(Exception):
    """Raised by Trial.report where a trial is so far behind that it is to end. minimize records it as stopped early."""


class Trial:
    """A trial of minimize: ``point`` (dict), ``values`` (list of (step, value) so far), ``stopped`` (by stop_early)."""
    def __init__(self, search: "Search", asked: Asked):
        self.point, self.values, self.stopped = dict(asked.point), [], False  # type: ignore[var-annotated]
        self._search, self._asked = search, asked

    def report(self, step: float, value: float) -> None:
        """The value after a step (steps grow; none if not finite); raises StopTrial where stop_early ends the trial."""
        if self.values and not step > self.values[-1][0]:
            raise ValueError(f"step {step} does not follow step {self.values[-1][0]}")
        if math.isfinite(value):
            self.values.append((float(step), float(value)))
            self.stopped = self._search.behind(self._asked, self.values)
        if self.stopped:
            raise StopTrial(f"behind at step {step:g} with {value:g}")


class Search:
    """A search whose points are asked for, and whose values are told.

    Parameters:
        space (mapping): The range of each value by its name: ``(0.0, 1.0)`` are numbers, ``(1, 8)`` whole numbers,
            ``["a", "b"]`` a choice, ``{"log": (1e-5, 1)}`` numbers above 0 on a logarithmic scale. With options
            ``{"linear": {"from": 0, "to": 1, "step": 0.1, "init": 0.5}}``, ``{"whole": {"from": 16, "to": 256, "log":
            True}}``, ``{"choice": {"values": ["a", "b"], "when": {"kind": "c", "n": {"above": 3}}}}``: points have the
            last one only where kind is c and n is above 3. Others: a list of values, below, at_least, at_most.
        trials (int): The number of points in all, with bayes up to 1000. bayes and auto end where a space has fewer.
        method (text): bayes, auto, random, sobol, latin_hypercube; for numbers alone nelder_mead, which ends where it
            converges, and cmaes, which takes whole generations.
        maximize (bool): Large values are good.
        noise (bool): f gives another value for the same point, whose noise a regression takes out: see ``best_``.
        objectives (names): Values that are minimised, where f and tell give a dict of named ones. See ``pareto_``.
        require (mapping): Bounds of named values, ``{"memory": {"at_most": 8e9}}`` or at_least, for best points.
        n_jobs (int): Points that can be out before their values are told, -1 for as many as cores. The k-th point of
            bayes, auto and cmaes needs the values of the first k - n_jobs, and ask raises Wait; nelder_mead has one.
        stop_early (text or mapping, optional): Rule that ends trials early by their values on the way: median,
            successive_halving, or with options ``{"median": {"from": 10}}``.
        folder (path, optional): Where one Python keeps the search; it goes on with the same arguments, or more trials.
            A second one is refused: one asks for all points, or each runs the commands ask and tell of the program.
        random_state (int, optional): Seed of the search. Without one it is 0, so that a search repeats."""
    def __init__(self, space: Mapping[str, Any], *, trials: int = 50, method: str = "bayes", maximize: bool = False,
                 noise: bool = False, objectives: Part = (), require: Part = None, n_jobs: int = 1,
                 stop_early: Part = None, folder: Path = None, random_state: Optional[int] = None):
        self._arguments = {name: of for name, of in locals().items() if name != "self"}
        if method not in METHODS:
            raise InvalidError(f"method is {method!r}, expected one of {', '.join(METHODS)}")
        if not isinstance(n_jobs, (int, np.integer)) or n_jobs < 1 and n_jobs != -1:
            raise InvalidError(f"n_jobs is {n_jobs!r}, expected a whole number, 1 or more, or -1 for all cores")
        self._jobs = n_jobs = os.cpu_count() or 1 if n_jobs == -1 else int(n_jobs)
        self.done, self._folder = False, os.path.abspath(os.fspath(folder)) if folder is not None else ""
        objectives = [objectives] if isinstance(objectives, str) else list(objectives or ())
        if objectives if maximize else require and not objectives:
            raise InvalidError("objectives are names of values to minimise: require needs some, maximize takes none")
        more = {"stop_early": stop_early, "noise": noise, "require": require}
        program = {"hyperparameters": {name: _range(name, of) for name, of in space.items()}, "minimize":
                   objectives or not maximize, **{key: of for key, of in more.items() if of}}
        self._values = list(dict.fromkeys([*objectives, *(require or ())]))
        self._real = {name for name, of in program["hyperparameters"].items() if {"linear", "log"} & of.keys()}
        self._names, self._trials, self._method = list(space), int(trials), method
        parallel = {"parallel": n_jobs} if n_jobs > 1 and method in ("bayes", "auto", "cmaes") else {}
        study = json.loads(json.dumps({
            "version": 1, "name": "search", "seed": _seed(random_state), "program": program,
            "tune": {"method": method, "trials": self._trials, **parallel}}, default=plain))
        self._file, self._run, lock = (os.path.join(self._folder, name) for name in ("search.yaml", "run", "lock"))
        if self._folder:
            os.makedirs(self._folder, exist_ok=True)
            key = os.getpid(), lock  # a fork of this Python has no right to the folder
            self._held = _held.get(key) or _held.setdefault(key, _Held(lock))
            if os.path.exists(os.path.join(self._run, "manifest.json")):
                _compare(self._folder, was := json.loads(pathlib.Path(self._file).read_text()), study)
                study = {**was, "tune": {**was["tune"], "trials": self._trials}}  # with its order of space
                if parallel and n_jobs > (n := was["tune"].get("parallel", 1)):
                    warn(f"{n} calls run at once: {method} goes on with the n_jobs with which this folder began")
        self._process, self._lock = keep(self, Process()), threading.RLock()
        self._process.study(self._file, json.dumps(study, indent=1))
        self._process.command("validate", self._file, warned=False)

    def __reduce__(self) -> Any:
        if not self._folder:
            raise TypeError("a search without a folder cannot be pickled: give folder=, and open it again")
        return functools.partial(Search, **{**self._arguments, "folder": self._folder}), ()

    def __repr__(self) -> str:
        return f"Search({len(self.trials_)} of {self._trials} trials, {self._method})"

    def _command(self, *args: str, **options: Any) -> str:
        """Runs a command, in a new process where Ctrl-C in another thread has ended the one of a search in a folder."""
        with self._lock:
            if self._folder and not self._process.alive:
                self._process = keep(self, Process())
            return self._process.command(*args, **options)

    def ask(self) -> Optional[Asked]:
        """The next point, or None if all are told: then ``done`` is True. Raises Wait where values come first."""
        out = self._next()
        if out is None and not self.done:
            raise Wait("tell values first: the method waits for " + ", ".join(one.id for one in self.untold_))
        return out

    def _next(self) -> Optional[Asked]:
        asked = json.loads(self._command("ask", self._file, "-o", self._run, "--extend"))
        self.done, ended = asked["done"], self.done
        if self.done and not ended and (n := len(self.trials_)) < self._trials:
            why = f"the space has {n} points" if self._method in ("bayes", "auto") else f"{self._method} ends there"
            warn(f"{n} trials and not {self._trials}: {why}")
        return None if asked["id"] is None else self._point(asked)

    def _point(self, asked: dict[str, Any]) -> Asked:
        point = {name: functools.reduce(lambda of, part: of[part], name.split(".", 1), asked["point"])
                 for name in self._names if name not in asked.get("inactive", ())}
        return Asked(self._typed(point), asked["id"])

    def behind(self, asked: Union[Asked, str], way: Sequence[Tuple[float, float]]) -> bool:
        """Whether the rule stop_early ends a point with these values on the way, (step, value) each."""
        return json.loads(self._tell(asked, way, [], "running"))["stop"]

    def tell(self, asked: Union[Asked, str], value: Union[float, Mapping, None], why: str = "it has no value", *,
             way: Sequence[Tuple[float, float]] = (), early: bool = False, seconds: float = 0) -> None:
        """Records the value of a point, or a dict of its named values; None or NaN means that it failed, for the reason
        why. way has its (step, value) on the way; with early it ended early, with the last of them. seconds is by
        default the time since ask."""
        values = {"": value} if not self._values or not isinstance(value, Mapping) else {
            name: v for name, v in value.items() if name in self._values}
        failed = ["failed", why if value is None else f"the value is {value}"]
        text = ["early"] if early else failed if not all(v is not None and math.isfinite(v) for v in values.values()) \
            else [f"{name}={float(v)!r}".lstrip("=") for name, v in values.items()]  # type: ignore[arg-type]
        self._tell(asked, way, [f"--seconds={float(seconds)!r}"], *text)

    def _tell(self, asked: Union[Asked, str], way: Sequence[Tuple[float, float]], flags: list[str], *text: str) -> str:
        if not isinstance(asked, (str, Asked)):
            raise TypeError(f"{asked!r} is no point of ask: tell(asked, value) takes what ask has returned, or its id")
        name = asked if isinstance(asked, str) else asked.id
        steps = [part for step, value in way for part in ("--way", f"{float(step)!r}={float(value)!r}")]
        return self._command("tell", self._file, "-o", self._run, "--extend", *steps, *flags, "--", name, *text)

    def _typed(self, point: dict[str, Value]) -> dict[str, Value]:
        return {name: float(v) if name in self._real and v is not None else v for name, v in point.items()}  # of JSON

    @property
    def untold_(self) -> list[Asked]:
        """The points whose values are not told yet, also of an earlier Python in this folder."""
        lines = self._command("ask", self._file, "-o", self._run, "--extend", "--untold").splitlines()
        return [self._point(json.loads(line)) for line in lines]

    @property
    def trials_(self) -> list[dict[str, Any]]:
        """The points with a value, in their order, as dicts: ``point`` has the values by name; ``value`` is NaN if the
        trial failed; ``failure`` says why, and else is None; ``stopped`` is True where it was stopped early;
        ``seconds`` is the time of the call of f, with ask and tell the time between; ``way`` has the values on the way,
        (step, value) each; ``values``, of objectives and require, by name, and ``allowed``, whether require holds, are
        there if these are given. ``pandas.json_normalize(trials_)`` is a table of all."""
        return [{"point": self._typed(t["hyperparameters"]), "value": math.nan if t["value"] is None else
                 float(t["value"]), "failure": t["failure"], "stopped": t["status"] == "stopped early", "seconds":
                 float(t["wall_seconds"]), "way": [(float(step), float(v)) for step, v in (t["way"] or {}).items()],
                 **({"values": {name: t.get(name, t["value"]) for name in self._values}, "allowed": t["status"] ==
                     "evaluated"} if self._values else {})}
                for t in self._rows("trials")]

    def _rows(self, what: str) -> list[dict[str, Any]]:
        """The rows of a table of the run."""
        if not os.path.exists(self._process.path(os.path.join(self._run, "manifest.json"))):
            return []  # no point was asked for
        return json.loads(self._command("export", self._run, "--what", what, "--format", "json", warned=False))

    @property
    def importance_(self) -> list[dict[str, Any]]:
        """How much each value of a point matters, the most important first: dicts of ``hyperparameter``, its name;
        ``alone``, its share of the variance of f over the space, 0 to 1; ``total``, with its interactions; their errors
        ``alone_error`` and ``total_error``, None if ``r2`` < 0.5; ``r2``, how well a regression predicts values."""
        rows = self.best_ and self._rows("importance")
        if why := rows[0]["failure"]:
            raise GpcTuneError(f"it is not known which values matter: {why}")
        return [{key: of for key, of in t.items() if key not in ("configuration", "failure")} for t in rows]

    @property
    def best_(self) -> Tuple[dict[str, Value], float]:
        """The best point, a dict as f takes it, and its value, the first of objectives: (point, value). With noise it
        is once all are told the point whose expected value is best, and this value, and before the luckiest one."""
        if not (rows := self._rows("best_points")):
            failed = [t["failure"] for t in self._rows("trials") if t["failure"]][-1:]
            raise GpcTuneError("; the last has failed: ".join(["no point has a value yet", *failed]))
        return self._typed(rows[0]["hyperparameters"]), float(rows[0]["value"])

    @property
    def pareto_(self) -> list[Tuple[dict[str, Value], dict[str, float]]]:
        """With several objectives, the points that no other one dominates, and their objectives by name."""
        return [(self._typed(t["hyperparameters"]), {name: float(t[name]) for name in self._values if name in t})
                for t in self._rows("pareto")]

    @property
    def report_(self) -> Report:
        """The report of the search."""
        self._rows("trials") or self.best_  # which raises
        self._command("report", self._run, "--formats", "html", warned=False, partly=True)
        page = pathlib.Path(self._process.path(os.path.join(self._run, "report.html"))).read_text(encoding="utf-8")
        return Report(self._command("show", self._run, warned=False), page)


def minimize(f: Callable[..., Any], space: Mapping[str, Any], *, trials: int = 50, method: str = "bayes", maximize: bool
             = False, noise: bool = False, objectives: Part = (), require: Part = None, n_jobs: int = 1, stop_early:
             Part = None, folder: Path = None, random_state: Optional[int] = None, catch: Any = (), verbose: bool =
             False) -> Search:
    """Searches the point at which f is smallest, or with maximize largest, and returns the Search: its ``best_`` is
    (point, value), and ``trials_`` has point, value, failure, stopped, seconds and way of each.

        >>> def train(point, trial):
        ...     for epoch in range(1, 21):
        ...         trial.report(epoch, (point["rate"] - 0.3) ** 2 + 1 / epoch)  # the loss on held-out cases
        ...     return trial.values[-1][1]  # stop_early ends calls that are behind by the exception StopTrial
        >>> search = minimize(train, {"rate": (0.0, 1.0)}, trials=12, stop_early="median", folder="rates")
        >>> search.best_, sum(t["stopped"] for t in search.trials_)

    Parameters:
        f (function): Takes a point, a dict of values by name, and returns a number, or with objectives and require a
            dict of named ones, ``{"loss": 0.4, "memory": 2e9}``. NaN is a failed trial. Arguments
            that all have names of the space, two or more, as in ``lambda x, n: x + n``, are given the values instead.
            Otherwise a second argument is the Trial, whose report(step, value) takes values on the way.
        space, trials, method, maximize, noise, objectives, require, stop_early, folder, random_state: As of Search.
        n_jobs (int): Calls of f at once, in threads; see Search. The points do not depend on how long f takes. Ctrl-C
            waits for the calls that run, and a folder keeps their values; a second one ends the search at once.
        catch (exceptions): Those of f that are failed trials; others end the search.
        verbose (bool): Shows every value on standard error."""
    catch = catch if isinstance(catch, (tuple, list)) else (catch,)
    if not all(isinstance(one, type) and issubclass(one, BaseException) for one in catch):
        raise TypeError(f"catch is {catch!r}, expected exceptions, such as (ValueError, OverflowError)")
    search = Search(space, trials=trials, method=method, maximize=maximize, noise=noise, objectives=objectives, require=
                    require, n_jobs=n_jobs, stop_early=stop_early, folder=folder, random_state=random_state)
    call, called, before = _caller(f, space), [], len(search.trials_)  # type: ignore[var-annotated]
    kind = f"dict with a number for each of {names}" if (names := search._values) else "number"

    def run(asked: Asked) -> None:
        called.append(asked)
        number, trial, value = before + len(called), Trial(search, asked), None
        why, began = "it has no value", time.perf_counter()
        try:
            value = call(dict(asked.point), trial)
            got = [value] if not names else map(value.get, names) if isinstance(value, Mapping) else [None]
            if not all(hasattr(v, "__float__") for v in got):
                raise InvalidError(f"f returned {value!r} at {asked.point}, expected a {kind}; NaN is a failed trial")
        except StopTrial:
            if not trial.stopped:
                raise
        except tuple(catch) as wrong:
            value, why = None, f"{type(wrong).__name__}: {wrong}"
        search.tell(asked, value, why, way=trial.values, early=trial.stopped, seconds=time.perf_counter() - began)
        value = trial.values[-1][1] if trial.stopped else value
        if verbose and value is not None:
            shown = f"{value}" if names else f"{value:.6g}"
            print(f"{number}: {shown} at {asked.point}{', stopped early' * trial.stopped}", file=sys.stderr)

    def work(asked: Asked) -> None:
        try:
            ended.put((threading.current_thread(), run(asked)))
        except BaseException as wrong:
            ended.put((threading.current_thread(), wrong))

    again, running, ended = list(search.untold_), [], queue.SimpleQueue()  # type: ignore[var-annotated]
    try:
        while not search.done:
            while len(running) < search._jobs and (one := again.pop(0) if again else (
                    search._next if running else search.ask)()) is not None:
                if search._jobs == 1:
                    run(one)
                    continue
                running.append(threading.Thread(target=work, args=(one,), daemon=True))  # for a second Ctrl-C
                running[-1].start()
            if running:
                thread, wrong = ended.get()
                running.remove(thread)
                thread.join()
                if wrong:
                    raise wrong
    except BaseException:
        if running:
            print(f"waiting for {len(running)} calls of f; Ctrl-C ends at once", file=sys.stderr, flush=True)
        [thread.join() for thread in running]
        raise
    if not called:
        warn(f"all {search._trials} trials are from the folder {search._folder}: f was not called")
    return search


def _caller(f: Callable[..., Any], space: Mapping[str, Any]) -> Callable[[dict[str, Value], Trial], Any]:
    """f as a function of point and trial, by the arguments that it must be given."""
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return lambda point, trial: f(point)
    needed = [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.default is p.empty]
    if len(needed) > 1 and set(needed) <= set(space):
        return lambda point, trial: f(**point)
    return f if len(needed) > 1 else lambda point, trial: f(point)


def _range(name: str, of: Any) -> Any:
    """A range as in a file."""
    if isinstance(of := list(of) if isinstance(of, (range, np.ndarray)) else of, list):
        if not all(v is None or isinstance(v, (str, bool, int, float, np.generic)) for v in of):
            raise InvalidError(f"the choices of {name} are {of!r}, expected texts, numbers, True, False or None")
        return {"choice": {"values": of}}
    if isinstance(of, tuple) and len(of) == 2:
        whole = all(isinstance(v, (int, np.integer)) and not isinstance(v, bool) for v in of)
        return {"whole" if whole else "linear": {"from": of[0], "to": of[1]}}
    if not isinstance(of, Mapping):
        raise ValueError(f"the range of {name} is {of!r}, expected (from, to), [value, ...] or {{scale: (from, to)}}")
    more = {key: v for key, v in of.items() if key in ("when", "step", "init")}  # options beside the ends
    ends = {scale: {"values": v} if scale == "choice" and isinstance(v, list) else dict(zip(("from", "to"), v))
            if isinstance(v, (tuple, list)) and len(v) == 2 else v for scale, v in of.items() if scale not in more}
    return {scale: {**v, **more} if isinstance(v, Mapping) else v for scale, v in ends.items()}


def _compare(folder: str, *studies: dict[str, Any]) -> None:
    """Raises if the search in a folder cannot go on as another one, with the same arguments but for more trials."""
    was, now = ({"trials": of["tune"]["trials"], "method": of["tune"]["method"], "random_state": of["seed"],
                 "maximize": not (m := of["program"]["minimize"]), "objectives": m if isinstance(m, list) else None,
                 **{name: of["program"].get(name) for name in ("noise", "require", "stop_early")}, **{
                 f"space[{name!r}]": one for name, one in of["program"]["hyperparameters"].items()}} for of in studies)
    if wrong := [f"{name} was {was.get(name)!r}, and is {now.get(name)!r}" for name in {**was, **now}
                 if (now[name] < was[name] if name == "trials" else now.get(name) != was.get(name))]:
        raise InvalidError(f"the folder {folder} has a search with other arguments: {'; '.join(wrong)}. Give the same "
                           "arguments and as many trials or more, or another folder")


class _Held:
    """A folder that this Python alone uses, as long as the object is there: a lock on a file in it."""
    def __init__(self, path: str):
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        weakref.finalize(self, os.close, file)
        try:
            if os.name == "nt":
                import msvcrt
                os.lseek(file, 1 << 30, os.SEEK_SET)  # others cannot read or write what is locked
                msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
            else:
                import fcntl
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise InvalidError(f"another Python uses {path[:-5]}: wait for it, or give another folder") from None
