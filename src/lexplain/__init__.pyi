from .auditing.as_explanation import as_explanation as as_explanation
from .auditing.audit import audit as audit
from .auditing.card import Card as Card
from .auditing.verify import verify as verify
from .core import Dataset as Dataset, Explanation as Explanation
from .core.kinds import register as register
from .data.load import load_data as load_data
from .experiments.compare import compare as compare
from .experiments.comparison import Comparison as Comparison
from .explainers.explainer import Explainer as Explainer
from .features import Columns as Columns, Groups as Groups, Patches as Patches
from .methods import METHODS as METHODS, Method as Method
from .right_reasons.another_explanation import find_another_explanation as find_another_explanation
from .right_reasons.penalty import right_reasons_loss as right_reasons_loss
from .right_reasons.right_reasons import RightReasons as RightReasons

__version__: str
