/** A session: what the server says of it is drawn, what is clicked is sent. */
import { Board, ask, change, find, list, make, showFound, sleep } from "./board.js";

const session = find("session");
const base = `/play/${encodeURIComponent(session.dataset.id ?? "")}`;
const problem = find("problem");
/** @type {any} */
let now = null;
/** @type {number | null} The ply of an earlier position that is shown in place of the last one. */
let shown = null;
let hinting = false;
let sending = false;
const board = new Board(find("board"), find("explain"), (action) => move(action.action), (parts) => ask(`${base}/why?version=${now.version}&${parts}`));

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (find(id));

/** @param {string} words */
function complain(words) {
  problem.textContent = words;
  problem.hidden = !words;
}

/** @param {number} action */
function move(action) {
  return send("move", { action: String(action), version: String(now.version) });
}

/** @param {string} what @param {Record<string, string>} fields */
async function send(what, fields = {}) {
  if (sending) return; // a second click is no second wish
  sending = true;
  complain("");
  const told = await change(`${base}/${what}`, fields).finally(() => (sending = false));
  if (!told) return;
  if (told.error) {
    complain(told.error);
    if (now) show(now, true);
  } else if (told.go) location.assign(told.go);
  else show(told);
}

/** @param {any} data */
function status(data) {
  if (data.phase === "failed") return `The match failed: ${data.line}`;
  if (data.phase === "over") return `Over: ${data.ended}. ${places(data)}`;
  if (data.line) return data.line[0].toUpperCase() + data.line.slice(1);
  if (data.phase === "preparing") return "The match is being set up.";
  const who = data.seat >= 0 ? `seat ${data.seat} (${data.seats[data.seat].name})` : "the dice";
  if (data.turn) return `Your move: ${who}.`;
  return data.phase === "waiting" ? `It is the move of ${who}.` : `Thinking: ${who}.`;
}

/** @param {any} data */
function places(data) {
  const order = data.seats.map((/** @type {any} */ seat, /** @type {number} */ number) => ({ ...seat, number }));
  order.sort((/** @type {any} */ a, /** @type {any} */ b) => a.place - b.place);
  return order.map((/** @type {any} */ seat) => `${seat.place}. ${seat.name}`).join(", ");
}

/** @param {any} data @param {boolean} again */
function show(data, again = false) {
  if (now && data.version < now.version) return;
  if (now && data.version === now.version && !again) return;
  const moved = !now || now.plies.length !== data.plies.length;
  now = data;
  if (moved) {
    hinting = false;
    find("found").hidden = true;
    find("values").hidden = !input("bars").checked;
  }
  if (data.phase === "failed" || (data.phase === "over" && data.line)) complain(data.line);
  shown = null;
  draw(data);
  find("status").textContent = status(data);
  find("status").dataset.turn = data.turn ? "1" : "";
  find("words").textContent = data.text;
  find("seats").replaceChildren(...data.seats.map(row));
  find("place-head").hidden = data.seats[0].place === null;
  find("score-head").hidden = data.seats[0].score === null;
  find("result").textContent = data.phase === "over" ? `Result: ${data.ended}` : "Players";
  find("seed").textContent = data.seed;
  input("back").disabled = !data.back;
  input("resign").disabled = !data.turn;
  input("hint").disabled = data.seat < 0;
  find("after").hidden = !(data.owner && data.phase === "over");
  const keep = document.getElementById("keep");
  if (keep) keep.hidden = Boolean(data.kept);
  find("kept").hidden = !data.kept;
  if (data.kept) {
    const replay = make("a", { href: data.replay }, "Step through it");
    find("kept").replaceChildren(`Kept in the log ${data.kept}, by which arena replay, verify and export know it. `, replay, ".");
  }
  if (data.analysis) find("analyse").setAttribute("href", data.analysis);
  moves(data);
  list(data, (action) => move(action.action), (action) => ask(`${base}/preview?action=${action.action}`));
  tick();
}

/** @param {any} data */
function draw(data) {
  board.show(data, data.turn ? "" : status(data));
}

