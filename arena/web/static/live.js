/** Follows a run: the parts of the page that change come as events; a match in play or the latest one is shown. */
import { localise } from "./page.js";
import { Stage, pauseButton, putPosition, unpacked, watch } from "./watch.js";

const part = (/** @type {string} */ id) => document.getElementById(id);
const live = part("live");

if (live?.dataset.events) {
  const source = new EventSource(live.dataset.events);
  source.addEventListener("message", (message) => {
    const event = JSON.parse(message.data);
    if (event.problem || typeof event.now !== "string") return;
    const scrolled = [...live.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
    const focused = [...live.querySelectorAll("a, .scroll")].indexOf(document.activeElement ?? document.body);
    const parsed = new DOMParser().parseFromString(event.now, "text/html");
    live.replaceChildren(...parsed.body.childNodes);
    localise(live);
    for (const bot of live.dataset.mine?.split(" ") ?? []) live.querySelector(`tr[data-bot="${bot}"]`)?.classList.add("mine");
    [...live.querySelectorAll(".scroll")].forEach((box, index) => { box.scrollLeft = scrolled[index] ?? 0; });
    if (focused >= 0) /** @type {HTMLElement} */ ([...live.querySelectorAll("a, .scroll")][focused])?.focus();
    if (event.state && event.state !== "running") {
      source.close();
      part("newer")?.removeAttribute("hidden");
    }
  });
}

const follow = part("follow");
if (follow?.dataset.latest) showMatches(follow, follow.dataset.latest);

/**
 * Show a match in play, ply by ply; while there is none, replay the latest match in the log, again and again.
 * @param {HTMLElement} box
 * @param {string} address of the latest match
 */
async function showMatches(box, address) {
  const step = 700;
  let paused = false;
  const [replayed, played] = ["follow-replay", "follow-live"].map(part);
  const stage = played ? new Stage(played, 1, null) : null;
  pauseButton(part("follow-pause"), (now) => {
    paused = now;
    stage?.pause(now);
  });
  if (box.dataset.live && stage) {
    watch(box.dataset.live, (boards) => {
      if (boards.length) box.hidden = false;
      played?.toggleAttribute("hidden", !boards.length);
      part("follow-all")?.toggleAttribute("hidden", !boards.length);
      replayed?.toggleAttribute("hidden", boards.length > 0);
      stage.show(boards);
    });
  }
  const wait = (/** @type {number} */ time) => new Promise((resolve) => setTimeout(resolve, time));
  const busy = () => document.hidden || replayed?.hidden;
  let shown = "";
  /** @type {any} */
  let replay = null;
  for (;;) {
    while (busy()) await wait(step);
    const answer = await fetch(address).catch(() => null);
    const match = answer?.status === 200 ? await answer.json() : null;
    if (!match) {
      await wait(3000);
      continue;
    }
    if (match.id !== shown) {
      shown = match.id;
      replay = await unpacked(match.data);
      name(box, match.title, match.address);
    }
    if (paused) {
      draw(replay, replay.plies.length);
      while (paused) await wait(step);
    }
    for (let ply = 0; ply <= replay.plies.length; ply++) {
      draw(replay, ply);
      do await wait(step); while (paused || busy());
    }
    await wait(3 * step);
  }
}

/**
 * @param {HTMLElement} box
 * @param {string} title
 * @param {string} address of the whole match
 */
function name(box, title, address) {
  const [top, words, link] = ["follow-title", "follow-words", "follow-link"].map(part);
  if (top) top.textContent = "The newest match, replayed";
  if (words) words.textContent = title;
  link?.setAttribute("href", address);
  box.hidden = false;
}

/**
 * @param {any} replay
 * @param {number} ply
 */
function draw(replay, ply) {
  const picture = replay.narrow[ply].map((/** @type {number} */ number) => replay.elements[number]).join("");
  const move = ply ? replay.plies[ply - 1] : null;
  const [board, caption] = ["follow-board", "follow-caption"].map(part);
  if (board) putPosition(board, picture, replay.texts[ply]);
  if (caption) caption.textContent = `Ply ${ply} of ${replay.plies.length}${move ? `: ${move.says}` : ""}`;
}
