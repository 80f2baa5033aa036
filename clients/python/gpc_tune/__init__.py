"""Gaussian-process classifiers that are tuned, compared and explained by the program gpc-tune.

GaussianProcessClassifier fits one model, TunedClassifier compares several, and load reads a model file. minimize and
Search tune any function. ``gpc-tune explain NAME`` explains every name of a kernel, a method, a range or a key.
"""

from ._classifiers import GaussianProcessClassifier, TunedClassifier, load
from ._effects import Effects
from ._process import GpcTuneError, GpcTuneWarning, InvalidError
from ._report import Report
from ._search import Asked, Search, StopTrial, Trial, minimize

__all__ = ["Asked", "Effects", "GaussianProcessClassifier", "GpcTuneError", "GpcTuneWarning", "InvalidError", "Report",
           "Search", "StopTrial", "Trial", "TunedClassifier", "load", "minimize"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib import metadata
        try:
            return metadata.version("gpc-tune")
        except metadata.PackageNotFoundError:  # the package is used from a clone
            return "0+unknown"
    raise AttributeError(f"module 'gpc_tune' has no attribute {name!r}")
