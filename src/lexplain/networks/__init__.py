"""Networks: the selector, which returns a distribution over masks, and default architectures."""

from .convolutions import DenseNet as DenseNet, cnn as cnn
from .mlp import MLP as MLP, Ensemble as Ensemble, mlp as mlp
from .piecewise import PiecewiseLinear as PiecewiseLinear
from .replay import scores_on_cpu as scores_on_cpu
from .selector import Selector as Selector
from .unet import UNet as UNet
