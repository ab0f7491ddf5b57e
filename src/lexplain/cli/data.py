"""`lexplain data`."""

from __future__ import annotations

from . import options
from .output import show_table, write_out


def data(
    name: options.DatasetName = None,
    rows: options.TrainRows = None,
    seed: options.Seed = 0,
    noise_columns: options.NoiseColumns = 0,
    correlation: options.Correlation = 0.0,
    target: options.TargetKind = "labels",
    split: options.SplitName = "train",
    out: options.PartFile = None,
) -> None:
    """List the built-in data sets, describe one, or write it to a file.

    Try: lexplain data s3 --rows 1000 --out train.csv
    """
    from ..data import describe, load_data
    from ..data.facts import facts, part_as_bytes
    from ..data.files import ENDINGS
    from .rows import writable

    ending = writable(out, ENDINGS)
    if name is None and out is None:
        menu = describe()
        show_table([str(column) for column in menu.columns], menu.itertuples(index=False))
        return
    dataset = load_data(name or "", rows=rows, seed=seed, noise_columns=noise_columns, correlation=correlation, target=target)
    show_table([dataset.name, dataset.description], facts(dataset).items())
    write_out(out, {ending: lambda: part_as_bytes(dataset, split, ending)})
