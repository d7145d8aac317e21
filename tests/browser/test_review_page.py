"""A person reviews in a real browser: by keyboard alone, through a crash of the server, in two tabs, with a mouse."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from waiting import GENEROUS

from textveil.pii.review.marks import kept_spans
from textveil.pii.review.store import ReviewStore

SLOW = GENEROUS * 1000  # milliseconds that the browser may take
NAMES = ["Anna", "Bob", "Carla", "Dan", "Eve"]


def write_documents(folder, count):
    documents, spans, records = [], [], []
    for n in range(count):
        text = f"{NAMES[n % 5]} Meyer called from Bern on Monday, letter {n}."
        documents.append({"id": f"d{n:02d}", "text": text})
        spans.append(
            {
                "id": f"d{n:02d}",
                "start": 0,
                "end": len(NAMES[n % 5]),
                "label": "PERSON",
                "score": 0.5 + n / 100,
                "rule": "names",
            }
        )
        spans.append(
            {
                "id": f"d{n:02d}",
                "start": text.index("Bern"),
                "end": text.index("Bern") + 4,
                "label": "PLACE",
                "score": 0.9,
            }
        )
        records.append({"id": f"d{n:02d}", "name": f"{NAMES[n % 5]} Meyer", "children": ["Ida", "Jo"]})
    for name, rows in (("docs", documents), ("spans", spans), ("records", records)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


class Server:
    """`textveil pii review` in a process of its own."""

    def __init__(self, folder, *more, port=0):
        command = [sys.executable, "-m", "textveil", "pii", "review", "a.review", "--json", "--port", str(port), *more]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read()
        self.address = json.loads(line)["address"]
        self.port = int(re.search(r":(\d+)/", self.address).group(1))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()


BEGIN = ("--documents", "docs.jsonl", "--spans", "spans.jsonl", "--records", "records.jsonl", "--reviewer", "ada")
GO_ON = ("--reviewer", "ada")


@pytest.fixture
def page(browser):
    context = browser.new_context(viewport={"width": 1200, "height": 800})
    context.set_default_timeout(SLOW)
    yield context.new_page()
    context.close()


def shows(page, name, text):
    """Wait until an element shows something."""
    page.locator(f"#{name}", has_text=text).wait_for(state="attached")


def is_saved(page):
    shows(page, "saved", "saved")


def review_one(page, done_before, total):
    """Widen the first mark by a word, which confirms it, reject the second, finish: keys only."""
    page.wait_for_selector("mark.here")
    if page.locator("mark[data-status=proposed]").count() == 2:
        page.keyboard.press(".")
        page.keyboard.press("ArrowRight")
    page.keyboard.press("x")
    page.wait_for_selector("mark[data-status=rejected]")
    page.keyboard.press("Space")
    shows(page, "progress", f"{done_before + 1} of {total}")
    page.locator("mark[data-status=rejected]").wait_for(state="detached")  # the next one is there


def test_twenty_sentences_by_keyboard_with_the_server_killed_half_way(browser, page, tmp_path):
    write_documents(tmp_path, 20)
    with Server(tmp_path, *BEGIN) as server:
        page.goto(server.address)
        assert "token" not in page.url
        for n in range(9):
            review_one(page, n, 20)
        page.keyboard.press(".")  # half of a document: saved, not finished
        is_saved(page)
        server.kill()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("x")
        shows(page, "saved", "does not answer")
    with Server(tmp_path, *GO_ON) as server:
        page.goto(server.address)
        shows(page, "progress", "9 of 20")
        for n in range(9, 20):
            review_one(page, n, 20)
        shows(page, "title", "All documents")
    store = ReviewStore(tmp_path / "a.review")
    assert store.progress("ada")["done"] == 20
    for state in store.states("ada"):
        kept = [(span.of(state.document.text), span.label) for span in kept_spans(state.marks)]
        assert kept == [(f"{state.document.text.split()[0]} Meyer", "PERSON")], state.number


def test_without_the_token_the_page_is_refused(page, tmp_path):
    write_documents(tmp_path, 1)
    with Server(tmp_path, *BEGIN) as server:
        answer = page.goto(server.address.partition("?")[0])
        assert answer.status == 403
        assert "Meyer" not in page.content()


def test_a_script_in_a_document_is_text(page, tmp_path):
    write_documents(tmp_path, 1)
    evil = "<script>window.owned = 1</script><img src=x onerror='window.owned = 1'> Anna 😀 Meyer called."
    start = evil.index("Anna")
    (tmp_path / "docs.jsonl").write_text(json.dumps({"id": "<b>d00</b>", "text": evil}) + "\n")
    (tmp_path / "spans.jsonl").write_text(
        json.dumps({"id": "<b>d00</b>", "start": start, "end": start + 4, "label": "<i>P</i>"}) + "\n"
    )
    (tmp_path / "records.jsonl").write_text(
        json.dumps({"id": "<b>d00</b>", "name": "<script>window.owned = 1</script>"}) + "\n"
    )
    with Server(tmp_path, *BEGIN) as server:
        page.goto(server.address)
        page.wait_for_selector("mark.here")
        assert evil[:40] in page.inner_text("#text")
        assert page.evaluate("window.owned") is None
        assert page.locator("#text script, #text img, #record script, h2 b").count() == 0
        for key in (".", ".", "Enter"):  # over the emoji: offsets are those of Python
            page.keyboard.press(key)
        is_saved(page)
    state = ReviewStore(tmp_path / "a.review").state("ada", 0)
    assert [span.of(evil) for span in kept_spans(state.marks)] == ["Anna 😀 Meyer"]


def test_two_tabs_do_not_write_over_each_other(browser, page, tmp_path):
    write_documents(tmp_path, 1)
    with Server(tmp_path, *BEGIN) as server:
        page.goto(server.address)
        page.wait_for_selector("mark.here")
        other = page.context.new_page()
        other.goto(server.address)
        other.wait_for_selector("mark.here")
        other.keyboard.press("Enter")
        is_saved(other)
        page.keyboard.press("x")
        page.wait_for_selector("mark[data-status=confirmed]")
        assert "another page" in page.inner_text("#saved")
    statuses = [str(mark.status) for mark in ReviewStore(tmp_path / "a.review").state("ada", 0).marks]
    assert statuses == ["confirmed", "proposed"]


def test_marks_are_added_moved_and_undone_by_mouse_and_keyboard(page, tmp_path):
    write_documents(tmp_path, 1)
    with Server(tmp_path, *BEGIN) as server:
        page.goto(server.address)
        page.wait_for_selector("mark.here")
        page.keyboard.press("a")  # the word after the first mark
        page.wait_for_selector(".drawn")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("2")
        is_saved(page)
        texts = page.evaluate("[...document.querySelectorAll('mark')].map((m) => m.children[1].textContent)")
        assert texts == ["Anna", "called", "Bern"]
        page.keyboard.press("u")
        shows(page, "saved", "undone")
        assert page.locator("mark").count() == 2
        handle = page.locator("mark").first.locator(".handle").last.bounding_box()
        target = page.evaluate(
            "(() => { const node = document.querySelectorAll('#text > span')[1].firstChild, range = document.createRange();"
            " range.setStart(node, 6); range.setEnd(node, 6);"
            " const box = range.getBoundingClientRect(); return [box.x, box.y + box.height / 2]; })()"
        )
        page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
        page.mouse.down()
        page.mouse.move(*target, steps=4)
        page.mouse.up()
        page.locator("mark span[data-start]", has_text="Anna Meyer").wait_for()
        is_saved(page)
    state = ReviewStore(tmp_path / "a.review").state("ada", 0)
    assert [span.of(state.document.text) for span in kept_spans(state.marks)] == ["Anna Meyer"]


def test_buttons_and_regions_have_names(page, tmp_path):
    write_documents(tmp_path, 1)
    with Server(tmp_path, *BEGIN) as server:
        page.goto(server.address)
        page.wait_for_selector("mark.here")
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, section, [role]')]"
            ".filter((e) => !(e.textContent.trim() || e.ariaLabel)).map((e) => e.outerHTML)"
        )
        assert [html for html in unnamed if 'id="saved"' not in html and 'id="detail"' not in html] == []
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.tagName") == "BUTTON"
        if folder := os.environ.get("TEXTVEIL_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/review-wide.png")
            page.set_viewport_size({"width": 390, "height": 844})
            page.screenshot(path=f"{folder}/review-narrow.png")
