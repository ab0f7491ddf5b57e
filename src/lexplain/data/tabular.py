"""Real tables without ground truth: the published numbers and categories."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lexplain.core import Dataset, DataSplit

from .cache import File

Rows: TypeAlias = tuple[pd.DataFrame, np.ndarray]  # the columns, and (n,) classes or real values


@dataclass(frozen=True)
class Table:
    """A table of real measurements. Call it to split its rows 60 : 15 : 25, stratified by class.

    Args:
        read: Function that returns the columns and the target; rows keep their index in the table.
        files: Files to read from the data folder; empty if scikit-learn contains the table.
    """

    name: str
    description: str
    columns: int
    read: Callable[..., Rows]
    files: tuple[File, ...] = ()
    control_flow: None = None
    truth_sizes: tuple[int, ...] = ()  # unknown

    def __call__(self, *, seed: int = 0) -> Dataset:
        """Split the rows at random; the same seed gives the same split."""
        x, y = self.read(*(file.read() for file in self.files))
        classes = y if y.dtype == np.int64 else None
        seen, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=classes, random_state=seed)
        train, validation = train_test_split(seen, test_size=0.2, stratify=None if classes is None else classes[seen], random_state=seed)
        train, validation, test = _all_categories_first(x, train, validation, test)
        parts = [DataSplit(x.iloc[rows], y[rows]) for rows in (train, validation, test)]
        return Dataset(self.name, self.description, parts[0], parts[1], parts[2], tuple(map(str, x.columns)))


def _all_categories_first(x: pd.DataFrame, train: np.ndarray, *others: np.ndarray) -> list[np.ndarray]:
    """Move rows with a category that the training split lacks into it, since no model could learn that category."""
    unknown = np.zeros(len(x), dtype=bool)
    for name in x.select_dtypes("category").columns:
        codes = x[name].cat.codes.to_numpy()
        unknown |= ~np.isin(codes, codes[train])
    return [np.concatenate([train, *(rows[unknown[rows]] for rows in others)]), *(rows[~unknown[rows]] for rows in others)]


def _parsed(content: bytes, **options: Any) -> pd.DataFrame:
    """Parse text as a table without missing values: unknown values are a category."""
    table: pd.DataFrame = pd.read_csv(io.BytesIO(content), keep_default_na=False, **options)
    return table


def _as_categories(frame: pd.DataFrame, codes: Sequence[str] = ()) -> pd.DataFrame:
    """The same rows with text, and numbers in the columns `codes`, as categories."""
    names = [name for name in frame.columns if name in codes or not pd.api.types.is_numeric_dtype(frame[name])]
    return frame.astype(dict.fromkeys(names, "category"))


def _breast_cancer() -> Rows:
    table = load_breast_cancer(as_frame=True)
    return table.data.astype(np.float32), np.asarray(table.target, dtype=np.int64)


breast_cancer = Table(
    "breast_cancer",
    "Thirty measurements of cell nuclei tell malignant tumours (class 0) from benign ones (class 1).",
    30,
    _breast_cancer,
)
"""The Wisconsin diagnostic table, 569 tumours.

Reference:
    Street, Wolberg and Mangasarian, "Nuclear Feature Extraction for Breast Tumor Diagnosis", 1993; the copy in scikit-learn.
"""

ADULT_COLUMNS = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex capital-gain capital-loss "
    "hours-per-week native-country income"
)


def _adult(data: bytes, test: bytes) -> Rows:
    options: dict[str, Any] = {"header": None, "names": ADULT_COLUMNS.split(), "skipinitialspace": True}
    both = pd.concat([_parsed(data, **options), _parsed(test, skiprows=1, **options)], ignore_index=True)
    income = both.pop("income").str.rstrip(".")  # labels of the test file end in a period
    return _as_categories(both), (income == ">50K").to_numpy(dtype=np.int64)


_ADULT_AT = "https://archive.ics.uci.edu/dataset/2/adult"
adult = Table(
    "adult",
    "Fourteen facts of a census, eight of them categories, tell who earns more than 50,000 dollars a year (class 1).",
    14,
    _adult,
    (
        File("tabular/adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", _ADULT_AT),
        File("tabular/adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", _ADULT_AT),
    ),
)
"""The census income table, 48,842 people of 1994, both files together; unknown values are the category "?".

Reference:
    Kohavi, "Scaling Up the Accuracy of Naive-Bayes Classifiers: a Decision-Tree Hybrid", 1996.
"""


def _bank(content: bytes) -> Rows:
    table = _parsed(content, sep=";")
    answer = table.pop("y")
    return _as_categories(table), (answer == "yes").to_numpy(dtype=np.int64)


_BANK_AT = "https://archive.ics.uci.edu/dataset/222/bank+marketing"
bank = Table(
    "bank",
    "Sixteen facts of a telephone campaign, nine of them categories, tell who takes a term deposit (class 1).",
    16,
    _bank,
    (File("tabular/bank-full.csv", "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d", _BANK_AT),),
)
"""The bank marketing table, 45,211 calls of a Portuguese bank; unknown values are the category "unknown".

Reference:
    Moro, Cortez and Rita, "A Data-Driven Approach to Predict the Success of Bank Telemarketing", 2014.
