/**
 * A board that can be clicked. The server says which parts of the drawing stand for which action; nothing here knows
 * any rule.
 * @typedef {{action: number, text: string, parts: string[]}} Action
 * @typedef {{text: string, parts: string[], motions: string[][], section: string, anchor: string}} Sentence
 * @typedef {{svg: string, text: string, touch: boolean, legal: Action[], seat: number, rolls: boolean, prompt?: Sentence}} Position
 */

/** @param {string} id */
export function find(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}

/**
 * @param {string} name
 * @param {Record<string, string>} attributes
 * @param {(Node | string)[]} inside
 */
export function make(name, attributes = {}, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}

/** @param {string} text @returns {SVGSVGElement | null} */
function drawing(text) {
  const root = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (root.localName !== "svg") return null;
  const drawn = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (document.importNode(root, true)));
  const height = drawn.viewBox.baseVal?.height;
  if (height) drawn.style.maxHeight = `max(66vh, ${(narrow.matches ? 1.02 : LEAST_SCALE) * height}px)`;
  return drawn;
}

/** @param {string} part */
export function words(part) {
  return part.replace(/(?<![-,])[-_]/g, " ").trim();
}

/** @param {number} value */
function signed(value) {
  return `${value < -0.0005 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

/** Whether the screen is narrow: then the server is asked for the narrow drawing. */
export const narrow = matchMedia("(max-width: 50rem)");
/** Whether fingers are what points: then no keys are spoken of. */
const touched = matchMedia("(pointer: coarse)");

const SIZES = /** @type {Record<string, string>} */ ({ S: "small", M: "medium", L: "large", O: "stone" });
/** The smallest letters of a wide drawing are of 12 units, which are then 11 pixels. */
const LEAST_SCALE = 0.92;
const MOVE_MILLISECONDS = 280;
const LEAST_TARGET = 24;
const MANY_MARKS = 40;
const TYPING_MILLISECONDS = 900;

export class Board {
  /**
   * @param {HTMLElement} place
   * @param {HTMLElement} explain where it says what was clicked in vain
   * @param {(action: Action) => void} choose
   * @param {(what: string, parts: URLSearchParams) => Promise<any>} ask asks `why` parts cannot be clicked in order, or for the `prompt` after them
   * @param {(sentence: Sentence) => void} say shows what is to be done next
   */
  constructor(place, explain, choose, ask, say) {
    this.place = place;
    this.explain = explain;
    this.choose = choose;
    this.ask = ask;
    this.say = say;
    /** @type {string[] | null} What was asked about last, while nothing else has happened. */
    this.asked = null;
    /** @type {Action[]} */
    this.legal = [];
    /** @type {string[]} */
    this.chosen = [];
    /** @type {string[]} What players are called, by seat. */
    this.players = [];
    this.why = "";
    /** @type {Sentence | null} */
    this.prompt = null;
    /** Whether the board was last used by keys: then they go on there when the drawing is replaced. */
    this.byKeys = false;
    this.typed = "";
    this.typedAt = 0;
    place.addEventListener("click", (event) => this.click(event.target, event));
    place.addEventListener("pointerdown", () => (this.byKeys = false));
    place.addEventListener("keydown", (event) => this.key(event));
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.chosen.length) this.start("");
      else if (event.target === document.body) this.type(event);
    });
  }

  /**
   * Show a position; `why` says why nothing can be chosen, when nothing can.
   * @param {Position} position
   * @param {string} why
   * @param {string[][]} motions pieces that have moved, from part to part
   */
  show(position, why = "", motions = []) {
    const before = places(this.place);
    const focused = this.place.contains(document.activeElement);
    const svg = drawing(position.svg);
    if (svg) this.place.replaceChildren(svg);
    else this.place.replaceChildren(make("pre", { tabindex: "0" }, position.text));
    this.legal = position.touch ? position.legal : [];
    this.touch = position.touch;
    this.why = why;
    this.prompt = position.prompt ?? null;
    if (svg) animate(svg, before, motions);
    if (svg && this.legal.length) svg.setAttribute("role", "group");
    this.start("");
    if (this.byKeys && (focused || document.activeElement === document.body)) this.focusNext();
  }

  /** Put the focus on the first part that can be clicked. */
  focusNext() {
    const next = this.place.querySelector(".can");
    if (next instanceof SVGElement) next.focus();
  }

  /** @param {string} told */
  start(told) {
    this.chosen = [];
    this.asked = null;
    this.mark();
    this.explain.textContent = told;
    if (this.prompt && this.legal.length) this.say(this.prompt);
  }

  /** The parts that can be clicked next. */
  next() {
    const step = this.chosen.length;
    const open = this.legal.filter((each) => this.chosen.every((part, at) => each.parts[at] === part));
    return new Set(open.map((each) => each.parts[step]));
  }

  mark() {
    const next = this.next();
    this.place.classList.toggle("many", next.size > MANY_MARKS);
    for (const part of this.place.querySelectorAll("[data-part]")) {
      const name = part.getAttribute("data-part") ?? "";
      const can = next.has(name);
      part.classList.toggle("can", can);
      part.classList.toggle("picked", this.chosen.includes(name));
      if (can || this.chosen.includes(name)) {
        part.setAttribute("tabindex", "0");
        part.setAttribute("role", "button");
        part.setAttribute("aria-label", this.label(name));
      } else {
        for (const each of ["tabindex", "role", "aria-label"]) part.removeAttribute(each);
      }
    }
  }

  /** A player as an owner. @param {string} seat */
  whose(seat) {
    const owner = this.players[Number(seat)] ?? `seat ${seat}`;
    return owner === "You" ? "your" : `${owner}'s`;
  }

  /** What a part is called, with its player's name and its size in a word. @param {string} part */
  label(part) {
    const drawn = [...this.place.querySelectorAll("[data-label]")].find((each) => each.getAttribute("data-part") === part);
    if (drawn) return (drawn.getAttribute("data-label") ?? "").replace(/tile (\d)/, (_, seat) => `${this.whose(seat)} tile`);
    const turn = /^turn-(\d)$/.exec(part);
    if (turn) return turn[1] === "0" ? "not turned" : `${90 * Number(turn[1])}° clockwise`;
    const ring = /^tile-([LMSO]{2,})$/.exec(part);
    if (ring) return `${[...ring[1]].map((letter) => SIZES[letter]).join(", ")}, clockwise`;
    const found = /^(hand|fighter|tile)-(\d)(?:-(\w))?$/.exec(part);
    if (!found) return words(part);
    const own = this.whose(found[2]);
    const size = SIZES[found[3]] ?? found[3];
    if (found[1] === "hand") return `${own} ${size} piece in hand`;
    if (found[1] === "tile") return `${own} tile`;
    return size === "stone" ? `${own} stone` : `${own} ${size} fighter`;
  }

  /**
   * The part that a click means: of what lies at the point a part that can be clicked, else the innermost part, else a
   * part that can be clicked and whose box has the point, or is too small to be hit.
   * @param {EventTarget | null} target
   * @param {MouseEvent | null} event
   */
  meant(target, event) {
    const inner = around(target, this.place);
    const pointed = event && (event.clientX || event.clientY) ? document.elementsFromPoint(event.clientX, event.clientY) : [];
    const under = pointed.flatMap((element) => (this.place.contains(element) ? around(element, this.place) : []));
    const names = [...inner, ...under];
    const next = this.next();
    const wanted = [next, new Set(this.chosen), new Set(this.legal.map((each) => each.parts[0]))];
    const found = wanted.map((set) => names.find((name) => set.has(name))).find(Boolean);
    if (found) return found;
    const near = event && pointed.length ? this.near(event.clientX, event.clientY) : undefined;
    return (inner.length ? undefined : near) ?? inner[0] ?? near;
  }

  /** The smallest marked part whose box has a point, made as large as a finger needs. @param {number} x @param {number} y */
  near(x, y) {
    let best;
    let least = Infinity;
    for (const part of this.place.querySelectorAll(".can")) {
      const box = part.getBoundingClientRect();
      const across = Math.max(0, LEAST_TARGET - box.width) / 2;
      const down = Math.max(0, LEAST_TARGET - box.height) / 2;
      const inside = x >= box.left - across && x <= box.right + across && y >= box.top - down && y <= box.bottom + down;
      if (inside && box.width * box.height < least) {
        least = box.width * box.height;
        best = part.getAttribute("data-part") ?? undefined;
      }
    }
    return best;
  }

  /**
   * Say why a part cannot be clicked: by a rule of the game, or where the server tells none, in general.
   * @param {string} name
   */
  async refuse(name) {
    const parts = [...this.chosen, name];
    const after = this.chosen.length ? ` after ${this.chosen.map((part) => this.label(part)).join(", ")}` : "";
    this.asked = parts;
    const told = await this.ask("why", query(parts)).catch(() => null);
    if (this.asked !== parts) return;
    const why = told?.why || `${this.label(name)} is not a legal target${after}: choose one of the marked parts.`;
    this.refusal(why, ...(told?.section ? [" ", ruleLink(told)] : []));
  }

  /** Say why a click does nothing, where whoever clicked sees it. @param {string} why @param {(Node | string)[]} more */
  refusal(why, ...more) {
    this.explain.replaceChildren(why, ...more);
    if (why) this.explain.scrollIntoView({ block: "nearest" });
  }

  /** Say what is to be clicked after the parts chosen. */
  async askNext() {
    const parts = [...this.chosen];
    this.asked = parts;
    const told = await this.ask("prompt", query(parts)).catch(() => null);
    if (this.asked === parts && told?.text) this.say(told);
  }

  /** @param {EventTarget | null} target @param {MouseEvent | null} event @returns {boolean} whether it was a part */
  click(target, event = null) {
    const name = this.meant(target, event);
    this.asked = null;
    if (!name) {
      if (target instanceof Element && target.closest("svg")) {
        this.refusal(this.why || (this.legal.length ? "That is no part to click: choose one of the marked ones." : ""));
      }
      return false;
    }
    this.pick(name);
    return true;
  }

  /** @param {string} name */
  pick(name) {
    if (!this.legal.length) {
      this.refusal(this.why || "Choose from the list of actions below the board.");
      return;
    }
    if (this.chosen.includes(name) && !this.next().has(name)) {
      this.start("Nothing is chosen now.");
      return;
    }
    if (!this.next().has(name)) {
      if (!this.legal.some((each) => each.parts[0] === name)) {
        this.refuse(name);
        return;
      }
      this.chosen = []; // another piece is meant
    }
    this.chosen.push(name);
    const done = this.legal.find(
      (each) => each.parts.length === this.chosen.length && each.parts.every((part, at) => part === this.chosen[at]),
    );
    if (done) {
      this.legal = [];
      this.start("");
      this.choose(done);
      return;
    }
    const chosen = this.chosen.map((part) => this.label(part)).join(", ").replace(/^your/, "Your");
    this.explain.textContent = `${chosen}: now choose one of the marked parts. ${touched.matches ? "Tap it again" : "Click it again, or press Escape,"} to start over.`;
    this.mark();
    this.askNext();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    this.byKeys = true;
    if (event.key === "Enter" || event.key === " ") {
      if (!this.click(event.target)) return;
      event.preventDefault();
      if (this.chosen.length) this.focusNext();
    } else if (/^Arrow/.test(event.key)) {
      const marked = /** @type {SVGElement[]} */ ([...this.place.querySelectorAll(".can")]);
      const at = marked.indexOf(/** @type {any} */ (document.activeElement));
      if (!marked.length) return;
      event.preventDefault();
      const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
      marked[(at + step + marked.length) % marked.length].focus();
    } else this.type(event);
  }

  /**
   * Choose a part by what is typed: a piece by its letter, a cell by its coordinates.
   * @param {KeyboardEvent} event
   */
  type(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || !/^[A-Za-z0-9]$/.test(event.key) || !this.legal.length) return;
    const now = performance.now();
    const ends = new Map([...this.next()].filter(Boolean).map((part) => [part, part.slice(part.lastIndexOf("-") + 1).toLowerCase()]));
    const letter = event.key.toLowerCase();
    const typed = (now - this.typedAt < TYPING_MILLISECONDS ? this.typed : "") + letter;
    this.typed = [...ends.values()].some((end) => end.startsWith(typed)) ? typed : letter; // what nothing begins with was a slip
    this.typedAt = now;
    const same = [...ends].filter(([, end]) => end === this.typed).map(([part]) => part);
    const longer = [...ends].some(([, end]) => end !== this.typed && end.startsWith(this.typed));
    if (!same.length) return;
    this.byKeys = true;
    event.preventDefault();
    const element = [...this.place.querySelectorAll(".can")].find((part) => part.getAttribute("data-part") === same[0]);
    if (same.length === 1 && !longer) {
      this.typed = "";
      this.pick(same[0]);
      if (this.chosen.length) this.focusNext();
    } else if (element instanceof SVGElement) element.focus(); // Enter takes it
  }
}

