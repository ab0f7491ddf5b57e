"""The refusals that several folders share: what was given, what is needed, the way out. And `require` for optional tools.

Those of one folder alone lie in its `_check.py`.
"""

from .masks import (
    NoBase as NoBase,
    hard_mask as hard_mask,
    keep_or_penalty as keep_or_penalty,
    kept_features as kept_features,
    mask_against_truth as mask_against_truth,
    mask_of_rows as mask_of_rows,
    same_features as same_features,
)
from .tables import (
    CHANNELS as CHANNELS,
    GREATEST as GREATEST,
    LAYOUTS as LAYOUTS,
    MOST_CATEGORIES as MOST_CATEGORIES,
    as_array as as_array,
    categories as categories,
    finite_numbers as finite_numbers,
    holds_categories as holds_categories,
    image_layout as image_layout,
    known_categories as known_categories,
    table as table,
    two_axes as two_axes,
)
from .targets import (
    as_many_outputs as as_many_outputs,
    in_classes as in_classes,
    known_classes as known_classes,
    model_output as model_output,
    network_output as network_output,
    network_reads as network_reads,
    same_length as same_length,
    target_values as target_values,
)
from .values import (
    FEWEST_ROWS as FEWEST_ROWS,
    Entry as Entry,
    above_zero as above_zero,
    counts as counts,
    ending as ending,
    enough_features as enough_features,
    enough_rows as enough_rows,
    fitted as fitted,
    for_kind as for_kind,
    one_input as one_input,
    one_of as one_of,
    parquet_possible as parquet_possible,
    positive as positive,
    readable as readable,
    require as require,
    share_of_one as share_of_one,
    some_cells as some_cells,
    strength_fits as strength_fits,
)
