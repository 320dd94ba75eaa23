/** Matches in play, ply by ply: the server draws them once for all who watch. */

const TICK = 1000;
const MIN_GRAPH_PLIES = 20;
const ANNOUNCE_AFTER = 10000;

/**
 * @typedef {{ply: number, says: string, picture: string, text: string, values: (number | null)[]}} Frame
 * @typedef {{id: string, html: string, frames: Frame[], curves: string[], verdict: string, address: string}} Board
 */

/**
 * Follow the matches in play at an address while the page is visible; `show` gets the boards of each event.
 * @param {string} address
 * @param {(boards: Board[]) => void} show
 */
export function watch(address, show) {
  /** @type {EventSource | null} */
  let source = null;
  const follow = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (!source) {
      source = new EventSource(address);
      source.addEventListener("message", async (message) => {
        const event = JSON.parse(message.data);
        if (typeof event.boards === "string") show(await unpacked(event.boards));
      });
    }
  };
  document.addEventListener("visibilitychange", follow);
  follow();
}

/** @param {string} text */
export async function unpacked(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).json();
}

/**
 * Put a position into an element.
 * @param {Element} place
 * @param {string} picture SVG; empty where the game has none
 * @param {string} text
 */
export function putPosition(place, picture, text) {
  if (picture) {
    const drawing = new DOMParser().parseFromString(picture, "image/svg+xml").documentElement;
    place.replaceChildren(document.importNode(drawing, true));
  } else {
    const words = document.createElement("pre");
    words.tabIndex = 0;
    words.textContent = text;
    place.replaceChildren(words);
  }
}

/** The boards that an element shows. */
export class Stage {
  /**
   * @param {HTMLElement} place
   * @param {number} most boards at once
   * @param {HTMLElement | null} said where ends of matches are said to those who do not see them
   */
  constructor(place, most, said) {
    this.place = place;
    this.most = most;
    this.said = said;
    this.announced = 0;
    this.paused = false;
    /** @type {Board[]} */
    this.latest = [];
    /** @type {Map<string, Shown>} */
    this.shown = new Map();
  }

  /** @param {Board[]} boards */
  show(boards) {
    this.latest = boards;
    if (this.paused && this.shown.size) return;
    if (!this.shown.size) this.place.replaceChildren();
    const first = [...boards].sort((a, b) => Number(this.shown.has(b.id)) - Number(this.shown.has(a.id)));
    const chosen = new Set(first.slice(0, this.most).map((board) => board.id));
    for (const [id, shown] of this.shown) {
      if (chosen.has(id)) continue;
      shown.remove();
      this.shown.delete(id);
    }
    for (const board of boards) {
      if (!chosen.has(board.id)) continue;
      let shown = this.shown.get(board.id);
      if (!shown) {
        shown = new Shown(board);
        this.shown.set(board.id, shown);
        this.place.append(shown.article);
      }
      shown.play(board, (words) => this.say(words));
    }
  }

  /** @param {boolean} paused */
  pause(paused) {
    this.paused = paused;
    if (paused) for (const shown of this.shown.values()) shown.stop();
    else this.show(this.latest);
  }

  /** @param {string} words */
  say(words) {
    if (!this.said || Date.now() - this.announced < ANNOUNCE_AFTER) return;
    this.announced = Date.now();
    this.said.textContent = words;
  }
}

/** One board. */
class Shown {
  /** @param {Board} board */
  constructor(board) {
    const parsed = new DOMParser().parseFromString(board.html, "text/html");
    this.article = /** @type {HTMLElement} */ (document.importNode(parsed.querySelector("article"), true));
    this.ply = -1;
    /** @type {number[]} */
    this.timers = [];
    /** @type {(() => void) | null} */
    this.last = null;
  }

  /**
   * Show the plies of an event that are new, one after the other.
   * @param {Board} board
   * @param {(words: string) => void} say
   */
  play(board, say) {
    this.stop();
    const end = board.frames[board.frames.length - 1];
    const fresh = board.frames.filter((frame) => frame.ply > this.ply);
    const frames = this.ply > end.ply || this.ply < 0 ? [end] : fresh;
    const step = TICK / Math.max(1, frames.length);
    this.last = () => {
      this.draw(board, end);
      if (board.verdict) this.finish(board, say);
      this.last = null;
    };
    frames.slice(0, -1).forEach((frame, index) => {
      this.timers.push(window.setTimeout(() => this.draw(board, frame), index * step));
    });
    this.timers.push(window.setTimeout(() => this.last?.(), Math.max(0, frames.length - 1) * step));
  }

  /** Show what was still to come at once. */
  stop() {
    for (const timer of this.timers) clearTimeout(timer);
    this.timers = [];
    this.last?.();
  }

  remove() {
    for (const timer of this.timers) clearTimeout(timer);
    this.article.remove();
  }

  /** @param {string} name */
  part(name) {
    return this.article.querySelector(`[data-${name}]`);
  }

  /**
   * @param {Board} board
   * @param {Frame} frame
   */
  draw(board, frame) {
    if (frame.ply === this.ply) return;
    this.ply = frame.ply;
    const place = this.part("picture");
    if (place) putPosition(place, frame.picture, frame.text);
    const caption = this.part("caption");
    if (caption) caption.textContent = frame.ply ? `Ply ${frame.ply}${frame.says ? `: ${frame.says}` : ""}` : "Before the first ply";
    const meters = this.article.querySelectorAll("meter");
    const numbers = this.article.querySelectorAll("[data-value]");
    frame.values.forEach((value, seat) => {
      if (meters[seat]) meters[seat].value = value ?? 0;
      if (numbers[seat]) numbers[seat].textContent = value === null ? "says nothing" : signed(value);
    });
    this.part("graph")?.setAttribute("viewBox", `0 -1.1 ${Math.max(MIN_GRAPH_PLIES, frame.ply)} 2.2`);
    this.article.querySelectorAll("polyline").forEach((line, seat) => line.setAttribute("points", board.curves[seat]));
  }

  /**
   * @param {Board} board
   * @param {(words: string) => void} say
   */
  finish(board, say) {
    const [verdict, words, link] = ["verdict", "words", "address"].map((name) => this.part(name));
    if (!verdict || !words || !link || !verdict.hasAttribute("hidden")) return;
    words.textContent = board.verdict;
    link.setAttribute("href", board.address);
    verdict.removeAttribute("hidden");
    say(`${this.article.getAttribute("aria-label")}: ${board.verdict}`);
  }
}

/** @param {number} value */
function signed(value) {
  const text = Math.abs(value).toFixed(2);
  return `${value < 0 && text !== "0.00" ? "-" : "+"}${text}`;
}

/**
 * Make a button pause and go on; with reduced motion it is paused from the start.
 * @param {HTMLElement | null} button
 * @param {(paused: boolean) => void} set
 */
export function pauseButton(button, set) {
  let paused = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const tell = () => {
    if (button) button.textContent = paused ? "Go on" : "Pause";
    set(paused);
  };
  if (button) button.hidden = false;
  button?.addEventListener("click", () => {
    paused = !paused;
    tell();
  });
  tell();
}

const place = document.getElementById("watch");
if (place?.dataset.live) {
  const stage = new Stage(place, 4, document.getElementById("watch-said"));
  const button = document.getElementById("watch-pause");
  pauseButton(button, (paused) => stage.pause(paused));
  if (button) button.hidden = !place.children.length;
  watch(place.dataset.live, (boards) => {
    document.getElementById("watch-none")?.toggleAttribute("hidden", boards.length > 0);
    if (button) button.hidden = !boards.length;
    stage.show(boards);
  });
}
