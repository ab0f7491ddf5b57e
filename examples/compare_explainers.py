"""Which explainer is best on data whose truth is known, and what does each cost?"""

import argparse

import lexplain as lx


def main(rows: int, epochs: int | None, seeds: int) -> None:
    """Compare two methods of ours with two baselines under one judge."""
    data = lx.load_data("s3", rows=rows, seed=0)
    explainers = {
        "l2x": lx.Explainer("l2x", keep=5, epochs=epochs),
        "realx": lx.Explainer("realx", epochs=epochs),
        "ablation": "ablation",
        "random": "random",
    }
    found = lx.compare(explainers, data, ["eACC", "kept", "TPR", "FDR"], seeds=seeds, keep=5)
    print(found.summary().round(3).to_string())
    print(found.tests("TPR").round(3).to_string())
    print(found.fits.round(2).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000)
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--seeds", type=int, default=2)
    told = parser.parse_args()
    main(told.rows, told.epochs, told.seeds)
