"""Data sets whose files may be absent: the real ones where they are there, and made ones of the same format everywhere."""

import made_images as made_images_
import numpy as np
import pooch
import pytest
from made_images import put

from lexplain.data import load_data

ROWS = 120


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    """Let every download fail at once, as on a machine without a network."""

    def refuse(self, url, output_file, pooch, check_only=False):
        raise OSError("no network in tests")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", refuse)


@pytest.fixture
def loaded():
    """`load_data`, or a skipped test where a file of the data set is not on this machine."""

    def load(name, **options):
        try:
            return load_data(name, **options)
        except FileNotFoundError as missing:
            pytest.skip(f"{name} is not in the cache: {missing}")

    return load


def lines(columns, separator=","):
    return "\n".join(separator.join(map(str, cells)) for cells in zip(*columns, strict=True)) + "\n"


def made_files():
    """The content of each file: the format of the real one, and a few rows."""
    draw = np.random.default_rng(0)

    def numbers(most=90):
        return draw.integers(1, most, ROWS)

    def words(*choices):
        return draw.choice(choices, ROWS).tolist()

    def adult(ending):
        land = words("United-States", "Peru", "?")
        land[0] = f"Only-once{ending}"
        income = words(f"<=50K{ending}", f">50K{ending}")
        sorts = [words("Private", "?"), words("HS-grad", "11th"), *(words("a", "b") for _ in range(4)), words("Male", "Female")]
        a, *rest = sorts
        return lines(
            [numbers(), a, numbers(), rest[0], numbers(), *rest[1:5], rest[5], numbers(), numbers(), numbers(), land, income], ", "
        )

    bank_head = ";".join(f'"{c}"' for c in DATASETS_COLUMNS["bank"])
    bank = [
        words('"a"', '"b"', '"unknown"') if c in BANK_WORDS else words('"yes"', '"no"') if c == "y" else numbers()
        for c in DATASETS_COLUMNS["bank"]
    ]
    card = [np.arange(ROWS) + 1, numbers(), numbers(3), numbers(4), numbers(4), *(numbers() for _ in range(19)), numbers(3) - 1]
    coded = {1, 3, 4, 6, 7, 9, 10, 12, 14, 15, 17, 19, 20}
    german = [words(f"A{j}1", f"A{j}2", f"A{j}10") if j in coded else numbers() for j in range(1, 21)]
    houses = [draw.normal(size=ROWS).round(3) for _ in range(9)]
    wine_head = ";".join(f'"{c}"' for c in DATASETS_COLUMNS["wine"])
    wines = [[*(draw.random(ROWS).round(3) for _ in range(11)), numbers(9)] for _ in range(2)]
    codes = {**dict.fromkeys((1, 2, 5, 6, 8, 10), ("1.0", "2.0")), **dict.fromkeys((11, 12), ("3.0", "6.0", "?"))}
    heart = [words(*codes[j]) if j in codes else numbers() for j in range(13)]
    return {
        "tabular/adult.data": adult("") + "\n",
        "tabular/adult.test": "|1x3 Cross validator\n" + adult(".") + "\n",
        "tabular/bank-full.csv": bank_head + "\n" + lines(bank, ";"),
        "tabular/UCI_Credit_Card.csv": ",".join(DATASETS_COLUMNS["credit_default"]) + "\n" + lines(card),
        "tabular/german.data": lines([*german, words("1", "2")], " "),
        "tabular/california_housing.csv": ",".join(DATASETS_COLUMNS["california_housing"]) + "\n" + lines(houses),
        "tabular/winequality-red.csv": wine_head + "\n" + lines(wines[0], ";"),
        "tabular/winequality-white.csv": wine_head + "\n" + lines(wines[1], ";"),
        "tabular/processed.cleveland.data": lines([*heart, words("0", "1", "4")]),
    }


BANK_WORDS = ["job", "marital", "education", "default", "housing", "loan", "contact", "month", "poutcome"]
DATASETS_COLUMNS = {
    "bank": [
        *("age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact", "day", "month", "duration"),
        *("campaign", "pdays", "previous", "poutcome", "y"),
    ],
    "credit_default": [
        *["ID", "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE"],
        *(f"{kind}{j}" for kind in ("PAY_", "BILL_AMT", "PAY_AMT") for j in range(1, 7)),
        "default.payment.next.month",
    ],
    "california_housing": ["MedInc", "HouseAge", "AveRooms", "AveBedrms", "Population", "AveOccup", "Latitude", "Longitude", "MedHouseVal"],
    "wine": [
        *("fixed acidity", "volatile acidity", "citric acid", "residual sugar", "chlorides", "free sulfur dioxide"),
        *("total sulfur dioxide", "density", "pH", "sulphates", "alcohol", "quality"),
    ],
}


@pytest.fixture
def made_tables(tmp_path, monkeypatch):
    """Let every table read a made file of its format; returns the contents."""
    made = made_files()
    put({path: text.encode() for path, text in made.items()}, tmp_path / "cache", monkeypatch)
    return made


@pytest.fixture(scope="session")
def image_files():
    """The content of each file of images, by its path."""
    return made_images_.image_files()


@pytest.fixture
def made_images(image_files, tmp_path, monkeypatch):
    """Let every set of images read made files of its format."""
    put(image_files, tmp_path / "cache", monkeypatch)
    return image_files
