/** Fetches the page again while parts of it are being computed, and puts these in their place. */
import { localise } from "./page.js";

const LONGEST = 10_000;
const sleep = (/** @type {number} */ time) => new Promise((resolve) => setTimeout(resolve, time));

/** @type {WeakMap<Element, string>} */
const put = new WeakMap();

/** Return the parts of the page that wait for something. */
function waiting() {
  return [...document.querySelectorAll("[data-part]")].filter((part) => part.querySelector(".waiting"));
}

/** Put what the server has now in the place of the parts that wait. */
async function renew() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of waiting()) {
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

for (let time = 1000; ; ) {
  await sleep(time);
  if (document.hidden || !waiting().length) {
    time = 1000;
    continue;
  }
  await renew().catch(() => null);
  time = Math.min(1.5 * time, LONGEST);
}
