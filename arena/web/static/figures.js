/** Loads figures when they are unfolded, and makes them interactive on request: Vega draws them from their specification. */
import { root as base } from "./page.js";

offer(document);
for (const box of document.querySelectorAll("details[data-load]")) {
  box.addEventListener("toggle", () => load(/** @type {HTMLDetailsElement} */ (box)));
}

/**
 * Put the figures of a board below its heading, the first time that it is unfolded; the link to them stays otherwise.
 * @param {HTMLDetailsElement} box
 */
async function load(box) {
  const address = box.dataset.load;
  if (!box.open || !address) return;
  delete box.dataset.load;
  const answer = await fetch(address).catch(() => null);
  const page = answer?.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
  const figures = page?.querySelector(".board-figures");
  if (!figures) {
    box.dataset.load = address;
    return;
  }
  box.querySelector("p")?.remove();
  box.append(figures);
  figures.dispatchEvent(new CustomEvent("renewed", { bubbles: true }));
}
document.addEventListener("renewed", (event) => offer(/** @type {Element} */ (event.target).parentElement ?? document));

/**
 * Show the buttons of figures, which do nothing without scripts.
 * @param {ParentNode} root
 */
function offer(root) {
  for (const heading of root.querySelectorAll("details.folded h2")) lower(heading);
  for (const button of root.querySelectorAll("button[data-figure]")) {
    button.removeAttribute("hidden");
    button.addEventListener("click", () => explore(/** @type {HTMLButtonElement} */ (button)));
  }
}

/** Make a heading one of what is unfolded, below that of the board. @param {Element} heading */
function lower(heading) {
  const made = document.createElement("h4");
  made.append(...heading.childNodes);
  heading.replaceWith(made);
}

/** @type {Promise<any> | undefined} */
let vega;

/** Return Vega's embedding function; loaded once, when the first figure is touched. */
function embed() {
  vega ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${base}/static/vega.js`;
    script.onload = () => resolve(/** @type {any} */ (window).vegaEmbed);
    script.onerror = () => reject(new Error("Vega could not be loaded"));
    document.head.append(script);
  });
  return vega;
}

/**
 * Put words in the place of a button.
 * @param {HTMLButtonElement} button
 * @param {string} words
 */
function tell(button, words) {
  const said = document.createElement("span");
  said.textContent = words;
  said.setAttribute("role", "status");
  button.replaceWith(said);
}

/** @param {HTMLButtonElement} button */
async function explore(button) {
  const figure = /** @type {HTMLElement} */ (button.closest("figure"));
  const picture = /** @type {HTMLElement} */ (figure.querySelector(".picture"));
  button.disabled = true;
  try {
    const [vegaEmbed, answer] = await Promise.all([embed(), fetch(picture.dataset.spec ?? "")]);
    const spec = await answer.json();
    const place = document.createElement("div");
    picture.replaceChildren(place);
    await vegaEmbed(place, zoomable(spec), {
      ast: true, actions: false, defaultStyle: false, renderer: "svg", tooltip: { disableDefaultStyle: true },
    });
    tell(button, "Scroll to zoom, drag to move, double-click to reset.");
  } catch {
    tell(button, "This figure cannot be made interactive now.");
  }
}

/**
 * Return a specification whose continuous axes can be zoomed and whose marks tell their values.
 * @param {any} spec
 */
function zoomable(spec) {
  const parts = spec.layer ?? [spec];
  for (const part of parts) if (part.mark.type === "text") part.mark.clip = false; // zooming clips what stands beside the axes
  for (const part of parts) part.mark = { ...(typeof part.mark === "string" ? { type: part.mark } : part.mark), tooltip: { content: "data" } };
  const first = parts[0];
  const axes = ["x", "y"].filter((axis) => first.encoding?.[axis]?.type === "quantitative" && !first.encoding[axis].bin);
  if (axes.length) first.params = [...(first.params ?? []), { name: "zoom", select: { type: "interval", encodings: axes }, bind: "scales" }];
  return spec;
}