"""


def _credit_default(content: bytes) -> Rows:
    table = _parsed(content).drop(columns="ID")  # row numbers
    fails = table.pop("default.payment.next.month")
    return _as_categories(table, ["SEX", "EDUCATION", "MARRIAGE"]), fails.to_numpy(dtype=np.int64)


_CREDIT_AT = "https://archive.ics.uci.edu/dataset/350/default+of+credit+card+clients (a spreadsheet there; the file here is a CSV of it)"
credit_default = Table(
    "credit_default",
    "Twenty-three facts of card holders, three of them coded categories, tell who fails to pay next month (class 1).",
    23,
    _credit_default,
    (File("tabular/UCI_Credit_Card.csv", "a0f0ab49d6326671d6cd83be5c88dcf18007025fe9a53ecd699119c871176ca1", _CREDIT_AT),),
)
"""The credit card table, 30,000 clients of a bank in Taiwan, 2005.

Reference:
    Yeh and Lien, "The Comparisons of Data Mining Techniques for the Predictive Accuracy of Probability of Default", 2009.
"""

GERMAN_COLUMNS = (
    "status duration credit_history purpose amount savings employment installment_rate personal_status_sex other_debtors residence_since "
    "property age other_plans housing existing_credits job people_liable telephone foreign_worker risk"
)


def _german(content: bytes) -> Rows:
    table = _parsed(content, sep=" ", header=None, names=GERMAN_COLUMNS.split())
    risk = table.pop("risk")  # 1 is good, 2 is bad
    return _as_categories(table), (risk == 2).to_numpy(dtype=np.int64)


_GERMAN_AT = "https://archive.ics.uci.edu/dataset/144/statlog+german+credit+data"
german = Table(
    "german",
    "Twenty facts of loan applicants, thirteen of them coded categories, tell bad risks (class 1) from good ones (class 0).",
    20,
    _german,
    (File("tabular/german.data", "b21f3d81db8071257d5ff1deaeba1fd4303b62712e6fcc9715c7a86202cb5871", _GERMAN_AT),),
)
"""The German credit table, 1,000 loans; german.names, from the same page, explains the codes.

Reference:
    Hofmann, "Statlog (German Credit Data)", UCI Machine Learning Repository, 1994.
"""


def _california_housing(content: bytes) -> Rows:
    table = _parsed(content)
    value = table.pop("MedHouseVal")
    return table, value.to_numpy(dtype=np.float64)


_CALIFORNIA_AT = (
    "https://www.dcc.fc.up.pt/~ltorgo/Regression/cal_housing.html (the file here is scikit-learn's fetch_california_housing as CSV)"
)
california_housing = Table(
    "california_housing",
    "Eight numbers of a district tell the median value of its houses, a real value in 100,000 dollars.",
    8,
    _california_housing,
    (File("tabular/california_housing.csv", "94ef369b909f5c725340b512b7c9a05c1550a554b6592d29303990e3ba521a1f", _CALIFORNIA_AT),),
)
"""The California housing table, 20,640 districts of the census of 1990.

Reference:
    Pace and Barry, "Sparse Spatial Autoregressions", 1997.
"""


def _wine(red: bytes, white: bytes) -> Rows:
    parts = [_parsed(content, sep=";").assign(colour=colour) for content, colour in ((red, "red"), (white, "white"))]
    both = pd.concat(parts, ignore_index=True)
    quality = both.pop("quality")
    return _as_categories(both), quality.to_numpy(dtype=np.float64)


_WINE_AT = "https://archive.ics.uci.edu/dataset/186/wine+quality"
wine = Table(
    "wine",
    "Eleven measurements of a wine and its colour, a category. The target is its quality, a real value from 0 to 10.",
    12,
    _wine,
    (
        File("tabular/winequality-red.csv", "4a402cf041b025d4566d954c3b9ba8635a3a8a01e039005d97d6a710278cf05e", _WINE_AT),
        File("tabular/winequality-white.csv", "76c3f809815c17c07212622f776311faeb31e87610d52c26d87d6e361b169836", _WINE_AT),
    ),
)
"""The wine quality table, 6,497 Portuguese wines, both files together.

Reference:
    Cortez, Cerdeira, Almeida, Matos and Reis, "Modeling Wine Preferences by Data Mining from Physicochemical Properties", 2009.
"""

HEART_COLUMNS = "age sex cp trestbps chol fbs restecg thalach exang oldpeak slope ca thal num"
HEART_CODES = ("sex", "cp", "fbs", "restecg", "exang", "slope", "ca", "thal")


def _heart(content: bytes) -> Rows:
    table = _parsed(content, header=None, names=HEART_COLUMNS.split(), dtype=dict.fromkeys(HEART_CODES, str))
    codes = {name: table[name].str.removesuffix(".0") for name in HEART_CODES}
    disease = table.pop("num")  # 0: no disease; 1 to 4: degrees of disease
    return _as_categories(table.assign(**codes)), (disease > 0).to_numpy(dtype=np.int64)


_HEART_AT = "https://archive.ics.uci.edu/dataset/45/heart+disease"
heart = Table(
    "heart",
    "Thirteen facts of patients, eight of them coded categories. The target is heart disease (class 1).",
    13,
    _heart,
    (File("tabular/processed.cleveland.data", "a74b7efa387bc9d108d7d0115d831fe9b414b29ae7124f331b622b4efa0427c8", _HEART_AT),),
)
"""The Cleveland heart disease table, 303 patients; the six unknown values of ca and thal are the category "?".

Reference:
    Detrano et al., "International Application of a New Probability Algorithm for the Diagnosis of Coronary Artery Disease", 1989.
"""

TABLES = (breast_cancer, adult, bank, credit_default, german, california_housing, wine, heart)
