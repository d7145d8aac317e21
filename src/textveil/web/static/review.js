// The review page. Every step is sent as soon as it is made; "saved" is shown only after the server has it on disk.
// Offsets count code points, as Python counts them: the text is held as a list of code points. Nothing is ever put into the
// page as HTML: texts become text nodes.
"use strict";

const at = (id) => document.getElementById(id);
const KEPT = ["confirmed", "added"];
const state = { overview: null, doc: null, chars: [], words: [], here: -1, drawn: null, visited: [], since: Date.now(), saving: Promise.resolve(), unsent: 0 };

// ---- server -------------------------------------------------------------------------------------------------------

async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try { response = await fetch("/review/api/" + path, options); } catch { throw new Error("the server does not answer; start it again, nothing is lost"); }
  const answer = await response.json().catch(() => ({ error: "the server refused" }));
  if (!response.ok) { const error = new Error(answer.error); error.stale = response.status === 409; throw error; }
  return answer;
}

function say(sentence, bad = false) { at("saved").textContent = sentence; at("saved").classList.toggle("bad", bad); }

// Steps are sent one after another, so that each is made on the version that the one before it gave.
function save(done) {
  const doc = state.doc, marks = doc.marks.map((mark) => ({ ...mark })), seconds = (Date.now() - state.since) / 1000;
  state.since = Date.now();
  state.unsent += 1;
  say("saving");
  state.saving = state.saving.then(async () => {
    try {
      const answer = await ask("documents/" + doc.number, { version: doc.version, marks, done, seconds });
      doc.version = answer.version; doc.done = done; state.overview.progress = answer.progress;
      if (state.unsent === 1) say("saved");  // not while a later step is still on its way
      showProgress();
      return true;
    } catch (error) {
      say(error.message, true);
      if (error.stale) await open(doc.number);
      return false;
    } finally { state.unsent -= 1; }
  });
  return state.saving;
}

// ---- documents ----------------------------------------------------------------------------------------------------

async function refresh() { state.overview = await ask("overview"); showProgress(); showAgreement(); }

async function open(number) {
  const doc = await ask("documents/" + number);
  state.doc = doc; state.drawn = null; state.since = Date.now();
  state.chars = Array.from(doc.text); state.words = wordsOf(doc.text);
  state.here = doc.marks.findIndex((mark) => mark.status === "proposed");
  if (state.here < 0 && doc.marks.length) state.here = 0;
  sortMarks(); showRecord(); showLabels(); show(); at("text").focus();
}

async function next() {
  await refresh();
  const number = state.overview.queue.find((n) => n !== state.doc?.number) ?? state.overview.queue[0];
  if (number === undefined) { finished(); return; }
  await open(number);
}

function finished() {
  state.doc = null; at("title").textContent = "All documents are finished"; at("text").replaceChildren();
  at("detail").textContent = "Export the review with: textveil pii review STORE --export bio"; at("labels").replaceChildren(); at("record").replaceChildren();
}

function wordsOf(text) {
  const places = []; let units = 0, points = 0;
  for (const match of text.matchAll(/[\p{L}\p{N}\p{M}]+|[^\s]/gu)) {
    points += Array.from(text.slice(units, match.index)).length;
    const length = Array.from(match[0]).length;
    places.push([points, points + length]);
    points += length; units = match.index + match[0].length;
  }
  return places;
}

// ---- steps --------------------------------------------------------------------------------------------------------

function sortMarks() {
  const held = state.doc.marks[state.here];
  state.doc.marks.sort((a, b) => a.start - b.start || a.end - b.end);
  if (held) state.here = state.doc.marks.indexOf(held);
}

function decide(status) {
  const mark = state.doc?.marks[state.here];
  if (!mark) return;
  mark.status = mark.status === "added" && status === "confirmed" ? "added" : status;
  const onward = state.doc.marks.findIndex((m, k) => k > state.here && m.status === "proposed");
  if (onward >= 0) state.here = onward;
  show(); save(false);
}

function confirmAll() {
  for (const mark of state.doc.marks) if (mark.status === "proposed") mark.status = "confirmed";
  show(); save(false);
}

function relabel(label) {
  if (state.drawn) { takeDrawn(label); return; }
  const mark = state.doc?.marks[state.here];
  if (!mark) return;
  mark.label = label; if (!KEPT.includes(mark.status)) mark.status = "confirmed";
  show(); save(false);
}

// The span must stay within the text, hold something, and leave the other standing marks alone.
function isFree(start, end, except) {
  return 0 <= start && start < end && end <= state.chars.length &&
    !state.doc.marks.some((m) => m !== except && m.status !== "rejected" && m.start < end && start < m.end);
}

function place(mark, start, end) {
  if (!isFree(start, end, mark)) { say("there is no room for that", true); return false; }
  if (mark.start === start && mark.end === end) return false;
  mark.start = start; mark.end = end; if (!KEPT.includes(mark.status)) mark.status = "confirmed";
  sortMarks(); show(); save(false);
  return true;
}

