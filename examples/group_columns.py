"""Explain groups of columns rather than columns: which of three blocks of measurements made the prediction?"""

import argparse

import lexplain as lx


def main(rows: int, epochs: int | None) -> None:
    """Group the columns of S3 and learn from labels."""
    data = lx.load_data("s3", rows=rows, seed=0)
    blocks = lx.Groups(groups={"length": ["x3", "x4", "x5", "x6"], "bent sum": ["x7", "x8", "x9", "x10"], "noise": ["x1", "x2"]})
    explainer = lx.Explainer("realx", features=blocks, penalty=0.05, epochs=epochs)
    explainer.fit(data.frame(data.train), data.train.y)
    e = explainer.explain(data.frame(data.test))
    print(e.to_frame()["kept"].mean().round(2).to_string())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--epochs", type=int)
    told = parser.parse_args()
    main(told.rows, told.epochs)
