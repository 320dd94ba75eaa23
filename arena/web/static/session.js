/** A session: what the server says of it is drawn, what is clicked is sent. */
import { Board, ask, change, die, find, list, make, narrow, showFound, sleep, tell } from "./board.js";
import { root } from "./page.js";

const session = find("session");
const base = `${root}/play/${encodeURIComponent(session.dataset.id ?? "")}`;
const problem = find("problem");
/** How many plies are told at once, on a narrow screen and on others; those before them are folded. */
const NARROW_NEWS = 6;
const WIDE_NEWS = 12;
/** How many plies before the last one are shown again to see how a match ended, and how long each. */
const END_PLIES = 3;
const END_MILLISECONDS = 1500;
/** @type {any} */
let now = null;
/** @type {number | null} The ply of an earlier position that is shown in place of the last one. */
let shown = null;
let hinting = false;
/** @type {number | null} The version about which something is being sent. */
let sending = null;
const board = new Board(
  find("board"),
  find("explain"),
  (action) => move(action.action),
  (what, parts) => ask(`${base}/${what}?version=${now.version}&${parts}`),
  (sentence) => tell(find("status"), sentence),
);

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (find(id));
const width = () => `narrow=${narrow.matches ? 1 : 0}`;

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
  const version = now ? now.version : -1;
  if (sending === version) return; // a second click is no second wish
  sending = version;
  complain("");
  const told = await change(`${base}/${what}`, { ...fields, narrow: narrow.matches ? "1" : "0" }).finally(() => {
    if (sending === version) sending = null; // a later one may be on its way: `follow` can be faster than the answer
  });
  if (!told) return;
  if (told.error) {
    complain(told.error);
    if (now) show(now, true);
  } else if (told.go) location.assign(told.go);
  else show(told);
}

/** @param {any} data @param {boolean} again */
function show(data, again = false) {
  if (now && data.version < now.version) return;
  if (now && data.version === now.version && !again) return;
  const plies = now ? now.plies.length : 0;
  const moved = !now || plies !== data.plies.length;
  const motions = now && data.plies.length > plies ? data.plies.slice(plies).flatMap((/** @type {any} */ ply) => ply.told.motions) : [];
  now = data;
  if (moved) {
    hinting = false;
    find("found").hidden = true;
    find("values").hidden = !input("bars").checked;
  }
  if (data.phase === "over") find("found").hidden = find("values").hidden = true;
  if (data.phase === "over" && data.line) complain(data.line);
  shown = null;
  board.players = data.seats.map((/** @type {any} */ seat) => seat.label);
  draw(data, motions);
  news(data);
  find("title").textContent = data.title;
  document.title = document.title.replace(/^.*?: /, `${data.title}: `);
  find("words").textContent = data.text;
  const timed = data.seats.some((/** @type {any} */ seat) => (seat.person ? seat.left : seat.seconds));
  find("seats").replaceChildren(...data.seats.map((/** @type {any} */ seat, /** @type {number} */ number) => row(seat, number, timed)));
  find("time-head").hidden = !timed;
  find("place-head").hidden = data.seats[0].place === null;
  find("score-head").hidden = data.seats[0].score === null;
  find("seed").textContent = data.seed;
  input("back").disabled = !data.back;
  input("resign").disabled = !data.turn;
  input("hint").disabled = data.seat < 0 || data.phase === "over";
  ending(data);
  if (data.analysis) find("analyse").setAttribute("href", data.analysis);
  moves(data);
  list(data, (action) => move(action.action), (action) => ask(`${base}/preview?action=${action.action}&${width()}`));
  tick();
}

/** @param {any} data @param {string[][]} motions */
function draw(data, motions = []) {
  const status = find("status");
  status.dataset.turn = data.turn ? "1" : "";
  status.dataset.phase = data.phase;
  board.show(data, data.turn ? "" : data.prompt.text, motions);
  find("board").classList.toggle("stopped", data.phase === "over" && !data.over); // somebody has forfeited
  find("news-title").textContent = "What just happened";
  tell(status, data.prompt);
}

