import io
import zipfile

import numpy as np
import pandas as pd
import pytest

from lexplain.data import load_data
from lexplain.data.files import LoadedRows, find_rows, read_table
from lexplain.features import Columns


@pytest.fixture
def csv(tmp_path):
    def write(text, name="rows.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


@pytest.fixture
def npz(tmp_path):
    def write(**arrays):
        path = tmp_path / "rows.npz"
        np.savez(path, **arrays)
        return path

    return write


X, Y = np.arange(6.0).reshape(3, 2), np.array([0, 1, 0])


def test_csv_with_a_named_label(csv):
    rows = read_table(csv("a,income,b\n1,low,2.5\n3,high,4\n"), "income")
    assert rows.names == ("a", "b")
    assert rows.x.columns.tolist() == ["a", "b"]
    assert rows.x.to_numpy().tolist() == [[1, 2.5], [3, 4]]
    assert rows.y.tolist() == ["low", "high"]
    assert rows.left_out == ()


@pytest.mark.parametrize("name", ["y", "label", "target", "class", "Class", "Y"])
def test_csv_label_by_its_usual_names(csv, name):
    assert read_table(csv(f"a,{name},b\n1,7,2\n")).y.tolist() == [7]


def test_the_last_of_several_usual_names_is_the_label_and_it_is_said(csv, caplog):
    rows = read_table(csv("a,y,class\n1,5,7\n"))
    assert (rows.y.tolist(), rows.names) == ([7], ("a", "y"))
    assert "Using column class as the target and y as features" in caplog.text


def test_a_named_label_leaves_the_usual_names_alone(csv, caplog):
    assert read_table(csv("a,y,class\n1,5,7\n"), "a").names == ("y", "class")
    assert caplog.text == ""


def test_outputs_are_the_target_and_no_features(csv):
    rows = read_table(csv("a,y,p0,p1,b\n1,0,0.2,0.8,3\n2,1,0.5,0.5,4\n"), outputs=["p1", "p0"])
    assert rows.names == ("a", "b")
    assert rows.y.tolist() == [[0.8, 0.2], [0.5, 0.5]]
    assert rows.left_out == ("y",)


def test_features_of_a_fit_are_taken_by_name_and_in_its_order(csv):
    rows = read_table(csv("id,b,a,income\nu,2,1,9\nv,4,3,8\n"), "income", features=["a", "b"])
    assert rows.x.to_numpy().tolist() == [[1, 2], [3, 4]]
    assert rows.y.tolist() == [9, 8]
    assert rows.left_out == ("id",)


def test_the_one_column_that_is_no_feature_is_the_target(csv):
    assert read_table(csv("a,b,income\n1,2,9\n"), features=["a", "b"]).y.tolist() == [9]
    assert read_table(csv("a,b,income,id\n1,2,9,8\n"), features=["a", "b"]).y is None
    assert read_table(csv("a,y,income,id\n1,2,9,8\n"), features=["a", "y"]).y is None
    assert read_table(csv("a,b\n1,2\n"), features=["a", "b"]).y is None


def test_csv_as_spreadsheets_write_it(csv):
    rows = read_table(csv(b'\xef\xbb\xbf\r\n"a, b",y\r\n1,0\r\n2,1\r\n'))
    assert rows.names == ("a, b",)
    assert rows.y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("a,y\n", "no rows"),
        ("a,a,y\n1,2,3\n", r"more than one column named \['a'\]"),
        (",a,y\n0,1,2\n", "column 1 has no name"),
        ("a,b\n1,2\n", r"label: \['a', 'b'\]"),
        ("a;y\n1;2\n", "not separated by commas"),
        ("a,city,y\n1,2,0\n2,Rome,1\n", r"'city' .*\('Rome' in row 1\) .*\('2' in row 0\)"),
        ("a,y\n1,2,3\n4,5,6\n", "not a table"),
        ("a,y\n1,2\n1,2,3\n", "not a table"),
        ('a,y\n1,"2\n', "not a table"),
        (b"a,y\n\xff,1\n", "not text in UTF-8"),
        (b"\xff\xfea\x00", "not text in UTF-8"),
        (b"a,y\n1,\x00\n", None),
    ],
)
def test_csv_refusals(csv, text, words):
    path = csv(text)
    if words is None:  # invalid bytes must not crash the reader; the target is checked later
        assert len(read_table(path).x) == 1
        return
    with pytest.raises(ValueError, match=words) as refusal:
        read_table(path)
    assert str(path) in str(refusal.value)


def test_refuses_columns_that_are_not_there(csv):
    path = csv("a,y\n1,2\n")
    for arguments in ({"label": "b"}, {"outputs": ["b"]}, {"features": ["a", "b"]}):
        with pytest.raises(ValueError, match=r"no column named \['b'\].*\['a', 'y'\]"):
            read_table(path, **arguments)


def test_refuses_text_as_outputs(csv):
    with pytest.raises(ValueError, match=r"columns \['p'\] contain text"):
        read_table(csv("a,p,q\n1,x,0.5\n"), outputs=["p", "q"])


