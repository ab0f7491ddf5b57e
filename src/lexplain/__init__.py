"""Explain which features made each prediction, in one forward pass, and test whether the explanation is honest.

The folders follow the data:

    raw input -> features -> selector -> mask -> imputer -> predictor -> objective -> training -> explanation -> evaluation -> report

>>> import lexplain as lx
>>> data = lx.load_data("s3", seed=0)
>>> explainer = lx.Explainer("realx", keep=5)

Mask semantics, everywhere: 1 = visible.
"""

import lazy_loader

__version__ = "0.1.0"

# The public names are those of __init__.pyi. Each is imported on first use, so that the command line starts fast.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
