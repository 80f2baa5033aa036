"""Searches of functions, by ask and tell."""

import json
import math
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import threading
import time
import types
import warnings

import pytest

import gpc_tune
from conftest import points
from gpc_tune._process import program

SPACE = {"rate": {"log": {"from": 1e-5, "to": 1}}, "layers": (1, 4), "x": (0.0, 1.0), "kind": ["a", "b"],
         "deep": [True, False]}


def loss(point):
    return (math.log(point["rate"]) + 7) ** 2 + (point["layers"] - 3) ** 2 + point["x"] + (point["kind"] == "a")


def test_minimize():
    seen = []
    search = gpc_tune.minimize(lambda p: seen.append(p) or loss(p), SPACE, trials=12, method="sobol")
    assert search.done and len(seen) == 12
    assert [(t["point"], t["value"]) for t in search.trials_] == [(p, loss(p)) for p in seen]
    assert search.best_ == (min(seen, key=loss), min(map(loss, seen)))
    assert {type(v) for v in seen[0].values()} == {float, int, str, bool}
    assert "rate=" in str(search.report_) and "<html" in search.report_.page


def test_a_search_goes_on(tmp_path):
    def stopped(point):
        seen.append(point)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return loss(point)

    seen = []
    with pytest.raises(KeyboardInterrupt):
        gpc_tune.minimize(stopped, SPACE, trials=6, folder=tmp_path / "mine", random_state=1)
    search = gpc_tune.minimize(stopped, SPACE, trials=6, folder=tmp_path / "mine", random_state=1)
    assert len(search.trials_) == 6 and len(seen) == 7 and seen[3] == seen[4]  # the stopped one is evaluated again
    want = gpc_tune.minimize(loss, SPACE, trials=6, random_state=1)
    assert points(search) == points(want)
    with pytest.raises(gpc_tune.GpcTuneError, match="another"):
        gpc_tune.Search({"x": (0.0, 2.0)}, folder=tmp_path / "mine").ask()


def test_a_trial_has_the_time_of_its_call(tmp_path, monkeypatch):
    """Also where another search has asked for its point: the time between does not count."""
    asked = gpc_tune.Search({"x": (0.0, 1.0)}, trials=1, method="sobol", folder=tmp_path / "mine").ask()
    clock = iter((5.0, 12.5, 100.0, 103.0))
    monkeypatch.setattr(gpc_tune._search, "time", types.SimpleNamespace(perf_counter=clock.__next__))
    found = gpc_tune.minimize(lambda p: 1, {"x": (0.0, 1.0)}, trials=2, method="sobol", folder=tmp_path / "mine")
    assert [t["seconds"] for t in found.trials_] == [7.5, 3] and found.trials_[0]["point"] == asked.point


def test_failures():
    def f(point):
        if point["x"] > .5:
            raise OverflowError("too large")
        return math.nan if point["x"] < .2 else -point["x"]

    with pytest.raises(OverflowError):
        gpc_tune.minimize(f, {"x": (0.0, 1.0)}, trials=8, method="sobol")
    trials = gpc_tune.minimize(f, {"x": (0.0, 1.0)}, trials=8, method="sobol", catch=(OverflowError,)).trials_
    assert any("OverflowError: too large" in (t["failure"] or "") for t in trials)
    assert any("the value is nan" in (t["failure"] or "") for t in trials)


def test_ask_and_tell():
    search = gpc_tune.Search({"x": (-1.0, 1.0)}, trials=3, maximize=True)
    first = search.ask()
    search.tell(first.id, -2.5e-7)
    second, third = search.ask(), search.ask()
    with pytest.raises(gpc_tune.GpcTuneError, match=second.id):
        search.ask()
    search.tell(third, None)
    search.tell(second, 3)
    assert search.ask() is None and search.done and search.best_[1] == 3
    with pytest.raises(gpc_tune.InvalidError, match="unknown range"):
        gpc_tune.Search({"x": {"logg": 1}}).ask()