/** @param {any} seat @param {number} number */
function row(seat, number) {
  const who = make("td", { class: "name", title: seat.name }, seat.name, seat.person ? " (person)" : "");
  if (seat.forfeit) {
    const words = make("small", { class: "forfeit", title: seat.forfeit.detail }, ` forfeited: ${seat.forfeit.cause.replace(/_/g, " ")}`);
    who.append(words);
  }
  const clock = make("td", { class: "number", id: `clock-${number}` }, seat.person ? "" : seat.seconds ? `${seat.seconds.toFixed(2)} s` : "");
  return make(
    "tr",
    now.seat === number && now.phase !== "over" ? { "aria-current": "true" } : {},
    make("td", {}, make("span", { class: `seat seat-${number}` }, String(number))),
    who,
    ...(seat.place === null ? [] : [make("td", { class: "number" }, String(seat.place))]),
    ...(seat.score === null ? [] : [make("td", { class: "number" }, String(seat.score))]),
    clock,
  );
}

/** @param {any} data */
function moves(data) {
  const place = find("moves");
  place.replaceChildren(
    ...data.plies.map((/** @type {any} */ ply, /** @type {number} */ number) => {
      const kind = ply.seat < 0 ? "dice" : `seat-${ply.seat}`;
      const link = make("a", { href: `#${number + 1}`, class: kind, title: ply.seat < 0 ? (ply.rolled < 0 ? "set-up" : `dice of seat ${ply.rolled}`) : `seat ${ply.seat}` }, ply.text);
      const about = ply.by === "dice" ? (ply.rolled < 0 ? "set-up" : `dice of seat ${ply.rolled}`) : ply.by;
      link.addEventListener("click", (event) => {
        event.preventDefault();
        look(number + 1);
      });
      const line = make("li", {}, link);
      if (about) line.append(make("small", {}, ` ${about}`));
      if (ply.note) line.append(make("small", { class: "faint" }, ` ${ply.note}`));
      return line;
    }),
  );
  place.scrollTop = place.scrollHeight;
}

/** Show an earlier position. @param {number} ply */
async function look(ply) {
  if (ply === now.plies.length) {
    shown = null;
    draw(now);
    return find("status").replaceChildren(status(now));
  }
  const then = await ask(`${base}/at?ply=${ply}`);
  if (!then || then.error) return complain(then?.error ?? "");
  shown = ply;
  board.show(then, "This is an earlier position.");
  const link = make("button", { type: "button" }, "Back to the match");
  link.addEventListener("click", () => look(now.plies.length));
  find("status").replaceChildren(`After ply ${ply} of ${now.plies.length}. `, link);
}

/** Clocks of persons run between what the server says. */
let since = 0;
function tick() {
  since = performance.now();
}
setInterval(() => {
  if (!now) return;
  now.seats.forEach((/** @type {any} */ seat, /** @type {number} */ number) => {
    const cell = document.getElementById(`clock-${number}`);
    if (!cell || !seat.person || !seat.left) return;
    const used = now.phase === "waiting" && now.seat === number ? (performance.now() - since) / 1000 : 0;
    const left = Math.max(0, seat.left - used);
    cell.textContent = `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
  });
}, 250);

async function follow() {
  for (;;) {
    try {
      const data = await ask(`${base}/state?after=${now ? now.version : -1}`);
      if (data?.error) {
        complain(data.error);
        if (data.gone) return;
        await sleep(2000);
      } else if (data) show(data);
    } catch {
      complain("The server does not answer; trying again.");
      await sleep(2000);
      now = null;
      complain("");
    }
  }
}

/** A search grows while hints or bars are wanted, the page is seen, and a decision is due. */
async function search() {
  for (;;) {
    await sleep(document.hidden ? 1000 : 200);
    if (!now || document.hidden || shown !== null || now.seat < 0 || !(hinting || input("bars").checked)) continue;
    try {
      const found = await change(`${base}/found?limit=${input("budget").value}`);
      if (!found || found.error) {
        complain(found?.error ?? "");
        hinting = input("bars").checked = false;
      } else if (found.of === now.version) {
        showFound(found, hinting, now.turn ? (action) => move(action) : null);
        if (!found.running) await sleep(800);
      }
    } catch {
      await sleep(2000);
    }
  }
}

find("back").addEventListener("click", () => send("back"));
find("resign").addEventListener("click", () => {
  if (confirm("Resign this match?")) send("resign", { version: String(now.version) });
});
find("hint").addEventListener("click", () => {
  hinting = true;
});
input("bars").addEventListener("change", () => {
  find("values").hidden = !input("bars").checked;
  if (!input("bars").checked && !hinting) find("found").hidden = true;
});
for (const [id, fields] of /** @type {[string, Record<string, string>][]} */ ([["again", {}], ["same", { same: "1" }], ["turned", { turned: "1" }]])) {
  find(id).addEventListener("click", () => send("rematch", fields));
}
document.getElementById("keep")?.addEventListener("click", () => send("keep"));
follow();
search();
