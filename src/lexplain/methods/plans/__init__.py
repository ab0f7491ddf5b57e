"""Training plans. A plan holds the gradient estimator and the schedule, and returns the phases of the training loop."""

from .plan import Phase as Phase, Plan as Plan, PredictorSchedule as PredictorSchedule, Step as Step
from .rounds import Rounds as Rounds, prediction_information as prediction_information
from .screen import MAX_GAIN as MAX_GAIN, MIN_GAIN as MIN_GAIN, ColumnScreen as ColumnScreen
from .together import Together as Together
from .turns import Adversary as Adversary, Turns as Turns