/** The names of the parts that an element is in, the innermost first. @param {EventTarget | null} target @param {Element} place */
function around(target, place) {
  /** @type {string[]} */
  const names = [];
  for (let at = target instanceof Element ? target : null; at && at !== place; at = at.parentElement) {
    const name = at.getAttribute("data-part");
    if (name) names.push(name);
  }
  return names;
}

/** @param {string[]} parts */
function query(parts) {
  return new URLSearchParams(parts.map((part) => ["part", part]));
}

/** Where pieces and parts of a drawing are. @param {Element} place */
function places(place) {
  const pieces = new Map([...place.querySelectorAll("[data-piece]")].map((piece) => [piece.getAttribute("data-piece") ?? "", piece.getBoundingClientRect()]));
  const parts = new Map([...place.querySelectorAll("[data-part]")].map((part) => [part.getAttribute("data-part") ?? "", part.getBoundingClientRect()]));
  return { pieces, parts };
}

/**
 * Have pieces that are new where they stand come from where they were.
 * @param {SVGSVGElement} svg
 * @param {{pieces: Map<string, DOMRect>, parts: Map<string, DOMRect>}} before
 * @param {string[][]} motions
 */
function animate(svg, before, motions) {
  if (!before.pieces.size || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const scale = svg.getScreenCTM()?.a || 1;
  const now = [...svg.querySelectorAll("[data-piece]")];
  const names = new Set(now.map((piece) => piece.getAttribute("data-piece")));
  const gone = [...before.pieces].filter(([name]) => !names.has(name));
  for (const piece of now) {
    const name = piece.getAttribute("data-piece") ?? "";
    if (before.pieces.has(name)) continue;
    const kind = name.split("@")[0];
    const at = gone.findIndex(([other]) => other.split("@")[0] === kind);
    const source = motions.find(([from, to]) => from && around(piece, svg).includes(to))?.[0];
    const from = at >= 0 ? gone.splice(at, 1)[0][1] : source && before.parts.get(source);
    if (!from) continue;
    const to = piece.getBoundingClientRect();
    const across = (from.left + from.width / 2 - to.left - to.width / 2) / scale;
    const down = (from.top + from.height / 2 - to.top - to.height / 2) / scale;
    const frames = [{ transform: `translate(${across}px, ${down}px)` }, { transform: "none" }];
    piece.animate(frames, { duration: MOVE_MILLISECONDS, easing: "ease-out" });
  }
}

/** A link that opens the rules beside the board at a section. @param {Sentence} sentence */
export function ruleLink(sentence) {
  const link = make("a", { href: `#rules-${sentence.anchor}`, class: "rule" }, sentence.section);
  link.addEventListener("click", (event) => {
    const box = document.getElementById("rules");
    const heading = document.getElementById(`rules-${sentence.anchor}`);
    if (!(box instanceof HTMLDetailsElement) || !heading) return;
    event.preventDefault();
    box.open = true;
    heading.scrollIntoView({ block: "start" });
    heading.focus({ preventScroll: true });
  });
  return link;
}

/** Show a sentence in an element, with a link to its rule. @param {HTMLElement} place @param {Sentence} sentence */
export function tell(place, sentence) {
  place.replaceChildren(sentence.text);
  if (sentence.section && document.getElementById(`rules-${sentence.anchor}`)) place.append(" ", ruleLink(sentence));
}

const PIPS = /** @type {Record<string, number[][]>} */ ({
  1: [[10, 10]],
  2: [[5, 15], [15, 5]],
  3: [[5, 15], [10, 10], [15, 5]],
  4: [[5, 5], [15, 5], [5, 15], [15, 15]],
  5: [[5, 5], [15, 5], [10, 10], [5, 15], [15, 15]],
  6: [[5, 5], [5, 10], [5, 15], [15, 5], [15, 10], [15, 15]],
});

/** A die with one face up: pips, an `a`ce, or a `b`lank. @param {string} face */
export function die(face) {
  const space = "http://www.w3.org/2000/svg";
  const title = face === "b" ? "blank: stands for a face of another die" : face === "a" ? "ace" : face;
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of [["class", "die"], ["viewBox", "0 0 20 20"], ["role", "img"], ["aria-label", title]]) svg.setAttribute(key, value);
  const label = document.createElementNS(space, "title");
  label.textContent = title;
  const box = document.createElementNS(space, "rect");
  for (const [key, value] of [["x", "1"], ["y", "1"], ["width", "18"], ["height", "18"], ["rx", "4"]]) box.setAttribute(key, value);
  svg.append(label, box);
  if (face === "a") {
    const star = document.createElementNS(space, "path");
    star.setAttribute("d", "M10 3l2 5h5l-4 3.4 1.6 5.1L10 13.4 5.4 16.5 7 11.4 3 8h5z");
    svg.append(star);
  }
  for (const [x, y] of PIPS[face] ?? []) {
    const pip = document.createElementNS(space, "circle");
    for (const [key, value] of [["cx", String(x)], ["cy", String(y)], ["r", "2"]]) pip.setAttribute(key, value);
    svg.append(pip);
  }
  return svg;
}

