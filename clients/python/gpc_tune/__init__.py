"""Gaussian-process classifiers that are tuned, compared and explained by the program gpc-tune.

GaussianProcessClassifier fits one model, TunedClassifier compares several, and load reads a model file. minimize and
Search tune any function. ``print(explain("kernels"))`` lists the kernels, and explain says what any other name means.
"""

import re

from . import _process
from ._classifiers import Effects, GaussianProcessClassifier, Report, TunedClassifier, load
from ._process import GpcTuneError, GpcTuneWarning, InvalidError, Wait, explain
from ._search import Asked, Search, StopTrial, Trial, minimize

__all__ = ["Asked", "Effects", "GaussianProcessClassifier", "GpcTuneError", "GpcTuneWarning", "InvalidError", "Report",
           "Search", "StopTrial", "Trial", "TunedClassifier", "Wait", "explain", "load", "minimize"]


def __getattr__(name: str) -> str:
    if name != "__version__":
        raise AttributeError(f"module 'gpc_tune' has no attribute {name!r}")
    try:
        with _process.working() as process:
            version = process.command("version").split()[1].lstrip("v").replace("-devel", ".dev0").replace("+", ".")
    except GpcTuneError as wrong:  # hasattr and getattr expect this type
        raise AttributeError(str(wrong)) from wrong
    return re.sub(r"-(?:0\.)?(\d{14})-(\w{12})", r".dev\1+g\2", version)  # in the notation of Python, PEP 440
