/** Puts what is being computed in its place when an event of the server says that something is there. */
import { localise } from "./page.js";

/** @type {WeakMap<Element, string>} */
const put = new WeakMap();
/** @type {Map<string, EventSource>} */
const sources = new Map();

/** Return the parts of the page that wait for something; those that follow events themselves (live.js) not. */
function waiting() {
  return [...document.querySelectorAll("[data-part]:not([data-events])")].filter((part) => part.querySelector(".waiting"));
}

/** Follow the events of what the page waits for, and of nothing else. */
function follow() {
  const marks = waiting().flatMap((part) => [...part.querySelectorAll(".waiting")]);
  const wanted = new Set(marks.map((mark) => mark.getAttribute("data-waits") ?? ""));
  for (const [address, source] of sources) {
    if (wanted.has(address)) continue;
    source.close();
    sources.delete(address);
  }
  for (const address of wanted) if (address && !sources.has(address)) sources.set(address, listen(address));
}

/** @param {string} address */
function listen(address) {
  const source = new EventSource(address);
  let known = -1;
  source.addEventListener("message", (message) => {
    const { computed } = JSON.parse(message.data);
    if (computed === undefined || computed === known) return;
    known = computed;
    renew();
  });
  return source;
}

let running = false;
let again = false;

/** Put what the server has now in the place of the parts that wait; once more when something has come meanwhile. */
async function renew() {
  again = true;
  if (running) return;
  running = true;
  while (again) {
    again = false;
    const parts = waiting();
    const addresses = new Set(parts.map(addressOf));
    for (const address of addresses) {
      await replace(address, parts.filter((part) => addressOf(part) === address)).catch(() => null);
    }
  }
  running = false;
  follow();
}

/** Return the page that has a part. @param {Element} part */
function addressOf(part) {
  return part.getAttribute("data-address") ?? location.href;
}

/**
 * @param {string} address
 * @param {Element[]} parts
 */
async function replace(address, parts) {
  const answer = await fetch(address);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of parts) {
    const now = page.getElementById(part.id);
    if (!now || put.get(part) === now.innerHTML) continue;
    put.set(part, now.innerHTML);
    const open = [...part.querySelectorAll("details")].map((box) => box.open);
    part.replaceChildren(...now.childNodes);
    [...part.querySelectorAll("details")].forEach((box, index) => { box.open = open[index] ?? false; });
    localise(part);
    part.dispatchEvent(new CustomEvent("renewed", { bubbles: true }));
  }
}

follow();
document.addEventListener("renewed", follow);
