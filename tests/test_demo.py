"""The demo runs from end to end and writes one self-contained page."""

from lexplain.demo import COLUMNS, run


def test_the_demo_prints_a_table_and_writes_a_page(tmp_path, capsys, monkeypatch, short_judges):
    monkeypatch.setattr("lexplain.demo.EVALUATOR_STEPS", 20)  # the page is tested here, not the measures
    short_judges(reader=20)
    page = run(tmp_path / "report.html", seed=0, quick=True)
    printed = capsys.readouterr().out
    assert all(name in printed for name in COLUMNS)
    assert "realx" in printed
    assert "lexplain fit your.csv --label COLUMN --out model.lex" in printed.splitlines()[-1]
    html = page.read_text()
    assert html.count("<svg") >= 8
    assert "Which explainer is honest and which encodes" in html
    assert "https://" not in html
    assert list(tmp_path.iterdir()) == [page]
