"""How well classes are told: by the explanation's own predictor, by the judges, and from all features."""

from __future__ import annotations

from functools import partial

from torch import Tensor

from ...evaluation import Evaluation
from ...metrics.metric import Metric
from ...metrics.predictive import accuracy, auprc, auroc, log_likelihood
from ..measure import Measure, Taken, of_metric

BY_JUDGE = "by a judge who sees what is kept alone: "
GROUP = "prediction"
METRICS: dict[str, Metric] = {"acc": accuracy, "auroc": auroc, "auprc": auprc, "log_likelihood": log_likelihood}


def _own(metric: Metric, evaluation: Evaluation) -> Tensor:
    return metric(evaluation.own, evaluation.labels)


def _judged(metric: Metric, evaluation: Evaluation) -> Tensor:
    return metric(evaluation.judged, evaluation.labels)


def _at_any_rate(metric: Metric, evaluation: Evaluation) -> Tensor:
    return metric(evaluation.judged_at_any_rate, evaluation.labels)


def _from_all(evaluation: Evaluation) -> Tensor:
    return accuracy(evaluation.judged_from_all, evaluation.labels)


def _taken(key: str) -> Taken:
    return "if asked" if key == "log_likelihood" else "always"


def _by_judge(key: str, metric: Metric) -> Measure:
    label = f"e{metric.label}" if key != "log_likelihood" else "e-Log-likelihood"
    name = f"e{key}" if key != "log_likelihood" else "e_log_likelihood"
    return of_metric(
        name,
        metric,
        partial(_judged, metric),
        label=label,
        prefix=BY_JUDGE,
        needs=("classes",),
        group=GROUP,
        taken=_taken(key),
        judged=True,
    )


PREDICTION: list[Measure] = [
    *(
        of_metric(key, metric, partial(_own, metric), needs=("classes", "own prediction"), group=GROUP, taken=_taken(key))
        for key, metric in METRICS.items()
    ),
    *(_by_judge(key, metric) for key, metric in METRICS.items()),
    *(
        of_metric(
            f"e{key}_any_rate",
            metric,
            partial(_at_any_rate, metric),
            label=f"e{metric.label}, uniform rate",
            prefix=BY_JUDGE,
            needs=("classes",),
            group=GROUP,
            taken="always",
            judged=True,
        )
        for key, metric in METRICS.items()
        if key != "log_likelihood"
    ),
    of_metric(
        "acc_all",
        accuracy,
        _from_all,
        label="ACC, all features",
        needs=("classes",),
        group=GROUP,
        taken="always",
        judged=True,
    ),
]