def test_early_stopping(tmp_path):
    ran = []

    def train(point, trial):
        for step in range(1, 10):
            ran.append(step)
            trial.report(step, (point["x"] - .3) ** 2 + 1 / step)
        return (point["x"] - .3) ** 2

    def search(**more):
        return gpc_tune.minimize(train, {"x": (0.0, 1.0)}, trials=24, method="sobol", **more)

    whole = search()
    assert len(ran) == 24 * 9 and not any(t["stopped"] for t in whole.trials_)
    ran.clear()
    some = search(stop_early={"median": {"trials": 5}}, folder=tmp_path / "early")
    assert len(ran) < 24 * 8
    stopped = [t for t in some.trials_ if t["stopped"]]
    assert len(stopped) > 4 and some.best_ == whole.best_
    for t in stopped:  # the last value on the way
        assert min(abs(t["value"] - (t["point"]["x"] - .3) ** 2 - 1 / step) for step in range(1, 10)) < 1e-12
    assert "stopped early" in str(some.report_)
    for t in some.trials_:
        assert t["way"] == [(s, (t["point"]["x"] - .3) ** 2 + 1 / s) for s in range(1, len(t["way"]) + 1)]
        assert (len(t["way"]) < 9) == t["stopped"]

    def wrong(point, trial):
        trial.report(2, 1)
        trial.report(2, 1)

    with pytest.raises(ValueError, match="step 2 does not follow step 2"):
        gpc_tune.minimize(wrong, {"x": (0.0, 1.0)}, trials=2)


@pytest.mark.parametrize("method", ["bayes", "random", "nelder_mead", "cmaes"])
def test_trials_at_once_are_the_same_whatever_time_they_take(method, tmp_path):
    """Two calls wait for each other, so that both are under way; the order in which they end differs."""
    def search(f, n=12):
        return gpc_tune.minimize(f, {"x": (0.0, 1.0), "y": (0.0, 1.0)}, trials=n, method=method, n_jobs=2, random_state=1,
                                 folder=tmp_path / f.__name__, maximize=True)

    def f(p):
        return -(p["x"] - .3) ** 2 - (p["y"] - .6) ** 2

    def together(p):
        if method != "nelder_mead":
            both.wait(60)
        lock.acquire()  # the later one ends first in every other pair
        turns.append(p)
        lock.release()
        time.sleep(.02 * (len(turns) % 2))
        return f(p)

    both, lock, turns = threading.Barrier(2), threading.Lock(), []
    got = search(together)
    assert got.done and points(got) == points(search(f)) and len(turns) == len(got.trials_) == 12
    assert got.best_ == max(((t["point"], t["value"]) for t in got.trials_), key=lambda t: t[1])


@pytest.mark.parametrize("value", [None, "a", {"loss": 1.0}, (1.0, 2.0)])
def test_a_function_that_returns_no_number(value):
    with pytest.raises(gpc_tune.InvalidError, match=r"^f returned .* at {'x': 0.5}, expected a number"):
        gpc_tune.minimize(lambda p: value, {"x": (0.0, 1.0)}, trials=3)
    trials = gpc_tune.minimize(lambda p: value, {"x": (0.0, 1.0)}, trials=2, catch=(ValueError,)).trials_
    assert [t["failure"].startswith("InvalidError: f returned") for t in trials] == [True, True]


