"""Baselines: what people use today, behind the face of an `Explainer`.

To add one: a file with one class that says the scores of encoded rows, a line here, and one in tests/baselines/test_baselines.py.
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
