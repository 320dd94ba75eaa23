/** What every page does: times in the reader's own time zone. */
const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** @param {ParentNode} root */
export function localise(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const moment = new Date(time.getAttribute("datetime") ?? "");
    if (Number.isNaN(moment.valueOf())) continue;
    time.textContent = format.format(moment);
    time.setAttribute("title", moment.toISOString());
  }
}

/** The path that all addresses of the server are below. */
export const root = document.documentElement.dataset.root ?? "";

localise(document);
