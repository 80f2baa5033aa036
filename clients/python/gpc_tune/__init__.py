"""Gaussian-process classifiers that are tuned, compared and explained by the program gpc-tune."""

from ._classifiers import GaussianProcessClassifier, Report, TunedClassifier
from ._process import GpcTuneError, GpcTuneWarning, InvalidError

__all__ = ["GaussianProcessClassifier", "GpcTuneError", "GpcTuneWarning", "InvalidError", "Report", "TunedClassifier"]