/**
 * Show every action as a button, with what it does in words; with a drawing too, where the board cannot be clicked.
 * @param {Position} position
 * @param {(action: Action) => void} choose
 * @param {(action: Action) => Promise<{svg?: string, says?: string, error?: string} | null>} preview
 */
export function list(position, choose, preview) {
  const place = find("actions");
  const seen = find("preview");
  seen.replaceChildren();
  place.replaceChildren();
  const box = /** @type {HTMLDetailsElement} */ (find("actions-box"));
  if (position.legal.length && (position.rolls || !position.touch)) box.open = true;
  for (const each of position.legal) {
    const button = make("button", { type: "button", "data-action": String(each.action) }, each.text);
    button.addEventListener("click", () => choose(each));
    const show = async () => {
      const after = await preview(each);
      if (!after || after.error || !place.contains(button)) return;
      const svg = !position.touch && after.svg ? drawing(after.svg) : null;
      seen.replaceChildren(make("p", { class: "faint" }, `${each.text}: ${after.says}`), ...(svg ? [svg] : []));
    };
    if (!position.rolls) {
      button.addEventListener("mouseenter", show);
      button.addEventListener("focus", show);
    }
    place.append(button);
  }
  if (!position.legal.length) place.append(make("p", { class: "faint" }, "No action is due."));
}

