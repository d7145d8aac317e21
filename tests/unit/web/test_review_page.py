"""The router of the review page: the door, steps, stale pages, and nothing private in an error."""

from __future__ import annotations

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from textveil.pii.review.marks import Mark
from textveil.pii.review.store import ReviewDocument, ReviewStore
from textveil.text.spans import Span
from textveil.web.app import local_app
from textveil.web.pii_review import review_routes

TOKEN = "the-token-of-this-run"
HERE = "http://127.0.0.1:8000"


@pytest.fixture
def store(tmp_path):
    marks = [Mark(Span(0, 4, "PERSON", 0.7, "names"))]
    return ReviewStore.create(tmp_path / "a.review", [ReviewDocument("a", "Anna <script> called.", marks, {"n": 1})])


@pytest.fixture
def stranger(store):
    return TestClient(local_app(review_routes(store, "ada"), TOKEN), base_url=HERE, follow_redirects=False)


@pytest.fixture
def page(stranger):
    stranger.get(f"/review?token={TOKEN}")
    return stranger


def mark(**more):
    return {"start": 0, "end": 4, "label": "PERSON", "status": "confirmed", **more}


@pytest.mark.parametrize(
    "path", ["/", "/review", "/review/api/overview", "/review/api/documents/0", "/static/review.js"]
)
@pytest.mark.parametrize("token", ["", "?token=", "?token=wrong"])
def test_without_the_token_everything_is_refused(stranger, path, token):
    answer = stranger.get(path + token)
    assert answer.status_code == 403
    assert "Anna" not in answer.text


def test_a_wrong_cookie_is_refused_and_no_step_is_taken(stranger, store):
    stranger.cookies.set("textveil", "wrong")
    answer = stranger.post("/review/api/documents/0", json={"version": 0, "marks": [], "done": True})
    assert answer.status_code == 403
    assert store.reviewers() == []


def test_another_name_for_this_machine_is_refused(page):
    assert page.get("/review", headers={"host": "evil.example:8000"}).status_code == 403
    assert page.get("/review", headers={"host": "127.0.0.1.evil.example:8000"}).status_code == 403


def test_the_token_leaves_the_address_and_scripts_cannot_read_it(stranger):
    answer = stranger.get(f"/review?token={TOKEN}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/review")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie


def test_pages_load_nothing_from_elsewhere(page):
    answer = page.get("/review")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    for name in ("review", "static/review.js", "static/review.css"):
        text = page.get(f"/{name}").text.replace("http://127.0.0.1", "")
        assert "http" not in text.lower().replace("httponly", "").replace("http-equiv", ""), name
        assert "innerHTML" not in text, name


def test_a_step_is_saved_and_a_second_page_is_told(page, store):
    body = {"version": 0, "marks": [mark()], "done": True, "seconds": 3}
    assert page.post("/review/api/documents/0", json=body).json()["version"] == 1
    again = page.post("/review/api/documents/0", json=body)
    assert again.status_code == 409
    assert "another page" in again.json()["error"]
    assert page.get("/review/api/overview").json()["progress"]["done"] == 1
    assert page.post("/review/api/undo", json={}).json() == {"number": 0}
    assert store.done_numbers("ada") == set()


@pytest.mark.parametrize(
    "body", [{}, [], {"version": "x", "marks": [], "done": 1}, {"version": 0, "marks": [mark(end=99)], "done": True},
             {"version": 0, "marks": ["Anna"], "done": True}]
)  # fmt: skip
def test_bad_steps_get_one_sentence_without_text(page, store, body):
    answer = page.post("/review/api/documents/0", json=body)
    assert answer.status_code == 400
    assert "Anna" not in answer.text
    assert store.reviewers() == []


def test_only_json_is_taken(page):
    answer = page.post("/review/api/documents/0", content=b"{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 400


def test_an_unknown_document_is_refused(page):
    assert page.get("/review/api/documents/7").status_code == 400


def test_agreement_is_shown_once_two_have_finished(page, store):
    page.post("/review/api/documents/0", json={"version": 0, "marks": [mark()], "done": True})
    assert page.get("/review/api/overview").json()["agreement"] == {}
    store.save("bob", 0, 0, [], done=True)
    assert page.get("/review/api/overview").json()["agreement"]["bob"]["documents"] == 1
