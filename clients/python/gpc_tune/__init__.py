"""Gaussian-process classifiers that are tuned, compared and explained by the program gpc-tune."""

from ._classifiers import GaussianProcessClassifier, TunedClassifier
from ._effects import Effects
from ._process import GpcTuneError, GpcTuneWarning, InvalidError
from ._report import Report
from ._search import Asked, Search, StopTrial, Trial, minimize

__all__ = ["Asked", "Effects", "GaussianProcessClassifier", "GpcTuneError", "GpcTuneWarning", "InvalidError", "Report",
           "Search", "StopTrial", "Trial", "TunedClassifier", "minimize"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version
        return version("gpc-tune")
    raise AttributeError(f"module 'gpc_tune' has no attribute {name!r}")