function moveByWord(edge, direction) {
  const span = state.drawn ?? state.doc?.marks[state.here];
  if (!span) return;
  const ends = state.words.map((w) => w[edge === "start" ? 0 : 1]);
  const moved = direction > 0 ? ends.find((e) => e > span[edge]) : ends.findLast((e) => e < span[edge]);
  if (moved === undefined) return;
  const placed = { start: span.start, end: span.end, [edge]: moved };
  if (placed.start >= placed.end) return;
  if (state.drawn) { state.drawn = placed; show(); } else place(span, placed.start, placed.end);
}

function beginDrawn() {
  if (!state.words.length || !state.doc) return;
  const from = state.doc.marks[state.here]?.end ?? 0;
  const word = state.words.find((w) => w[0] >= from) ?? state.words[0];
  state.drawn = { start: word[0], end: word[1] }; show();
}

function shiftDrawn(direction) {
  const k = state.words.findIndex((w) => w[1] > state.drawn.start), word = state.words[k + direction];
  if (word) { state.drawn = { start: word[0], end: word[1] }; show(); }
}

function takeDrawn(label) {
  const { start, end } = state.drawn;
  if (!isFree(start, end, null)) { say("a mark is there already", true); return; }
  const mark = { start, end, label, score: 1, rule: "reviewer", status: "added" };
  state.drawn = null; state.doc.marks.push(mark); state.here = state.doc.marks.length - 1;
  sortMarks(); show(); save(false);
}

async function finish() {
  if (!state.doc) return;
  if (state.doc.marks.some((m) => m.status === "proposed")) { say("decide every mark first (C confirms all)", true); return; }
  const number = state.doc.number;
  if (await save(true)) { state.visited.push(number); await next(); }
}

async function undo() {
  await state.saving;
  const answer = await ask("undo", {});
  if (answer.number === null) { say("nothing to undo"); return; }
  await refresh(); await open(answer.number); say("undone");
}

async function back() { const number = state.visited.pop(); if (number !== undefined) { await state.saving; await open(number); } }

// ---- drawing ------------------------------------------------------------------------------------------------------

function node(tag, text, className) { const made = document.createElement(tag); if (text !== undefined) made.textContent = text; if (className) made.className = className; return made; }
const cut = (start, end) => state.chars.slice(start, end).join("");

function piece(start, end, tag = "span") { const made = node(tag, cut(start, end)); made.dataset.start = start; return made; }

function show() {
  const doc = state.doc, parts = [];
  at("title").textContent = doc.id + (doc.done ? " (finished)" : "");
  let place = 0;
  const spans = doc.marks.map((mark, k) => ({ start: mark.start, end: mark.end, mark, k }));
  if (state.drawn) spans.push({ ...state.drawn, mark: null });
  spans.sort((a, b) => a.start - b.start || a.end - b.end);
  for (const span of spans) {
    if (span.start < place) continue; // a rejected mark under a standing one
    parts.push(piece(place, span.start), span.mark ? drawMark(span.mark, span.k) : drawDrawn(span));
    place = span.end;
  }
  parts.push(piece(place, state.chars.length));
  at("text").replaceChildren(...parts);
  document.querySelector("mark.here, .drawn")?.scrollIntoView({ block: "nearest" });
  describe();
  for (const button of at("labels").children) button.setAttribute("aria-pressed", String(button.dataset.label === doc.marks[state.here]?.label));
}

function drawMark(mark, k) {
  const made = node("mark"); made.dataset.status = mark.status; made.dataset.number = k;
  if (k === state.here && !state.drawn) made.classList.add("here");
  made.append(handle("start", mark), piece(mark.start, mark.end), node("span", mark.label, "label"), handle("end", mark));
  made.addEventListener("click", () => { state.here = k; show(); });
  return made;
}

function drawDrawn(span) { const made = piece(span.start, span.end); made.className = "drawn"; return made; }

function describe() {
  const mark = state.doc.marks[state.here], open = state.doc.marks.filter((m) => m.status === "proposed").length;
  if (state.drawn) at("detail").textContent = "New mark: " + cut(state.drawn.start, state.drawn.end) + ". Enter, or a label, takes it.";
  else if (!mark) at("detail").textContent = "Nothing was found here. A adds a mark, Space goes on.";
  else at("detail").textContent = `${mark.label}, ${mark.status}; ${Math.round(100 * mark.score)} % sure, found by ${mark.rule || "an unnamed rule"}; ${open} undecided.`;
}

function showProgress() {
  const { done, total, seconds_left: left } = state.overview.progress;
  at("source").textContent = state.overview.source + ", " + state.overview.reviewer;
  at("progress").textContent = `${done} of ${total}` + (left === null || done === total ? "" : `, about ${duration(left)} left`);
  at("meter").setAttribute("aria-valuemax", total); at("meter").setAttribute("aria-valuenow", done);
  at("meter-fill").style.width = (total ? 100 * done / total : 0) + "%";
}

