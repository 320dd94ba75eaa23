/** Follows a run: the parts of the page that change come as events; a match in play or the latest one is shown. */
import { localise } from "./page.js";

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
    [...live.querySelectorAll(".scroll")].forEach((box, index) => { box.scrollLeft = scrolled[index] ?? 0; });
    if (focused >= 0) /** @type {HTMLElement} */ ([...live.querySelectorAll("a, .scroll")][focused])?.focus();
    if (event.state && event.state !== "running") {
      source.close();
      part("newer")?.removeAttribute("hidden");
    }
  });
}

const follow = part("follow");
if (follow?.dataset.latest) replayLatest(follow, follow.dataset.latest);

/**
 * Show a match in play that takes long, move by move, else replay the latest match in the log, again and again.
 * @param {HTMLElement} box
 * @param {string} address
 */
async function replayLatest(box, address) {
  const step = 700;
  let paused = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const button = part("follow-pause");
  if (button) {
    button.hidden = false;
    if (paused) button.textContent = "Go on";
  }
  button?.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
  });
  const wait = (/** @type {number} */ time) => new Promise((resolve) => setTimeout(resolve, time));
  let shown = "";
  /** @type {any} */
  let replay = null;
  for (;;) {
    const answer = await fetch(address).catch(() => null);
    const match = answer?.status === 200 ? await answer.json() : null;
    if (match?.playing) {
      if (!paused && match.playing !== shown) {
        shown = match.playing;
        name(box, "A match in play", match.title);
        put(match.picture, match.text, match.caption);
      }
      await wait(1000);
      continue;
    }
    if (!match) {
      await wait(3000);
      continue;
    }
    if (match.id !== shown) {
      shown = match.id;
      replay = await unpacked(match.data);
      name(box, "The latest match in the log, replayed", match.title, match.address);
    }
    if (paused) {
      draw(replay, replay.plies.length);
      while (paused) await wait(step);
    }
    for (let ply = 0; ply <= replay.plies.length; ply++) {
      draw(replay, ply);
      do await wait(step); while (paused || document.hidden);
    }
    await wait(3 * step);
  }
}

/**
 * @param {HTMLElement} box
 * @param {string} heading
 * @param {string} title
 * @param {string} address of the whole match; empty while it is in play
 */
function name(box, heading, title, address = "") {
  const [top, words, link] = ["follow-title", "follow-words", "follow-link"].map(part);
  if (top) top.textContent = heading;
  if (words) words.textContent = title;
  if (link) link.hidden = !address;
  if (link && address) link.setAttribute("href", address);
  box.hidden = false;
}

/** @param {string} text */
async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

/**
 * @param {any} replay
 * @param {number} ply
 */
function draw(replay, ply) {
  const picture = replay.pictures[ply].map((/** @type {number} */ number) => replay.elements[number]).join("");
  const move = ply ? replay.plies[ply - 1] : null;
  put(picture, replay.texts[ply], `Ply ${ply} of ${replay.plies.length}${move ? `: ${move.says}` : ""}`);
}

/**
 * Show a position.
 * @param {string} picture SVG; empty where the game has none
 * @param {string} text
 * @param {string} words
 */
function put(picture, text, words) {
  const [board, caption] = ["follow-board", "follow-caption"].map(part);
  if (board && picture) {
    const drawing = new DOMParser().parseFromString(picture, "image/svg+xml").documentElement;
    board.replaceChildren(document.importNode(drawing, true));
  } else if (board) {
    board.textContent = text;
  }
  if (caption) caption.textContent = words;
}
