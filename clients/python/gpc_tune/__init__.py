"""Gaussian-process classifiers that are tuned, compared and explained by the program gpc-tune."""

from ._classifiers import GaussianProcessClassifier, Report, TunedClassifier
from ._process import GpcTuneError, GpcTuneWarning, InvalidError
from ._search import Asked, Search, minimize

__all__ = ["Asked", "GaussianProcessClassifier", "GpcTuneError", "GpcTuneWarning", "InvalidError", "Report", "Search",
           "TunedClassifier", "minimize"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version
        return version("gpc-tune")
    raise AttributeError(f"module 'gpc_tune' has no attribute {name!r}")
