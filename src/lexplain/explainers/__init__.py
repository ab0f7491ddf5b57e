"""Explainers: the scikit-learn face of every method, and baselines with the same face.

To add a baseline: a file with one class that says the scores of encoded rows, a line here, and one in tests/explainers/test_baselines.py.
"""

from .baseline import Baseline
from .cxplain import CXPlain
from .evidence import FitWarning
from .explainer import Explainer
from .fastshap import FastSHAP
from .from_captum import Ablation, DeepLift, GradientXInput, IntegratedGradients, Saliency, SmoothGrad
from .from_lime import LIME
from .from_shap import DeepSHAP, KernelSHAP, TreeSHAP
from .infidelity import Infidelity
from .senn import SENN
from .shapley import exact_shapley
from .simple import AllBaseline, OracleBaseline, RandomBaseline
from .to_quantus import to_quantus

BASELINES: dict[str, type[Baseline]] = {  # the menu of comparisons; code imports the class
    baseline.name: baseline
    for baseline in (
        RandomBaseline,
        AllBaseline,
        Saliency,
        GradientXInput,
        IntegratedGradients,
        DeepLift,
        SmoothGrad,
        Ablation,
        KernelSHAP,
        DeepSHAP,
        TreeSHAP,
        LIME,
        FastSHAP,
        CXPlain,
        SENN,
        Infidelity,
    )
}

__all__ = [
    "BASELINES",
    "LIME",
    "SENN",
    "Ablation",
    "AllBaseline",
    "Baseline",
    "CXPlain",
    "DeepLift",
    "DeepSHAP",
    "Explainer",
    "FastSHAP",
    "FitWarning",
    "GradientXInput",
    "Infidelity",
    "IntegratedGradients",
    "KernelSHAP",
    "OracleBaseline",
    "RandomBaseline",
    "Saliency",
    "SmoothGrad",
    "TreeSHAP",
    "exact_shapley",
    "to_quantus",
]
