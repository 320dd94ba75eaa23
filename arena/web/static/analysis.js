/** The analysis board: any position, the actions from it, and a search that grows while somebody looks. */
import { Board, ask, change, find, list, make, narrow, showFound, sleep, tell } from "./board.js";
import { root } from "./page.js";

const page = find("analysis");
const { game = "", players = "", position = "" } = page.dataset;
let moves = (page.dataset.moves ?? "").split(" ").filter(Boolean);
/** @type {any} */
let now = null;
let searching = 0;
const board = new Board(
  find("board"),
  find("explain"),
  (action) => play(action),
  (what, parts) => ask(`${root}/analysis/${what}?${query()}&${parts}`),
  (sentence) => tell(find("status"), sentence),
);
board.players = (page.dataset.colours ?? "").split(" ");

/** @param {string} id */
const input = (id) => /** @type {HTMLInputElement} */ (find(id));

function query() {
  return new URLSearchParams({ game, players, position, moves: moves.join(" ") });
}

/** @param {{action: number, text: string}} action */
function play(action) {
  moves = [...moves, action.text];
  history.pushState(null, "", `${root}/analysis?${query()}`);
  return show();
}

async function show() {
  searching += 1;
  const data = await ask(`${root}/analysis/state?${query()}&narrow=${narrow.matches ? 1 : 0}`);
  if (!data || data.error) {
    find("status").textContent = data?.error ?? "The server does not answer.";
    return;
  }
  now = data;
  const luck = data.rolling >= 0 ? "Choose how the dice fall" : "Choose what chance brings";
  const played = document.getElementById("played");
  if (played) played.hidden = moves.join(" ") !== page.dataset.moves;
  board.show(data, data.over ? "The match is over here." : data.rolls ? `${luck} below the board.` : "");
  if (data.rolls) find("status").textContent = `${data.prompt.text} ${luck}.`;
  else tell(find("status"), data.prompt);
  find("words").textContent = data.text;
  find("now").textContent = data.position;
  input("moves").value = input("on-moves").value = moves.join(" ");
  input("back").disabled = !moves.length;
  list(data, play, (action) => ask(`${root}/analysis/preview?${query()}&action=${action.action}`));
  find("values").hidden = find("found").hidden = true;
  if (data.seat >= 0) search(searching);
}

/** @param {number} turn */
async function search(turn) {
  while (turn === searching) {
    if (document.hidden) {
      await sleep(1000);
      continue;
    }
    try {
      const found = await change(`${root}/analysis/found?${query()}&limit=${input("budget").value}`);
      if (turn !== searching) return;
      if (!found || found.error) {
        find("found").hidden = false;
        find("found").replaceChildren(make("p", { class: "problem" }, found?.error ?? ""));
        await sleep(3000);
        continue;
      }
      showFound(found, true, (action) => {
        const chosen = now.legal.find((/** @type {any} */ each) => each.action === action);
        if (chosen) play(chosen);
      }, board.players);
      await sleep(found.running ? 250 : 1500);
    } catch {
      await sleep(2000);
    }
  }
}

find("back").addEventListener("click", () => {
  moves = moves.slice(0, -1);
  history.pushState(null, "", `${root}/analysis?${query()}`);
  show();
});
addEventListener("popstate", () => {
  moves = (new URLSearchParams(location.search).get("moves") ?? "").split(" ").filter(Boolean);
  show();
});
if (page.dataset.ready) show();