function duration(seconds) { return seconds < 90 ? `${Math.ceil(seconds)} s` : seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`; }

function pairs(list, values) { list.replaceChildren(...values.flatMap(([name, value]) => [node("dt", name), node("dd", value)])); }

function showRecord() {
  const fields = Object.entries(state.doc.record).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : String(value)]);
  pairs(at("record"), fields.length ? fields : [["No record", "for this document"]]);
}

function showAgreement() {
  const found = Object.entries(state.overview.agreement);
  at("agreement-box").hidden = !found.length;
  pairs(at("agreement"), found.map(([name, a]) => [name, `${a.documents} documents, kappa ${a.kappa?.toFixed(2) ?? "undefined"}, same spans ${a.span_f1 === null ? "none" : Math.round(100 * a.span_f1) + " %"}`]));
}

function showLabels() {
  at("labels").replaceChildren(...state.overview.labels.map((label, k) => {
    const button = node("button", label + " "); button.type = "button"; button.dataset.label = label;
    if (k < 9) button.append(node("kbd", String(k + 1)));
    button.addEventListener("click", () => { relabel(label); at("text").focus(); });
    return button;
  }));
}

// ---- mouse --------------------------------------------------------------------------------------------------------

function handle(edge, mark) {
  const made = node("span", "", "handle"); made.setAttribute("aria-hidden", "true");
  made.addEventListener("pointerdown", (event) => {
    event.preventDefault(); event.stopPropagation();
    made.setPointerCapture(event.pointerId);
    const end = (up) => {
      const point = pointUnder(up);
      if (point !== null) place(mark, edge === "start" ? point : mark.start, edge === "end" ? point : mark.end);
    };
    made.addEventListener("pointerup", end, { once: true });
  });
  made.addEventListener("click", (event) => event.stopPropagation());
  return made;
}

// The code point under a pointer, through the piece of text that it is in.
function pointUnder(event) {
  const caret = document.caretPositionFromPoint?.(event.clientX, event.clientY);
  const range = caret ? { node: caret.offsetNode, offset: caret.offset } : fromRange(document.caretRangeFromPoint?.(event.clientX, event.clientY));
  return range ? pointOf(range.node, range.offset) : null;
}
const fromRange = (range) => range && { node: range.startContainer, offset: range.startOffset };

function pointOf(textNode, offset) {
  const holder = textNode.nodeType === Node.TEXT_NODE ? textNode.parentElement : null;
  if (!holder || holder.dataset.start === undefined) return null;
  return Number(holder.dataset.start) + Array.from(textNode.data.slice(0, offset)).length;
}

function selected() {
  const selection = getSelection();
  if (!state.doc || selection.isCollapsed || !at("text").contains(selection.anchorNode)) return;
  const ends = [pointOf(selection.anchorNode, selection.anchorOffset), pointOf(selection.focusNode, selection.focusOffset)];
  if (ends.includes(null)) return;
  const [start, end] = ends.sort((a, b) => a - b), inside = state.words.filter((w) => w[0] < end && start < w[1]);
  selection.removeAllRanges();
  if (inside.length) { state.drawn = { start: inside[0][0], end: inside.at(-1)[1] }; show(); }
}

// ---- keys ---------------------------------------------------------------------------------------------------------

function step(direction) {
  if (state.drawn) { shiftDrawn(direction); return; }
  const count = state.doc.marks.length;
  if (count) { state.here = (state.here + direction + count) % count; show(); }
}

const KEYS = {
  ArrowRight: () => step(1), ArrowLeft: () => step(-1),
  Enter: () => state.drawn ? takeDrawn(state.doc.marks[state.here]?.label ?? state.overview.labels[0] ?? "PII") : decide("confirmed"),
  x: () => decide("rejected"), a: beginDrawn, c: confirmAll, u: undo, b: back, " ": finish,
  ".": () => moveByWord("end", 1), ",": () => moveByWord("end", -1),
  ">": () => moveByWord("start", 1), "<": () => moveByWord("start", -1), ":": () => moveByWord("start", 1), ";": () => moveByWord("start", -1),
  Escape: () => { state.drawn = null; show(); },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const onButton = event.target.closest?.("button");
  if (onButton && (event.key === "Enter" || event.key === " ")) return; // a focused button is pressed, nothing else
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const label = /^[1-9]$/.test(key) ? state.overview?.labels[Number(key) - 1] : undefined;
  const action = label ? () => relabel(label) : KEYS[key];
  if (!action || (!state.doc && !["u", "b"].includes(key))) return;
  event.preventDefault();
  Promise.resolve(action()).catch((error) => say(error.message, true));
});

const click = (id, action) => at(id).addEventListener("click", () => { Promise.resolve(action()).catch((error) => say(error.message, true)); at("text").focus(); });
click("confirm", () => KEYS.Enter()); click("reject", () => decide("rejected")); click("add", beginDrawn);
click("undo", undo); click("back", back); click("finish", finish);
document.addEventListener("pointerup", () => setTimeout(selected));
next().catch((error) => say(error.message, true));
