"""Distributions over masks. 1 (True) = visible. What a distribution can do is a method that it has or has not.

`sample(shape)` hard masks (bool) · `relaxed(shape)` soft ones with gradients · `paired(shape)` both of one noise ·
`draw(shape)` hard ones with a log-probability for the score function · `coupled(shape)` what REBAR needs ·
`mean` chance of each feature to be on (of `TopK`, roughly) · `mode` the mask to show ·
`scores` importance of each feature: above one half where `mode` is on.

To add one: a file with one class, and a line here.
"""

from .bernoulli import Bernoulli as Bernoulli
from .concrete_max import ConcreteMax as ConcreteMax
from .random_masks import FixedRate as FixedRate, RandomMasks as RandomMasks, ShapleyKernel as ShapleyKernel, UniformRate as UniformRate
from .top_k import TopK as TopK, relaxed_top_k as relaxed_top_k, successive_top_k as successive_top_k, top_k_mask as top_k_mask
