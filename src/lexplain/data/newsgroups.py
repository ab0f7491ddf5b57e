"""Two newsgroups, of atheists and of Christians, as tf-idf weights of words."""

from __future__ import annotations

import io
import re
import tarfile

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

from lexplain.core import Dataset, DataSplit

from .cache import File

GROUPS = ("alt.atheism", "soc.religion.christian")
WORDS = 5000
ARCHIVE = File(
    "20newsgroups/20news-bydate-atheism-christian.tar.gz",
    "49994f8cc569c1ac4e4f76f41fd42d9581aae59aff4bfd536c31aa21b3354778",
    "http://qwone.com/~jason/20Newsgroups (an archive of the members of these two groups alone)",
)
_MEMBER = re.compile(r"20news-bydate-(train|test)/([a-z.]+)/(\d+)")


def posts(content: bytes) -> dict[str, list[tuple[str, int]]]:
    """The posts of an archive, with headers, and their groups, for train and test; nothing is unpacked to disk."""
    result: dict[str, list[tuple[str, int]]] = {"train": [], "test": []}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if member.isdir():
                continue
            named = _MEMBER.fullmatch(member.name)
            if not (member.isreg() and named is not None and named[2] in GROUPS):
                raise ValueError(
                    f"The archive of posts contains {member.name!r}, which is not a post. Replace it by the published archive."
                )
            opened = archive.extractfile(member)
            assert opened is not None
            result[named[1]].append((opened.read().decode("latin-1"), GROUPS.index(named[2])))
    return result


class Newsgroups:
    """Posts of alt.atheism (class 0) and soc.religion.christian (class 1) as tf-idf weights of 5,000 words; the ground truth is unknown.

    Reference:
        Ross, Hughes and Doshi-Velez, Right for the Right Reasons, 2017, section 4.2; Ribeiro, Singh and Guestrin, Why Should I Trust
        You?, 2016, section 2 (words of headers mislead models here).
    """

    name = "newsgroups"
    description = "Posts of atheists (class 0) and of Christians (class 1), as weights of the 5,000 most frequent words."
    columns = WORDS
    truth_sizes: tuple[int, ...] = ()
    control_flow: None = None

    def __call__(self, *, seed: int = 0) -> Dataset:
        """Weight the words; a random tenth of the training posts is for validation."""
        read = posts(ARCHIVE.read())
        weigh = TfidfVectorizer(lowercase=False, max_features=WORDS)
        weigh.fit([text for text, _ in read["train"]])
        train, test = (DataSplit(_weights(weigh, read[part]), np.array([group for _, group in read[part]])) for part in ("train", "test"))
        order = np.random.default_rng(seed).permutation(len(train))
        held, seen = np.split(order, [len(order) // 10])
        parts = [DataSplit(train.x[rows], train.y[rows]) for rows in (seen, held)]
        return Dataset(self.name, self.description, parts[0], parts[1], test, tuple(weigh.get_feature_names_out()))


def _weights(weigh: TfidfVectorizer, labelled: list[tuple[str, int]]) -> np.ndarray:
    dense: np.ndarray = weigh.transform([text for text, _ in labelled]).toarray().astype(np.float32)
    return dense


newsgroups = Newsgroups()
