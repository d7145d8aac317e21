"""The page of finds: escaped, complete, without anything to load."""

from __future__ import annotations

from textveil.report.highlight import Find, Highlights

TEXT = "<b>One</b> & two. " + "x" * 400 + " Three & four."


def test_finds_and_whole_text_are_escaped():
    shown = Highlights()
    shown.add("<name>", TEXT, [Find(3, 6, "A<", 0.25), Find(len(TEXT) - 13, len(TEXT), "A<", 1.0)])
    shown.add("empty", "nothing here", [])
    page = shown.page("T & T")
    assert page.count("<mark>One</mark>") == 2 and page.count("<mark>Three &amp; four.</mark>") == 2
    assert "&lt;b&gt;<mark>One</mark>&lt;/b&gt; &amp; two." in page
    assert "2 finds in 1 of 2 documents" in page and "&lt;name&gt;" in page and "A&lt;, score 0.25" in page
    assert "Nothing found in" in page and "empty" in page and "nothing here" not in page
    assert "<b>One" not in page and "<script" not in page and "src=" not in page


def test_beyond_the_limit_only_finds_are_shown():
    shown = Highlights(most_text=len(TEXT))
    shown.add("first", TEXT, [Find(3, 6, "A", 1.0)])
    shown.add("second", TEXT, [Find(3, 6, "A", 1.0)])
    page = shown.page("T")
    assert page.count("<details>") == 1 and page.count("<mark>One</mark>") == 3
