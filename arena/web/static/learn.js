/** A guided first match: set positions with one task each. */
import { Board, ask, find, make, narrow, tell } from "./board.js";
import { root } from "./page.js";

const page = find("learn");
const game = page.dataset.game ?? "";
/** @type {{title: string, task: string, game: string, players: number, position: string, moves: string, solutions: string[], praise: string, hint: string}[]} */
const tasks = JSON.parse(page.dataset.tasks ?? "[]");
/** @type {Set<number>} */
const solved = new Set();
let number = 0;
let you = 0;
const board = new Board(
  find("board"),
  find("explain"),
  (action) => choose(action),
  (what, parts) => ask(`${root}/analysis/${what}?${query()}&${parts}`),
  (sentence) => tell(find("status"), sentence),
);

/** @param {string} [move] */
function query(move = "") {
  const { players, position, moves } = tasks[number];
  const fields = { game: tasks[number].game || game, players: String(players), position, moves: `${moves} ${move}`.trim(), you: String(you), narrow: narrow.matches ? "1" : "0" };
  return new URLSearchParams(fields);
}

async function start() {
  const task = tasks[number];
  find("lesson-title").textContent = `${number + 1}. ${task.title}`;
  find("task").textContent = task.task;
  for (const id of ["praise", "again", "next", "play"]) find(id).hidden = true;
  you = 0;
  let data = await ask(`${root}/analysis/state?${query()}`);
  if (data && !data.error && data.seat > 0) {
    you = data.seat;
    data = await ask(`${root}/analysis/state?${query()}`);
  }
  if (!data || data.error) return find("status").replaceChildren(data?.error ?? "The server does not answer.");
  board.players = Array.from({ length: task.players }, (_, seat) => (seat === you ? "You" : ["Blue", "Orange", "Green", "Pink", "Sky"][seat]));
  board.show(data);
  tell(find("status"), data.prompt);
  find("lessons").replaceChildren(...tasks.map(entry));
}

/** @param {{title: string}} task @param {number} at */
function entry(task, at) {
  const link = make("a", { href: `#${at + 1}`, ...(at === number ? { "aria-current": "step" } : {}) }, task.title);
  return make("li", {}, link, solved.has(at) ? " ✓" : "");
}

/** @param {import("./board.js").Action} action */
async function choose(action) {
  const task = tasks[number];
  const right = task.solutions.includes(action.text);
  const [told, after] = await Promise.all([ask(`${root}/analysis/told?${query()}&action=${action.action}`), ask(`${root}/analysis/state?${query(action.text)}`)]);
  if (after && !after.error) board.show({ ...after, legal: [] }, right ? "The task is done: go on below." : "Press Try again below: the task begins where it began.", told?.motions ?? []);
  const what = told?.text ? `${told.text} ` : "";
  find("status").textContent = right ? "Done: go on below the board." : "Not yet: see below the board.";
  find("praise").textContent = right ? `Well done. ${what}${task.praise}` : `That is legal, but not the task. ${what}${task.hint}`;
  find("praise").classList.toggle("missed", !right);
  find("praise").hidden = false;
  if (right) solved.add(number);
  const last = number === tasks.length - 1;
  find("again").hidden = right;
  find("next").hidden = !right || last;
  find("play").hidden = !(right && last);
  find("lessons").replaceChildren(...tasks.map(entry));
  const button = right ? (last ? find("play") : find("next")) : find("again");
  button.focus();
}

function fromAddress() {
  number = Math.min(tasks.length, Math.max(1, Number(location.hash.slice(1)) || 1)) - 1;
  return start();
}

/** Read on at the task, which is above the board. @param {() => Promise<void>} begin */
async function goTo(begin) {
  await begin();
  find("lesson-title").focus({ preventScroll: true });
  find("lesson-title").scrollIntoView();
}

find("again").addEventListener("click", () => goTo(start));
find("next").addEventListener("click", () => {
  location.hash = String(number + 2);
});
addEventListener("hashchange", () => goTo(fromAddress));
narrow.addEventListener("change", start);
fromAddress();
