/**
 * A board that can be clicked. The server says which parts of the drawing stand for which action; nothing here knows
 * any rule.
 * @typedef {{action: number, text: string, parts: string[]}} Action
 * @typedef {{svg: string, text: string, touch: boolean, legal: Action[], seat: number, rolls: boolean}} Position
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
  return root.localName === "svg" ? /** @type {any} */ (document.importNode(root, true)) : null;
}

/** @param {string} part */
export function words(part) {
  return part.replace(/[-_]+/g, " ").trim();
}

/** @param {number} value */
function signed(value) {
  return `${value < -0.0005 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

export class Board {
  /**
   * @param {HTMLElement} place
   * @param {HTMLElement} explain where it says what was clicked in vain
   * @param {(action: Action) => void} choose
   * @param {(parts: URLSearchParams) => Promise<{why?: string} | null>} reason asks why parts cannot be clicked in order
   */
  constructor(place, explain, choose, reason) {
    this.place = place;
    this.explain = explain;
    this.choose = choose;
    this.reason = reason;
    /** @type {string[] | null} What was clicked in vain last, while nothing else has happened. */
    this.refused = null;
    /** @type {Action[]} */
    this.legal = [];
    /** @type {string[]} */
    this.chosen = [];
    this.why = "";
    place.addEventListener("click", (event) => this.click(event.target));
    place.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        if (!this.click(event.target)) return;
        event.preventDefault();
        const next = this.place.querySelector(".can");
        if (this.chosen.length && next instanceof SVGElement) next.focus();
      }
    });
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.chosen.length) this.start("");
    });
  }

  /**
   * Show a position; `why` says why nothing can be chosen, when nothing can.
   * @param {Position} position
   * @param {string} why
   */
  show(position, why = "") {
    const svg = drawing(position.svg);
    if (svg) this.place.replaceChildren(svg);
    else this.place.replaceChildren(make("pre", {}, position.text));
    this.legal = position.touch ? position.legal : [];
    this.touch = position.touch;
    this.why = why;
    if (svg && this.legal.length) svg.setAttribute("role", "group");
    this.start("");
  }

  /** @param {string} told */
  start(told) {
    this.chosen = [];
    this.refused = null;
    this.mark();
    this.explain.textContent = told;
  }

  /** The parts that can be clicked next. */
  next() {
    const step = this.chosen.length;
    const open = this.legal.filter((each) => this.chosen.every((part, at) => each.parts[at] === part));
    return new Set(open.map((each) => each.parts[step]));
  }

  mark() {
    const next = this.next();
    for (const part of this.place.querySelectorAll("[data-part]")) {
      const name = part.getAttribute("data-part") ?? "";
      const can = next.has(name);
      part.classList.toggle("can", can);
      part.classList.toggle("picked", this.chosen.includes(name));
      if (can || this.chosen.includes(name)) {
        part.setAttribute("tabindex", "0");
        part.setAttribute("role", "button");
        part.setAttribute("aria-label", words(name));
      } else {
        for (const each of ["tabindex", "role", "aria-label"]) part.removeAttribute(each);
      }
    }
  }

  /**
   * The part that a click means: of parts inside each other one that can be clicked, else the innermost one.
   * @param {EventTarget | null} target
   */
  meant(target) {
    /** @type {string[]} */
    const names = [];
    for (let at = target instanceof Element ? target : null; at && at !== this.place; at = at.parentElement) {
      const name = at.getAttribute("data-part");
      if (name) names.push(name);
    }
    const wanted = [this.next(), new Set(this.chosen), new Set(this.legal.map((each) => each.parts[0]))];
    return wanted.map((set) => names.find((name) => set.has(name))).find(Boolean) ?? names[0];
  }

  /**
   * Say why a part cannot be clicked: by a rule of the game, or where the server tells none, in general.
   * @param {string} name
   */
  async refuse(name) {
    const parts = [...this.chosen, name];
    const after = this.chosen.length ? ` after ${this.chosen.map(words).join(", ")}` : "";
    this.refused = parts;
    const told = await this.reason(new URLSearchParams(parts.map((part) => ["part", part]))).catch(() => null);
    if (this.refused !== parts) return;
    this.explain.textContent = told?.why || `${words(name)} is not a legal target${after}: choose one of the marked parts.`;
  }

  /** @param {EventTarget | null} target @returns {boolean} whether it was a part */
  click(target) {
    const name = this.meant(target);
    this.refused = null;
    if (!name) {
      if (target instanceof Element && target.closest("svg")) {
        this.explain.textContent = this.why || (this.legal.length ? "That is no part to click: choose one of the marked ones." : "");
      }
      return false;
    }
    if (!this.legal.length) {
      this.explain.textContent = this.why || "Choose from the list of actions below the board.";
      return true;
    }
    if (this.chosen.includes(name) && !this.next().has(name)) {
      this.start("Nothing is chosen now.");
      return true;
    }
    if (!this.next().has(name)) {
      const first = new Set(this.legal.map((each) => each.parts[0]));
      if (first.has(name)) this.chosen = [];
      else {
        this.refuse(name);
        return true;
      }
    }
    this.chosen.push(name);
    const done = this.legal.find(
      (each) => each.parts.length === this.chosen.length && each.parts.every((each, at) => each === this.chosen[at]),
    );
    if (done) {
      this.legal = [];
      this.start("");
      this.choose(done);
    } else {
      this.explain.textContent = `${this.chosen.map(words).join(", ")}: now choose one of the marked parts. Escape starts over.`;
      this.mark();
    }
    return true;
  }
}

/**
 * Show every action as a button; with a preview of what it leads to, where the board cannot be clicked.
 * @param {Position} position
 * @param {(action: Action) => void} choose
 * @param {(action: Action) => Promise<{svg?: string} | null>} preview
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
      const svg = after?.svg ? drawing(after.svg) : null;
      if (svg && place.contains(button)) seen.replaceChildren(make("p", { class: "faint" }, `after ${each.text}:`), svg);
    };
    if (!position.touch && !position.rolls) {
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
 */
export function showFound(found, withActions, choose) {
  const values = find("values");
  const place = find("found");
  values.hidden = !found.values.length;
  if (found.values.length) {
    values.replaceChildren(
      make(
        "div",
        { class: "bars", role: "img", "aria-label": `Expected returns: ${found.values.map((/** @type {number} */ v, /** @type {number} */ s) => `seat ${s} ${signed(v)}`).join(", ")}` },
        ...found.values.map((/** @type {number} */ value, /** @type {number} */ seat) => {
          const share = Math.max(0, Math.min(1, (value + 1) / 2));
          const fill = make("div", { class: `fill fill-${seat}` });
          fill.style.width = `${100 * share}%`;
          const bar = make("div", { class: "value-bar", title: `seat ${seat}: ${value.toFixed(3)}` }, fill);
          return make("div", { class: "value" }, make("span", { class: `seat seat-${seat}` }, String(seat)), bar, make("span", { class: "number" }, signed(value)));
        }),
      ),
    );
  }
  place.hidden = false;
  const doing = found.preparing || (found.running ? "searching" : found.proven ? "proven" : "done");
  const head = found.line ? found.line : `${found.simulations.toLocaleString()} simulations, ${doing}`;
  const caption = make("caption", {}, `${head}; returns from −1 (last) to +1 (first)`);
  if (!withActions || !found.best.length) {
    place.replaceChildren(make("p", { class: "faint" }, head));
    return;
  }
  const rows = found.best.slice(0, 8).map((/** @type {any} */ each) => {
    const word = choose ? make("button", { type: "button" }, each.text) : make("span", {}, each.text);
    if (choose) word.addEventListener("click", () => choose(each.action));
    const value = each.value === null ? "" : `${signed(each.value)}${each.proven ? " proven" : ""}`;
    return make(
      "tr",
      {},
      make("td", {}, word),
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