/** What can be done when the match is over. @param {any} data */
function ending(data) {
  find("after").hidden = data.phase !== "over";
  find("again-box").hidden = !data.owner;
  const keep = document.getElementById("keep");
  if (keep) keep.hidden = Boolean(data.kept);
  find("turned").hidden = !data.turned;
  if (data.turned) find("turned").setAttribute("href", data.turned);
  find("turned").textContent = data.turned_words;
  if (data.plies.some((/** @type {any} */ ply) => ply.rolled >= 0)) for (const each of document.querySelectorAll(".luck")) each.textContent = "dice";
  find("kept").hidden = !data.kept;
  if (data.kept) {
    const replay = make("a", { href: data.replay }, "Step through it");
    find("kept").replaceChildren(`Kept in the log ${data.kept}, by which arena replay, verify and export know it. `, replay, ".");
  }
}

/** What has happened since the person's last choice. @param {any} data */
function news(data) {
  const place = find("news");
  /** @type {any[]} */
  const plies = data.plies;
  const mine = plies.map((ply) => ply.seat === data.you && !ply.by).lastIndexOf(true);
  const latest = Math.max(plies.length - (narrow.matches ? NARROW_NEWS : WIDE_NEWS), 0);
  const since = data.you === null ? latest : Math.max(mine, 0);
  const first = Math.max(since, latest);
  const items = plies.slice(since).map((ply, at) => {
    const isLast = since + at + 1 === plies.length;
    return make("li", { class: line(ply) }, ...told(ply), ...(isLast ? [] : [" ", step(since + at + 1, "show")]));
  });
  place.replaceChildren(...items.splice(first - since));
  find("earlier").hidden = !items.length;
  find("earlier-title").textContent = `Show ${items.length} more${mine < 0 ? "" : " since your last choice"}`;
  find("earlier-news").replaceChildren(...items);
  find("news-box").hidden = !plies.length;
}

/** @param {any} ply */
function line(ply) {
  return ply.seat >= 0 ? `seat-${ply.seat}` : ply.rolled >= 0 ? `seat-${ply.rolled}` : "chance";
}

/** A ply in words, with dice as dice. @param {any} ply */
function told(ply) {
  const dice = ply.faces.map(die);
  const why = { opening: " (drawn at random)", forced: " (the only move)", substitute: " (at random after the forfeit)" };
  const note = /** @type {Record<string, string>} */ (why)[ply.by] ?? "";
  return [...(dice.length ? [make("span", { class: "dice" }, ...dice)] : []), ply.told.text, note ? make("small", { class: "faint" }, note) : ""];
}

/** @param {number} time seconds */
function seconds(time) {
  return time < 0.005 ? "< 0.01 s" : `${time.toFixed(2)} s`;
}

/** @param {any} seat @param {number} number @param {boolean} timed whether a column for time is shown */
function row(seat, number, timed) {
  const who = make("td", { class: "name", title: seat.name }, seat.label, seat.person && number !== now.you ? " (person)" : "");
  if (seat.forfeit) {
    const words = make("small", { class: "forfeit", title: seat.forfeit.detail }, ` forfeited: ${seat.forfeit.cause.replace(/_/g, " ")}`);
    who.append(words);
  }
  const clock = make("td", { class: "number", id: `clock-${number}` }, seat.person || !seat.seconds ? "" : seconds(seat.seconds));
  return make(
    "tr",
    now.seat === number && now.phase !== "over" ? { "aria-current": "true" } : {},
    make("td", { class: "colour" }, make("span", { class: `swatch fill-${number}`, "aria-hidden": "true" }), ` ${seat.colour}`),
    who,
    ...(seat.place === null ? [] : [make("td", { class: "number" }, String(seat.place))]),
    ...(seat.score === null ? [] : [make("td", { class: "number" }, String(seat.score))]),
    ...(timed ? [clock] : []),
  );
}

