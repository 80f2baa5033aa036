"""Gaussian-process classifiers that are tuned, compared and explained by the program gpc-tune.

GaussianProcessClassifier fits one model, TunedClassifier compares several, and load reads a model file. minimize and
Search tune any function. ``print(explain("kernels"))`` lists the kernels, and explain says what any other name means.
"""

from ._classifiers import GaussianProcessClassifier, TunedClassifier, load
from ._process import GpcTuneError, GpcTuneWarning, InvalidError, explain
from ._report import Effects, Report
from ._search import Asked, Search, StopTrial, Trial, minimize

__all__ = ["Asked", "Effects", "GaussianProcessClassifier", "GpcTuneError", "GpcTuneWarning", "InvalidError", "Report",
           "Search", "StopTrial", "Trial", "TunedClassifier", "explain", "load", "minimize"]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module 'gpc_tune' has no attribute {name!r}")
    from importlib import metadata
    return next((of.version for of in metadata.distributions(name="gpc-tune")), "0+unknown")  # a clone has none