def test_a_folder_goes_on_with_another_number_of_jobs(tmp_path):
    def search(trials=4, **more):
        return gpc_tune.minimize(lambda p: p["x"], {"x": (0.0, 1.0)}, trials=trials, folder=tmp_path / "mine", **more)

    search(n_jobs=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(search(6, n_jobs=1).trials_) == 6
    with pytest.warns(gpc_tune.GpcTuneWarning, match="^2 calls run at once: bayes goes on with"):
        more = search(8, n_jobs=3)
    want = gpc_tune.minimize(lambda p: p["x"], {"x": (0.0, 1.0)}, trials=8, n_jobs=2)
    assert points(more) == points(want)
    with pytest.raises(gpc_tune.InvalidError, match="other arguments: method was 'bayes', and is 'sobol'. Give"):
        search(8, method="sobol")


def test_trials_at_once_end_with_an_exception():
    with pytest.raises(ZeroDivisionError):
        gpc_tune.minimize(lambda p: 1 / 0, {"x": (0.0, 1.0)}, trials=4, n_jobs=2)


def test_jobs_of_all_cores(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    both = threading.Barrier(3)
    found = gpc_tune.minimize(lambda p: both.wait(60) and p["x"] or p["x"], {"x": (0.0, 1.0)}, trials=3, method="sobol",
                              n_jobs=-1)
    assert len(found.trials_) == 3 and repr(found) == "Search(3 of 3 trials, sobol)"
    with pytest.raises(gpc_tune.InvalidError, match="n_jobs is -2, expected a whole number, 1 or more, or -1 for all"):
        gpc_tune.minimize(loss, SPACE, n_jobs=-2)


def test_ctrl_c_twice(tmp_path, request):
    """At the first Ctrl-C the value of a call that ends is kept, at the second the other call is not waited for."""
    code = """if True:
        import os, sys, time, gpc_tune
        def f(point):
            mine = names.pop()
            open(mine, "w").close()
            while not os.path.exists("go" + mine):
                time.sleep(.01)
            return 7
        names = ["b", "a"]
        gpc_tune.minimize(f, {"x": (0.0, 1.0)}, trials=5, method="sobol", n_jobs=2, folder="mine")
    """
    path = os.path.dirname(os.path.dirname(os.path.abspath(gpc_tune.__file__)))
    child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # for jobs of a shell
                             env={**os.environ, "PYTHONPATH": path, "GPC_TUNE_PROGRAM": program()})
    request.addfinalizer(child.kill)

    def untold():
        return subprocess.run([program(), "ask", tmp_path / "mine" / "search.yaml", "-o", tmp_path / "mine" / "run",
                               "--untold"], capture_output=True).stdout.count(b"\n")

    until(lambda: (tmp_path / "a").exists() and (tmp_path / "b").exists() and untold() == 2)
    child.send_signal(signal.SIGINT)
    assert child.stderr.readline() == "waiting for 2 calls of f; Ctrl-C ends at once\n"
    (tmp_path / "goa").touch()
    until(lambda: untold() == 1)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in child.communicate(timeout=60)[1] and child.returncode != 0
    kept = gpc_tune.Search({"x": (0.0, 1.0)}, trials=5, method="sobol", n_jobs=2, folder=tmp_path / "mine")
    assert [t["value"] for t in kept.trials_] == [7] and len(kept.untold_) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_program_knows_which_points_wait(jobs, tmp_path):
    """Also those of a Python that has ended before it knew them, or before it knew that their value was recorded."""
    search = gpc_tune.Search({"x": (0.0, 1.0)}, trials=4, method="sobol", n_jobs=jobs, folder=tmp_path / "mine")
    assert search.untold_ == []
    told, waits = search.ask(), search.ask()
    command = [program(), "tell", tmp_path / "mine" / "search.yaml", "-o", tmp_path / "mine" / "run", "--", told.id, "7"]
    subprocess.run(command, check=True, capture_output=True)
    del search
    seen, again = [], gpc_tune.Search({"x": (0.0, 1.0)}, trials=4, method="sobol", folder=tmp_path / "mine")
    assert again.untold_ == [waits]
    found = gpc_tune.minimize(lambda p: seen.append(p) or p["x"], {"x": (0.0, 1.0)}, trials=4, method="sobol",
                              n_jobs=jobs, folder=tmp_path / "mine")
    assert seen[0] == waits.point and len(seen) == 3 and [t["value"] for t in found.trials_][0] == 7


@pytest.mark.parametrize("seed", range(30 if os.environ.get("GPC_TUNE_TEST_ALL") else 1))
@pytest.mark.parametrize("jobs, kill", [(1, "SIGINT"), (1, "SIGKILL"), (2, "SIGINT"), (2, "SIGKILL")])
def test_a_search_that_is_killed_goes_on(jobs, kill, seed, tmp_path):
    """At any moment, also where the program has reserved a point that Python does not know, or has a value already."""
    code = f"""if True:
        import json, time, gpc_tune
        def f(point):
            time.sleep(.02)
            return (point["a"] - .3) ** 2 + point["b"] / 10
        found = gpc_tune.minimize(f, {{"a": (0.0, 1.0), "b": (1, 5)}}, trials=12, n_jobs={jobs}, folder="mine")
        print(json.dumps([[t["point"], t["value"]] for t in found.trials_]))
        assert not found.untold_
    """
    path = os.path.dirname(os.path.dirname(os.path.abspath(gpc_tune.__file__)))
    want = gpc_tune.minimize(lambda p: (p["a"] - .3) ** 2 + p["b"] / 10, {"a": (0.0, 1.0), "b": (1, 5)}, trials=12)
    draw, file = random.Random(f"{jobs} {kill} {seed}"), tmp_path / "mine" / "search.yaml"

    def written():
        return file.stat().st_mtime_ns if file.exists() else 0

    for kills in (True, True, False):
        before = written()
        child = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                                 env={**os.environ, "PYTHONPATH": path, "GPC_TUNE_PROGRAM": program()})
        if kills:
            until(lambda: child.poll() is not None or written() > before)  # it works
            time.sleep(.8 * draw.random())
            child.send_signal(getattr(signal, kill))
        printed, wrong = child.communicate(timeout=60)
        assert child.returncode in (0, -getattr(signal, kill) if kills else 0), wrong
    trials = json.loads(printed)
    assert len(trials) == 12 and all(v == (p["a"] - .3) ** 2 + p["b"] / 10 for p, v in trials)
    assert jobs > 1 or trials == [[t["point"], t["value"]] for t in want.trials_]