/** A link to the position after a ply. @param {number} ply @param {string} text @param {string} [kind] */
function step(ply, text, kind = "step") {
  const link = make("a", { href: `#${ply}`, class: kind, ...(kind === "step" ? { "aria-label": `show ply ${ply}` } : {}) }, text);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    look(ply);
  });
  return link;
}

/** @param {any} data */
function moves(data) {
  const place = find("moves");
  place.replaceChildren(
    ...data.plies.map((/** @type {any} */ ply, /** @type {number} */ number) => {
      const link = step(number + 1, ply.text, ply.seat < 0 ? "dice" : `seat-${ply.seat}`);
      const item = make("li", {}, link, make("small", {}, " ", ...told(ply)));
      if (ply.note) item.append(make("small", { class: "faint" }, ` ${ply.note}`));
      return item;
    }),
  );
  place.scrollTop = place.scrollHeight;
}

/** Show an earlier position, or the last one. @param {number} ply */
async function look(ply) {
  if (!now) return;
  if (ply === now.plies.length) {
    shown = null;
    return draw(now);
  }
  return showAt(ply);
}

/** Show the position after a ply, with what the ply did. @param {number} ply */
async function showAt(ply) {
  const then = await ask(`${base}/at?ply=${ply}&${width()}`);
  if (!now || !then || then.error) return complain(then?.error ?? "");
  shown = ply;
  board.show(then, "This is an earlier position.");
  find("board").classList.remove("stopped");
  find("news-title").textContent = "What happened last";
  const link = make("button", { type: "button" }, "Back to the match");
  link.addEventListener("click", () => look(now.plies.length));
  const words = ply ? now.plies[ply - 1]?.told.text : "The start.";
  find("status").scrollIntoView({ block: "nearest" });
  find("status").replaceChildren(`After ply ${ply} of ${now.plies.length}: ${words} `, link);
}

/** Show how the match ended: the last moves again, one after the other, each with what it did. */
async function replayEnd() {
  const match = now;
  find("board").scrollIntoView({ block: "center" });
  for (let ply = Math.max(0, match.plies.length - END_PLIES); ply <= match.plies.length; ply += 1) {
    await showAt(ply);
    await sleep(END_MILLISECONDS);
    if (now !== match || shown !== ply) return; // something else is looked at
  }
  shown = null;
  draw(match);
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
      const data = await ask(`${base}/state?after=${now ? now.version : -1}&${width()}`);
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
    if (!now || document.hidden || shown !== null || now.seat < 0 || now.phase === "over" || !(hinting || input("bars").checked)) continue;
    try {
      const found = await change(`${base}/found?limit=${input("budget").value}`);
      if (!found || found.error) {
        complain(found?.error ?? "");
        hinting = input("bars").checked = false;
      } else if (found.of === now.version) {
        showFound(found, hinting, now.turn ? (action) => move(action) : null, board.players);
        if (!found.running) await sleep(800);
      }
    } catch {
      await sleep(2000);
    }
  }
}

narrow.addEventListener("change", async () => {
  const data = await ask(`${base}/state?after=-1&${width()}`).catch(() => null);
  if (data && !data.error) show(data, true);
});
find("back").addEventListener("click", () => send("back"));
find("resign").addEventListener("click", () => {
  if (confirm("Resign this match?")) send("resign", { version: String(now.version) });
});
find("hint").addEventListener("click", () => {
  hinting = true;
});
find("see").addEventListener("click", replayEnd);
input("bars").addEventListener("change", () => {
  find("values").hidden = now?.phase === "over" || !input("bars").checked;
  if (!input("bars").checked && !hinting) find("found").hidden = true;
});
for (const [id, fields] of /** @type {[string, Record<string, string>][]} */ ([["again", {}], ["same", { same: "1" }], ["other-seats", { turned: "1" }]])) {
  find(id).addEventListener("click", () => send("rematch", fields));
}
document.getElementById("keep")?.addEventListener("click", () => send("keep"));
follow();
search();
