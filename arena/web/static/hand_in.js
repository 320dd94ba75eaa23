/** Hands a bot in: by drop, a file or a whole folder, and goes on to the report of its check. */
const form = /** @type {HTMLFormElement | null} */ (document.getElementById("hand-in"));
const drop = document.getElementById("drop");
const problem = document.getElementById("problem");
const sending = document.getElementById("sending");

/** @param {string} words */
function say(words) {
  if (!problem) return;
  problem.textContent = words;
  problem.hidden = !words;
}

/**
 * Return the files of what was dropped, with their paths; folders are walked through.
 * @param {DataTransferItemList} items
 * @returns {Promise<[string, File][]>}
 */
async function dropped(items) {
  /** @type {[string, File][]} */
  const found = [];
  /** @param {FileSystemEntry | null} entry @param {string} path */
  const walk = async (entry, path) => {
    if (entry?.isFile) {
      const file = /** @type {File} */ (await new Promise((take, fail) => /** @type {FileSystemFileEntry} */ (entry).file(take, fail)));
      found.push([path + entry.name, file]);
    } else if (entry?.isDirectory) {
      const reader = /** @type {FileSystemDirectoryEntry} */ (entry).createReader();
      for (;;) {
        const some = /** @type {FileSystemEntry[]} */ (await new Promise((take, fail) => reader.readEntries(take, fail)));
        if (!some.length) break;
        for (const each of some) await walk(each, `${path}${entry.name}/`);
      }
    }
  };
  const entries = [...items].map((item) => item.webkitGetAsEntry());
  for (const entry of entries) await walk(entry, "");
  return found;
}

/**
 * Send files, and go to the page of the version.
 * @param {[string, File][]} files
 */
async function send(files) {
  if (!form || !files.length) return;
  say("");
  if (sending) sending.textContent = "Sending …";
  const body = new FormData();
  body.append("name", String(new FormData(form).get("name") ?? ""));
  for (const [path, file] of files) body.append("files", file, path);
  const token = document.querySelector('meta[name="arena-token"]')?.getAttribute("content") ?? "";
  const answer = await fetch(form.action, { method: "POST", body, headers: { "X-Arena-Token": token } }).catch(() => null);
  const data = await answer?.json().catch(() => null);
  if (sending) sending.textContent = "";
  if (data?.address) location.assign(data.address);
  else say(data?.error ?? (answer?.status === 413 ? "The upload is too large" : "The arena did not take it; try again"));
}

form?.addEventListener("submit", (event) => {
  const files = /** @type {HTMLInputElement | null} */ (document.getElementById("files"))?.files;
  if (!files?.length) return;
  event.preventDefault();
  send([...files].map((file) => [file.name, file]));
});
drop?.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
drop?.addEventListener("dragleave", () => drop.classList.remove("over"));
drop?.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  if (event.dataTransfer) dropped(event.dataTransfer.items).then(send, () => say("The files cannot be read"));
});