def test_a_value_is_kept_though_the_process_is_gone(tmp_path):
    """Ctrl-C in a command ends the process of the program, while calls of f are under way."""
    search = gpc_tune.Search({"x": (0.0, 1.0)}, trials=5, method="sobol", folder=tmp_path / "mine")
    asked = search.ask()
    search._process.close()
    search.tell(asked, 3)
    assert [t["value"] for t in search.trials_] == [3] and not search.untold_


def until(what):
    """Waits for a minute."""
    for _ in range(6000):
        if what():
            return
        time.sleep(.01)
    raise AssertionError("not in a minute")


def test_what_tell_takes():
    search = gpc_tune.Search({"x": (0.0, 1.0)}, trials=2, method="sobol")
    asked = search.ask()
    for call in (search.tell, lambda point, value: search.behind(point, [(1, value)])):
        with pytest.raises(TypeError, match=r"is no point of ask: tell\(asked, value\) takes what ask has returned, or its id"):
            call(asked.point, 1.0)
    search.tell(asked, 1.0)
    assert not search.untold_


def test_a_pickle_of_a_search(tmp_path):
    with pytest.raises(TypeError, match="give folder=, and open it again"):
        pickle.dumps(gpc_tune.Search({"x": (0.0, 1.0)}))
    search = gpc_tune.minimize(lambda p: p["x"], {"x": (0.0, 1.0)}, trials=3, method="sobol", folder=tmp_path / "mine")
    again = pickle.loads(pickle.dumps(search))
    assert points(again) == points(search) and again.best_ == search.best_ and again.ask() is None


def test_a_folder_with_all_trials_is_a_warning(tmp_path):
    space, options = {"x": (0.0, 1.0)}, {"method": "sobol", "folder": tmp_path / "fa"}
    gpc_tune.minimize(lambda p: p["x"], space, trials=3, **options)
    with pytest.warns(gpc_tune.GpcTuneWarning, match="all 3 trials are from the folder .*fa: f was not called") as seen:
        gpc_tune.minimize(lambda p: 1 / 0, space, trials=3, **options)
    assert seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gpc_tune.minimize(lambda p: p["x"], space, trials=4, **options)


