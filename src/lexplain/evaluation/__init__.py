"""Evaluation: who judges explanations (EVAL-X and its readers), and all that measures may look at."""

from .encoding_test import MaskAwareReader as MaskAwareReader, MaskDensityRatio as MaskDensityRatio, encoding_values as encoding_values
from .evaluation import SOME as SOME, Evaluation as Evaluation, Others as Others, Questions as Questions, Run as Run
from .evaluator import Evaluator as Evaluator, Evaluators as Evaluators, train_evaluator as train_evaluator
from .retrained import Retrained as Retrained, reinitialised as reinitialised, retrain as retrain
