"""Which features made a prediction, one instance at a time, in one forward pass, with proof that the answer is honest.

The flow, and the folders that show it:

    raw input -> features -> selector -> mask -> imputer -> predictor -> objective -> training -> explanation -> evaluation -> report

>>> import lexplain as lx
>>> data = lx.load_data("s3", seed=0)
>>> explainer = lx.Explainer("realx", keep=5)

Mask semantics, everywhere: 1 = visible.
"""

import lazy_loader

__version__ = "0.1.0"

# The public names are those of __init__.pyi; each is imported when it is first asked for, so that the command line answers at once.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