def test_arguments_with_names_of_the_space_are_values():
    space = {"x": (0.0, 1.0), "n": (1, 4), "k": ["a", "b"]}
    found = gpc_tune.minimize(lambda x, n, k: x + n + (k == "a"), space, trials=6, method="sobol")
    assert [t["value"] for t in found.trials_] == [p["x"] + p["n"] + (p["k"] == "a") for p in (t["point"] for t in found.trials_)]
    for f in (lambda x, trial: type(trial) is gpc_tune.Trial and x["x"], lambda x: x["x"], lambda x, *, n=2: x["n"] * n,
              lambda p, t: p["n"] + t.point["x"]):
        assert gpc_tune.minimize(f, space, trials=2, method="sobol").best_[0].keys() == space.keys()


def test_importance():
    """Shares of the variances of the terms of a sum, uniform over the space: (0.7^5 + 0.3^5)/5 - ((0.7^3 + 0.3^3)/3)^2,
    2/100 and 0.1^2/4."""
    space = {"k": ["u", "v"], "a": (0.0, 1.0), "b": (1, 5)}
    found = gpc_tune.minimize(lambda p: (p["a"] - .3) ** 2 + p["b"] / 10 + .1 * (p["k"] == "u"), space, trials=32, method="sobol")
    parts = {"b": .02, "a": (.7 ** 5 + .3 ** 5) / 5 - ((.7 ** 3 + .3 ** 3) / 3) ** 2, "k": .0025}
    assert [t["hyperparameter"] for t in found.importance_] == list(parts)
    for t in found.importance_:
        want = parts[t["hyperparameter"]] / sum(parts.values())
        assert abs(t["alone"] - want) < .01 and abs(t["total"] - want) < .01 and t["r2"] > .99
        assert set(t) == set(re.findall("``([a-z_0-9]+)``", gpc_tune.Search.importance_.__doc__))
    few = gpc_tune.minimize(lambda p: p["a"], space, trials=2, method="sobol")
    with pytest.raises(gpc_tune.GpcTuneError, match="not known which values matter: 2 points have a value"):
        few.importance_


def test_a_condition_may_be_none():
    for when in (None, [None]):
        space = {"a": ["x", None], "b": {"linear": {"from": 0, "to": 1, "when": {"a": when}}}}
        trials = gpc_tune.minimize(lambda p: 1.0, space, trials=6, method="sobol").trials_
        assert {("b" in t["point"]) == (t["point"]["a"] is None) for t in trials} == {True}


def test_choices_of_a_range_or_an_array():
    import numpy as np
    space = {"a": range(2, 8, 2), "b": np.array([.5, .25])}
    found = gpc_tune.minimize(lambda p: p["a"] + p["b"], space, trials=6, method="sobol")
    assert {(t["point"]["a"], t["point"]["b"]) for t in found.trials_} <= {(a, b) for a in (2, 4, 6) for b in (.5, .25)}


def test_lines_of_verbose_count_trials(capfd, tmp_path):
    for trials, want in ((2, ["1: ", "2: "]), (3, ["3: "])):
        gpc_tune.minimize(lambda p: p["x"], {"x": (0.0, 1.0)}, trials=trials, method="sobol", folder=tmp_path / "mine", verbose=True)
        assert [line[:3] for line in capfd.readouterr().err.splitlines()] == want


def test_with_noise_the_best_point_has_the_best_expected_value():
    """The loss is 0 or more, and noise makes the luckiest value negative."""
    def noisy(point):
        return (point["x"] - .3) ** 2 + draws.gauss(0, .1)

    draws = random.Random(1)
    search = gpc_tune.minimize(noisy, {"x": (0.0, 1.0)}, trials=12, noise=True)
    point, value = search.best_
    lucky = min(t["value"] for t in search.trials_)
    measured, = [t["value"] for t in search.trials_ if t["point"] == point]
    assert lucky < -.1 and lucky < value != measured and abs(value - (point["x"] - .3) ** 2) < .1
    assert "luckiest value" in str(search.report_)


