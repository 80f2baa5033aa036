"""Optuna's samplers, pycma, TuRBO and SciPy's optimisers, for problems whose values the other side computes.

A request is one line of JSON: the method, a seed, the number of evaluations, and the hyperparameters, in natural units.
Each answer is a line with the next point x; the next line from standard input is its value, NaN where it failed. An
answer without x ends the search. The request "versions" has the versions as its answer, and the methods that can run:
GPSampler needs PyTorch, BIPOP needs pycma, and TuRBO needs the packages turbo (github.com/uber-research/TuRBO) and
gpytorch.
"""
import contextlib
import importlib
import importlib.util
import json
import math
import sys
import types
import warnings

import numpy as np
import optuna
import scipy.optimize
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

warnings.simplefilter("ignore")
optuna.logging.set_verbosity(optuna.logging.ERROR)


class Spent(Exception):
    """All evaluations are used."""


class Problem:
    def __init__(self, evaluations, space, **_):
        self.left, self.space = evaluations, space

    def value(self, x):
        if self.left == 0:
            raise Spent
        self.left -= 1
        print(json.dumps({"x": [float(v) for v in x]}), flush=True)
        return float(sys.stdin.readline())

    def matters(self, h, x):
        return h["when"] is None or x[h["of"]] in h["when"]

    def cube(self, u):
        """The value at a point of the unit cube; whole numbers and choices are rounded."""
        x = []
        for h, v in zip(self.space, np.clip(u, 0, 1)):
            lo, hi = (math.log(h[k]) if h["kind"] == "log" else h[k] for k in ("lo", "hi"))
            v = lo + (hi - lo) * v
            v = math.exp(v) if h["kind"] == "log" else round(v) if h["kind"] in ("whole", "choice") else v
            x.append(min(max(v, h["lo"]), h["hi"]))
        value = self.value(self.settled(x))
        return value if math.isfinite(value) else 1e300

    def settled(self, x):
        """x, where a hyperparameter that does not matter has its first value."""
        return [v if self.matters(h, x) else h["start"] for h, v in zip(self.space, x)]

    def start(self):
        """The start in the unit cube."""
        u = []
        for h in self.space:
            lo, hi, v = (math.log(h[k]) if h["kind"] == "log" else h[k] for k in ("lo", "hi", "start"))
            u.append((v - lo) / (hi - lo))
        return np.array(u)


def distribution(h):
    if h["kind"] == "choice":
        return CategoricalDistribution(list(range(int(h["hi"]) + 1)))
    if h["kind"] == "whole":
        return IntDistribution(int(h["lo"]), int(h["hi"]))
    return FloatDistribution(h["lo"], h["hi"], log=h["kind"] == "log")


def sampled(problem, sampler):
    study = optuna.create_study(sampler=sampler)

    def objective(trial):
        x = []
        for h in problem.space:
            x.append(trial._suggest(h["name"], distribution(h)) if problem.matters(h, x) else h["start"])
        value = problem.value(x)
        if not math.isfinite(value):
            raise optuna.TrialPruned
        return value
    study.enqueue_trial({h["name"]: h["start"] if h["kind"] in ("log", "linear") else int(h["start"])
                         for h in problem.space})
    study.optimize(objective, n_trials=problem.left)


def tpe(problem, seed):
    sampled(problem, optuna.samplers.TPESampler(seed=seed))


def cmaes(problem, seed):
    if any(h["when"] for h in problem.space):
        x0 = None  # it would have to be in the part of the space that all trials have in common
    else:
        x0 = {h["name"]: h["start"] for h in problem.space if h["kind"] != "choice"}
    sampled(problem, optuna.samplers.CmaEsSampler(x0=x0, seed=seed))


def gp(problem, seed):
    import torch
    import optuna.samplers._gp.sampler as sampler

    if not hasattr(torch.device, "__enter__"):  # PyTorch 1: no device is in force anyway
        sampler.torch = types.SimpleNamespace(from_numpy=torch.from_numpy, device=lambda _: contextlib.nullcontext())
    sampled(problem, optuna.samplers.GPSampler(seed=seed))


def bipop(problem, seed):
    import cma

    options = {"bounds": [0, 1], "maxfevals": problem.left, "seed": seed + 1, "verbose": -9}
    while True:  # pycma ends when its restarts are over
        cma.fmin2(problem.cube, problem.start(), 0.25, options, restarts=9, bipop=True)
        options["seed"] += 1000


def turbo(problem, seed):
    """TuRBO with one region. A failed evaluation counts as the worst value before it."""
    import torch
    from turbo import Turbo1

    d, worst = len(problem.space), [0.0]

    def value(u):
        v = problem.cube(u)
        worst[0] = max(worst[0], v) if v < 1e300 else worst[0]
        return min(v, worst[0])
    np.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    Turbo1(value, np.zeros(d), np.ones(d), n_init=2 * d, max_evals=problem.left, verbose=False).optimize()


def differential_evolution(problem, seed):
    unit = [(0, 1)] * len(problem.space)
    scipy.optimize.differential_evolution(problem.cube, unit, seed=seed, x0=problem.start(), maxiter=1000)


def dual_annealing(problem, seed):
    unit = [(0, 1)] * len(problem.space)
    scipy.optimize.dual_annealing(problem.cube, unit, seed=seed, x0=problem.start(), maxfun=problem.left)


def nelder_mead(problem, seed):
    unit = [(0, 1)] * len(problem.space)
    scipy.optimize.minimize(problem.cube, problem.start(), method="Nelder-Mead", bounds=unit,
                            options={"xatol": 1e-9, "fatol": 1e-9, "maxfev": problem.left, "maxiter": problem.left})


def powell(problem, seed):
    unit = [(0, 1)] * len(problem.space)
    scipy.optimize.minimize(problem.cube, problem.start(), method="Powell", bounds=unit,
                            options={"xtol": 1e-9, "ftol": 1e-9, "maxfev": problem.left})


def l_bfgs_b(problem, seed):
    unit = [(0, 1)] * len(problem.space)
    scipy.optimize.minimize(problem.cube, problem.start(), method="L-BFGS-B", bounds=unit)


METHODS = {f.__name__: f for f in (tpe, cmaes, gp, bipop, turbo, differential_evolution, dual_annealing, nelder_mead,
                                   powell, l_bfgs_b)}
NEEDS = {"gp": ["torch"], "bipop": ["cma"], "turbo": ["turbo", "gpytorch"]}

for line in sys.stdin:
    if line == "versions\n":
        missing = [m for m, needs in NEEDS.items() if not all(map(importlib.util.find_spec, needs))]
        pycma = "" if "bipop" in missing else importlib.import_module("cma").__version__
        print(json.dumps({"Optuna": optuna.__version__, "Pycma": pycma, "SciPy": scipy.__version__,
                          "Missing": missing}), flush=True)
        continue
    request = json.loads(line)
    try:
        METHODS[request["method"]](Problem(**request), request["seed"])
    except Spent:
        pass
    print("{}", flush=True)