/**
 * Show what a search found: bars by seat, and its best actions.
 * @param {any} found
 * @param {boolean} withActions
 * @param {((action: number) => void) | null} choose
 * @param {string[]} players what they are called, by seat
 */
export function showFound(found, withActions, choose, players = []) {
  const called = (/** @type {number} */ seat) => players[seat] ?? `seat ${seat}`;
  const values = find("values");
  const place = find("found");
  values.hidden = !found.values.length;
  if (found.values.length) {
    values.replaceChildren(
      make(
        "div",
        { class: "bars", role: "img", "aria-label": `Expected returns: ${found.values.map((/** @type {number} */ v, /** @type {number} */ s) => `${called(s)} ${signed(v)}`).join(", ")}` },
        ...found.values.map((/** @type {number} */ value, /** @type {number} */ seat) => {
          const share = Math.max(0, Math.min(1, (value + 1) / 2));
          const fill = make("div", { class: `fill fill-${seat}` });
          fill.style.width = `${100 * share}%`;
          const bar = make("div", { class: "value-bar", title: `${called(seat)}: ${value.toFixed(3)}` }, fill);
          return make("div", { class: "value" }, make("span", { class: `seat seat-${seat}` }, called(seat)), bar, make("span", { class: "number" }, signed(value)));
        }),
      ),
    );
  }
  if (place.matches(":active")) return; // a button that is replaced while it is pressed is not clicked
  place.hidden = false;
  const doing = found.preparing || (found.running ? "searching" : found.proven ? "proven" : "done");
  const head = found.line ? found.line : `${found.simulations.toLocaleString()} simulations, ${doing}`;
  const caption = make("caption", {}, `${head}; returns from −1 (last) to +1 (first)`);
  if (!withActions || !found.best.length) {
    place.replaceChildren(make("p", { class: "faint" }, head));
    return;
  }
  const rows = found.best.map((/** @type {any} */ each) => {
    const word = choose ? make("button", { type: "button" }, each.text) : make("span", {}, each.text);
    if (choose) word.addEventListener("click", () => choose(each.action));
    const value = each.value === null ? "" : `${signed(each.value)}${each.proven ? " proven" : ""}`;
    return make(
      "tr",
      {},
      make("td", {}, word, make("small", { class: "says" }, each.says)),
      make("td", { class: "number" }, each.visits.toLocaleString()),
      make("td", { class: "number" }, value),
      make("td", { class: "line" }, each.line.join(" ")),
    );
  });
  const header = make("tr", {}, ...[["Action", ""], ["Visits", "number"], ["Value", "number"], ["Line", ""]].map(([text, kind]) => make("th", { class: kind, scope: "col" }, text)));
  place.replaceChildren(make("table", {}, caption, make("thead", {}, header), make("tbody", {}, ...rows)));
}

/**
 * Fetch data of this server; what it refuses comes as `error`.
 * @param {string} address
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
export async function ask(address, options) {
  const answer = await fetch(address, { cache: "no-store", ...options });
  if (answer.status === 204) return null;
  const isData = answer.headers.get("content-type")?.startsWith("application/json");
  if (isData) return answer.json();
  return { error: answer.status === 404 ? "This match is gone: matches end with the server, and a day after the last look." : `The server answered ${answer.status}.`, gone: answer.status === 404 };
}

/**
 * Change something, or have something searched, with the token of this page.
 * @param {string} address
 * @param {Record<string, string>} fields
 */
export async function change(address, fields = {}) {
  const token = document.querySelector('meta[name="arena-token"]')?.getAttribute("content") ?? "";
  return ask(address, { method: "POST", headers: { "X-Arena-Token": token }, body: new URLSearchParams(fields) });
}

/** @param {number} milliseconds */
export function sleep(milliseconds) {
  return new Promise((done) => setTimeout(done, milliseconds));
}
