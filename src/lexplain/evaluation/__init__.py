"""Evaluation of explanations: EVAL-X, the mask readers, and the data that measures read."""

from .encoding_test import MaskAwareReader as MaskAwareReader, MaskDensityRatio as MaskDensityRatio, encoding_values as encoding_values
from .evaluation import SUBSAMPLE_ROWS as SUBSAMPLE_ROWS, Callables as Callables, Evaluation as Evaluation, Others as Others, Run as Run
from .evaluator import Evaluator as Evaluator, Evaluators as Evaluators, train_evaluator as train_evaluator
from .retrained import Retrained as Retrained, reinitialised as reinitialised, retrain as retrain