def test_columns_of_text_and_truths_are_read_as_they_are(csv):
    x = read_table(csv("age,city,owns,y\n1,Rome,True,0\n2,Oslo,False,1\n")).x
    assert x["city"].tolist() == ["Rome", "Oslo"]
    assert x["owns"].dtype == bool
    assert x["age"].dtype == np.int64


def test_what_a_fit_knows_as_text_stays_text(csv):
    path = csv("a,code\n1,7\n2,8\n")
    assert read_table(path, features=["a", "code"]).x["code"].tolist() == [7, 8]
    assert read_table(path, features=["a", "code"], text=["code", "other"]).x["code"].tolist() == ["7", "8"]
    known = Columns().fit(pd.DataFrame({"a": [1, 2], "code": ["7", "x9"], "size": pd.Categorical([1, 2])}))
    assert known.text == ("code",)
    rows = find_rows(str(csv("code,size,a\n7,2,1\n")), "test", known=known)
    assert rows.names == ("a", "code", "size")
    assert rows.x.iloc[0].tolist() == [1, "7", 2]
    assert known.encode(rows.x).x.shape == (1, 5)


def test_missing_file_and_unknown_ending(tmp_path, csv):
    with pytest.raises(FileNotFoundError, match="File not found"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ValueError, match=r"ends in '.xlsx'.*\.csv, \.npz"):
        read_table(csv("a", "rows.xlsx"))


def test_npz_with_and_without_names(npz):
    plain = read_table(npz(x=X, y=Y))
    assert plain.names == ("x1", "x2")
    assert isinstance(plain.x, np.ndarray)
    named = read_table(npz(x=X, y=Y, names=np.array(["a", "b"])), features=["b"])
    assert named.x.columns.tolist() == ["b"]
    assert named.left_out == ("a",)
    assert named.y.tolist() == Y.tolist()


def test_npz_without_y_can_be_explained_but_not_learned_from(npz):
    path = npz(x=X)
    assert read_table(path, features=["x1", "x2"]).y is None
    with pytest.raises(ValueError, match=r"no array named \['y'\]"):
        read_table(path)


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"a": X, "y": Y}, r"no array named \['x'\]"),
        ({"x": X.astype(object), "y": Y}, "array x contains Python objects"),
        ({"x": X, "y": np.array([{}, {}, {}])}, "array y contains Python objects"),
        ({"x": X, "y": Y[:2]}, "x has 3 rows and y the shape"),
        ({"x": X[0], "y": Y}, r"of shape \(2,\)"),
        ({"x": X[:0], "y": Y[:0]}, r"of shape \(0, 2\)"),
        ({"x": X.astype(str), "y": Y}, "numbers of shape"),
        ({"x": X, "y": Y, "names": np.array(["a"])}, "names the shape"),
        ({"x": X, "y": Y, "names": np.array([1, 2])}, "names the shape"),
        ({"x": X, "y": Y, "names": np.array(["a", "a"])}, "more than one column"),
    ],
)
def test_npz_refusals(npz, arrays, words):
    with pytest.raises(ValueError, match=words):
        read_table(npz(**arrays))


def test_a_broken_or_foreign_npz_is_refused(tmp_path, npz):
    whole = npz(x=X, y=Y).read_bytes()
    single = io.BytesIO()
    np.save(single, X)
    foreign = io.BytesIO()
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("x.npy", b"not an array")
        archive.writestr("y.npy", b"neither")
    for content in (b"", b"hello", whole[:100], whole[: len(whole) // 2], single.getvalue(), foreign.getvalue(), b"\x80\x04N."):
        (tmp_path / "odd.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"odd\.npz cannot be read as an \.npz file|odd\.npz: x is \|S12"):
            read_table(tmp_path / "odd.npz")


def test_npz_takes_no_column_names(npz):
    with pytest.raises(ValueError, match="array y"):
        read_table(npz(x=X, y=Y), "y")


def test_find_rows_knows_data_sets_and_files(csv, caplog):
    built_in = find_rows("breast_cancer", "test")
    data = load_data("breast_cancer")
    assert np.array_equal(built_in.x.to_numpy(), data.test.x)
    assert built_in.names == data.names
    path = str(csv("a,y,p0,p1\n1,0,0.2,0.8\n"))
    assert find_rows(path, "test", outputs="p0, p1").y.tolist() == [[0.2, 0.8]]
    assert f"Ignored columns of {path}: y" in caplog.text


@pytest.mark.parametrize(
    ("source", "label", "words"), [("s3", "y", "built-in data set"), ("s4", None, r"'s4' is neither a file .*: s1, s2")]
)
def test_find_rows_refuses(source, label, words):
    with pytest.raises(ValueError, match=words):
        find_rows(source, "train", label)


def test_rows_are_plain_data():
    assert LoadedRows(X, Y, ("a", "b")).control_flow is None
