"""Distributions over masks; 1 (True) = visible. Distributions differ in their optional methods.

`sample(shape)`: hard masks (bool) · `relaxed(shape)`: soft masks with gradients · `paired(shape)`: both with the same noise ·
`draw(shape)`: hard masks with a log-probability, for the score function · `coupled(shape)`: samples for REBAR ·
`mean`: probability that a feature is visible (approximate for `TopK`) · `mode`: the mask of the explanation ·
`scores`: importance of each feature, above one half if `mode` keeps it.

To add one, write a file with one class, and a line here.
"""

from .bernoulli import Bernoulli as Bernoulli
from .concrete_max import ConcreteMax as ConcreteMax
from .random_masks import FixedRate as FixedRate, RandomMasks as RandomMasks, ShapleyKernel as ShapleyKernel, UniformRate as UniformRate
from .top_k import TopK as TopK, relaxed_top_k as relaxed_top_k, successive_top_k as successive_top_k, top_k_mask as top_k_mask