def test_objectives_and_bounds(tmp_path):
    def f(point):
        seen.append(point["x"])
        return {"loss": (point["x"] - .3) ** 2, "seconds": 1 - point["x"], "memory": point["x"] * 1e9, "note": "none"}

    seen, keys = [], {"objectives": ("loss", "seconds"), "require": {"memory": {"at_most": 8e8}}}
    search = gpc_tune.minimize(f, {"x": (0.0, 1.0)}, trials=8, folder=tmp_path / "mine", verbose=True, **keys)
    allowed = [x for x in seen if x <= .8]
    free = [x for x in allowed if not any((o - .3) ** 2 <= (x - .3) ** 2 and o > x for o in allowed)]
    assert sorted(p["x"] for p, _ in search.pareto_) == sorted(free) and len(allowed) < 8 and len(free) > 1
    assert all(of == {"loss": (p["x"] - .3) ** 2, "seconds": 1 - p["x"]} for p, of in search.pareto_)
    best = min(allowed, key=lambda x: (x - .3) ** 2)
    assert search.best_ == ({"x": best}, (best - .3) ** 2)
    assert [(t["values"]["memory"], t["allowed"]) for t in search.trials_] == [(x * 1e9, x <= .8) for x in seen]
    with pytest.raises(gpc_tune.InvalidError, match="require was .*8.* and is None"):
        gpc_tune.Search({"x": (0.0, 1.0)}, trials=8, folder=tmp_path / "mine", objectives=keys["objectives"])
    for wrong in ({"require": keys["require"]}, {"objectives": "loss", "maximize": True}):
        with pytest.raises(gpc_tune.InvalidError, match="objectives .*: require needs some, maximize takes none"):
            gpc_tune.Search({"x": (0.0, 1.0)}, **wrong)
    one = gpc_tune.Search({"x": (0.0, 1.0)}, trials=2, method="sobol", objectives="loss", require=keys["require"])
    one.tell(one.ask(), {"loss": -2, "memory": 9e8})
    with pytest.raises(gpc_tune.InvalidError, match="no value \"memory\" is told"):
        one.tell(one.ask(), {"loss": 3})
    one.tell(one.untold_[0], {"loss": 3, "memory": 7e8})
    assert one.best_[1] == 3 and one.trials_[0]["values"] == {"loss": -2, "memory": 9e8}
    with pytest.raises(gpc_tune.InvalidError, match="expected a dict with a number for each of .'loss'"):
        gpc_tune.minimize(lambda p: 1.0, {"x": (0.0, 1.0)}, objectives="loss")


def test_names_are_in_any_order_where_a_search_goes_on(tmp_path):
    gpc_tune.minimize(lambda a, b: a + b, {"a": (0.0, 1.0), "b": (1, 3)}, trials=2, folder=tmp_path / "mine")
    search = gpc_tune.minimize(lambda a, b: a + b, {"b": (1, 3), "a": (0.0, 1.0)}, trials=4, folder=tmp_path / "mine")
    assert search.trials_[:2] == gpc_tune.Search({"a": (0.0, 1.0), "b": (1, 3)}, trials=4, folder=tmp_path / "mine"
                                                 ).trials_[:2] and len(search.trials_) == 4


def test_a_search_without_values_says_so():
    search = gpc_tune.Search({"x": (0.0, 1.0)})
    for name in ("importance_", "report_", "best_"):
        with pytest.raises(gpc_tune.GpcTuneError, match="^no point has a value yet"):
            getattr(search, name)


@pytest.mark.parametrize("catch", ["ValueError", (ValueError, "no"), int])
def test_catch_has_exceptions(catch):
    with pytest.raises(TypeError, match=r"expected exceptions, such as \(ValueError, OverflowError\)"):
        gpc_tune.minimize(lambda p: 1, {"x": (0.0, 1.0)}, catch=catch)
