"""Baselines: common attribution methods with the interface of `Explainer`.

To add one: write a file with one class that scores encoded rows, and add a line here and in tests/baselines/test_baselines.py.
"""

from .baseline import Baseline as Baseline
from .cxplain import CXPlain as CXPlain
from .fastshap import FastSHAP as FastSHAP
from .from_captum import (
    Ablation as Ablation,
    DeepLift as DeepLift,
    GradientXInput as GradientXInput,
    IntegratedGradients as IntegratedGradients,
    Saliency as Saliency,
    SmoothGrad as SmoothGrad,
)
from .from_lime import LIME as LIME
from .from_shap import DeepSHAP as DeepSHAP, KernelSHAP as KernelSHAP, TreeSHAP as TreeSHAP
from .infidelity import Infidelity as Infidelity
from .senn import SENN as SENN
from .simple import AllBaseline as AllBaseline, OracleBaseline as OracleBaseline, RandomBaseline as RandomBaseline

BASELINES: dict[str, type[Baseline]] = {  # by name, for `compare` and the command line
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
