/** From the position of a replay that is shown to the analysis board. */
const link = document.getElementById("analyse");
const slider = document.getElementById("slider");
const LONGEST = 3500;

link?.addEventListener("click", (event) => {
  if (!(link instanceof HTMLAnchorElement) || !(slider instanceof HTMLInputElement)) return;
  const address = new URL(link.href);
  const moves = (link.dataset.moves ?? "").split(" ").slice(0, Number(slider.value)).join(" ");
  if (moves.length > LONGEST) {
    event.preventDefault();
    link.textContent = "Analysis: too many moves for an address";
    return;
  }
  address.searchParams.set("moves", moves);
  link.href = address.href;
});
