"use strict";
(async () => {
  const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const match = await new Response(stream).json();
  const { plies, pictures, narrow, elements, texts, clocks, players, bots, persons } = match;
  const LEAST_SCALE = 0.92; // the smallest letters of drawings, of 12 units, are then 11 pixels
  const slim = matchMedia("(max-width: 50rem)"); // as in board.js
  const part = (id) => document.getElementById(id);
  part("moves").append(...plies.map(listed));
  const links = [...part("moves").querySelectorAll("a")];
  const most = Math.max(1, ...total(plies.length));
  let events = eventsOf("");
  let shown = -1;
  let timer = null;

  function show(ply, remember = true) {
    ply = Math.max(0, Math.min(plies.length, ply));
    if (ply === shown) return;
    shown = ply;
    draw();
    part("words").textContent = texts[ply];
    part("slider").value = ply;
    part("caption").textContent = caption(ply);
    part("note").textContent = ply && plies[ply - 1].note ? `Note: ${plies[ply - 1].note}` : "";
    part("expected").textContent = expected(ply);
    for (const end of ["x1", "x2"]) part("cursor")?.setAttribute(end, plies.length ? (600 * ply) / plies.length : 0);
    for (const link of links) link.removeAttribute("aria-current");
    if (ply) {
      const link = links[ply - 1];
      link.setAttribute("aria-current", "step");
      const list = part("moves");
      list.scrollTop = link.parentElement.offsetTop - list.clientHeight / 2;
    }
    showClocks(ply);
    showEvents();
    showShare(ply);
    if (remember) history.replaceState(null, "", `#${ply}`);
  }

  function drawing() {
    return (slim.matches ? narrow : pictures)[shown].map((number) => elements[number]).join("");
  }

  function draw() {
    const picture = drawing();
    if (!picture) return;
    const drawn = document.importNode(new DOMParser().parseFromString(picture, "image/svg+xml").documentElement, true);
    const height = drawn.viewBox.baseVal?.height;
    if (height) drawn.style.maxHeight = `max(72vh, ${(slim.matches ? 1.02 : LEAST_SCALE) * height}px)`;
    part("board")?.replaceChildren(drawn);
  }

  function element(name, className, text, title = "") {
    const made = document.createElement(name);
    made.className = className;
    made.textContent = text;
    if (title) made.title = title;
    return made;
  }

  function listed({ seat, roller, text, says, by, evaluation, line, marks }, index) {
    const item = document.createElement("li");
    const link = element("a", seat === null ? "dice" : `seat-${seat}`, text);
    link.href = `#${index + 1}`;
    item.append(element("span", "unseen", seat !== null ? `${bots[seat]}: ` : roller >= 0 ? "dice: " : "chance: "), link);
    if (by !== "bot" && by !== "dice") item.append(" ", element("small", "", by));
    if (says) item.append(" ", element("span", "says", says));
    if (evaluation && seat !== null) {
      const value = element("small", "", signed(evaluation[seat], 2), line.join(" "));
      value.prepend(element("span", "unseen", "expects "));
      item.append(" ", value);
    }
    if (marks.length) {
      const words = marks.join("; ");
      const dot = element("span", "", "●");
      dot.setAttribute("aria-hidden", "true");
      const mark = element("small", "event", "", words);
      mark.append(dot, element("span", "unseen", words));
      item.append(" ", mark);
    }
    return item;
  }

  function signed(value, digits) {
    return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(digits)}`;
  }

  function eventsOf(kind) {
    return plies.flatMap((ply, index) => ((kind ? ply.kinds.includes(kind) : ply.kinds.length) ? [index + 1] : []));
  }

  function showEvents() {
    part("previous").disabled = !events.some((event) => event < shown);
    part("next").disabled = !events.some((event) => event > shown);
  }

  function expected(ply) {
    if (!ply) return "";
    const { evaluation, line } = plies[ply - 1];
    const returns = (evaluation ?? []).map((value, seat) => `${bots[seat]} ${signed(value, 3)}`);
    const parts = returns.length ? [`Expects ${returns.join(", ")}.`] : [];
    if (line.length) parts.push(`Line: ${line.join(" ")}`);
    return parts.join(" ");
  }

  function caption(ply) {
    if (!ply) return `Start of ${plies.length} plies`;
    const { seat, roller, text, says, by, marks } = plies[ply - 1];
    const who = seat !== null ? bots[seat] : roller !== null && roller >= 0 ? `dice of ${bots[roller]}` : "chance";
    const how = by === "bot" || by === "dice" ? "" : ` (${by})`;
    return `Ply ${ply} of ${plies.length} (${text}): ${says || `${who}.`}${how}${marks.map((mark) => ` ${mark}.`).join("")}`;
  }

  function showShare(ply) {
    const address = `${location.href.split("#")[0]}#${ply}`;
    part("share-address").value = address;
    if (part("share-embed")) part("share-embed").value = embedded(address);
    const png = part("share-png");
    if (png) {
      png.href = `${png.getAttribute("href").split("?")[0]}?ply=${ply}`;
      png.download = `position-${ply}.png`;
    }
  }

  function embedded(address) {
    const frame = document.createElement("iframe");
    Object.assign(frame, { src: address, width: 900, height: 700, title: document.title });
    return frame.outerHTML;
  }

  function saveDrawing() {
    const link = part("share-svg");
    URL.revokeObjectURL(link.href);
    link.href = URL.createObjectURL(new Blob([drawing()], { type: "image/svg+xml" }));
    link.download = `position-${shown}.svg`;
  }

  async function copy(field) {
    field.select();
    const done = await navigator.clipboard?.writeText(field.value).then(() => true, () => false);
    part("share-said").textContent = done ? "Copied." : "Press Ctrl+C to copy.";
  }

  function total(ply) {
    const used = Array(players).fill(0);
    for (const [seat, at, microseconds] of clocks) if (at < ply && !persons[seat]) used[seat] += microseconds;
    return used;
  }

  function showClocks(ply) {
    for (const [seat, used] of total(ply).entries()) {
      part(`clock-${seat}`).textContent = persons[seat] ? "" : seconds(used / 1e6);
      part(`bar-${seat}`).style.width = `${(100 * used) / most}%`;
    }
  }

  function seconds(time) {
    if (time < 0.00005) return "< 0.1 ms";
    return time < 0.0995 ? `${(1000 * time).toFixed(1)} ms` : `${time.toFixed(time < 10 ? 2 : 1)} s`;
  }

  function stop() {
    clearTimeout(timer);
    timer = null;
    label();
  }

  function label() {
    const button = document.querySelector('[data-go="play"]');
    button.textContent = timer === null ? "Play" : "Pause";
    button.setAttribute("aria-label", button.textContent);
  }

  function tick() {
    if (shown >= plies.length) return stop();
    show(shown + 1);
    timer = setTimeout(tick, Number(part("speed").value));
  }

  const go = {
    start: () => show(0),
    back: () => show(shown - 1),
    on: () => show(shown + 1),
    end: () => show(plies.length),
    previous: () => show(events.findLast((event) => event < shown) ?? shown),
    next: () => show(events.find((event) => event > shown) ?? shown),
    play: () => {
      if (timer !== null) return stop();
      if (shown >= plies.length) show(0);
      timer = setTimeout(tick, Number(part("speed").value));
      label();
    },
  };
  const keys = { ArrowLeft: "back", ArrowRight: "on", Home: "start", End: "end", " ": "play", n: "next", p: "previous" };

  part("controls").addEventListener("click", (click) => {
    const name = click.target.closest("[data-go]")?.dataset.go;
    if (!name) return;
    if (name !== "play") stop();
    go[name]();
  });
  part("share").addEventListener("click", (click) => {
    const field = click.target.closest("[data-copy]")?.dataset.copy;
    if (field) copy(part(field));
  });
  part("share-svg")?.addEventListener("click", saveDrawing);
  part("share").hidden = false;
  part("kind")?.addEventListener("change", () => { events = eventsOf(part("kind").value); showEvents(); });
  part("graph")?.addEventListener("click", (click) => {
    const { left, width } = part("graph").getBoundingClientRect();
    const view = part("graph").viewBox.baseVal;
    stop();
    show(Math.round((plies.length * (view.x + (view.width * (click.clientX - left)) / width)) / 600));
  });
  part("slider").addEventListener("input", () => { stop(); show(Number(part("slider").value)); });
  document.addEventListener("keydown", (press) => {
    const name = keys[press.key];
    const inside = press.target.closest("button, select, pre, summary, .share input");
    if (!name || press.ctrlKey || press.metaKey || press.altKey || (inside && (press.key === " " || inside.matches("pre, select, input")))) return;
    press.preventDefault();
    if (name !== "play") stop();
    go[name]();
  });
  const fromAddress = () => show(Number.parseInt(location.hash.slice(1), 10) || 0, false);
  addEventListener("hashchange", fromAddress);
  slim.addEventListener("change", draw);
  part("controls").hidden = false;
  fromAddress();
})();
