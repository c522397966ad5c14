// The chunk map: a cell for one chunk or several, as wide as their bytes. It is one stop for the Tab key: arrows go from
// cell to cell, and Enter or a click shows the details below the map.
const chunkMap = (() => {
  const LEAST_WIDTH = 14; // of a cell, in pixels, on average
  const map = document.getElementById("job-map");
  const panel = document.getElementById("job-chunk-details");
  const address = map.dataset.details?.replace("/0-0/", "/");
  let cells = [];
  let chosen;

  // [{first, last, bytes, style}] of what the server has sent, and of what is to come.
  function sent() {
    const { cells: text, toCome } = document.getElementById("job-map-data").dataset;
    let first = 0;
    const read = text.split(" ").filter(Boolean).map((each) => {
      const [last, bytes, style] = each.split(":");
      const cell = { first, last: +last, bytes: +bytes || 1, style };
      first = cell.last + 1;
      return cell;
    });
    const bytes = read.at(-1)?.bytes ?? 1;
    return [...read, ...Array.from({ length: +toCome }, () => ({ bytes, style: "to-come" }))];
  }

  function words({ first, last, bytes, style }) {
    const name = first === last ? `Chunk ${first}` : `Chunks ${first} to ${last}`;
    return `${name}: ${style.startsWith("speed") ? "loaded" : style}, ${charts.size(bytes)}`;
  }

  // Lines of about equally many bytes.
  function lines() {
    const most = Math.max(1, Math.floor(map.clientWidth / LEAST_WIDTH));
    const count = Math.ceil(cells.length / most);
    const per = cells.reduce((sum, cell) => sum + cell.bytes, 0) / count;
    const cut = Array.from({ length: count }, () => []);
    let before = 0;
    for (const cell of cells) {
      cut[Math.min(count - 1, Math.floor((before + cell.bytes / 2) / per))].push(cell);
      before += cell.bytes;
    }
    return cut;
  }

  function make(cell) {
    cell.element = document.createElement(address && cell.style !== "to-come" ? "button" : "i");
    cell.element.style.flexGrow = cell.bytes;
    if (cell.element.matches("button")) cell.element.tabIndex = -1;
    paint(cell);
    return cell.element;
  }

  function paint(cell) {
    cell.element.className = `cell ${cell.style}`;
    if (cell.element.tagName !== "BUTTON") return;
    cell.element.type = "button";
    cell.element.title = words(cell);
    cell.element.setAttribute("aria-label", words(cell));
    cell.element.setAttribute("aria-pressed", cell.first === chosen);
  }

  function draw() {
    const now = sent();
    const same = now.length === cells.length && now.every((cell, at) => cell.last === cells[at].last && cell.bytes === cells[at].bytes);
    if (same) {
      for (const [at, { style }] of now.entries()) {
        if (style === cells[at].style) continue;
        cells[at].style = style;
        paint(cells[at]);
        if (cells[at].first === chosen) show(addressOf(cells[at]), false);
      }
    } else {
      layOut(now);
    }
  }

  // Draws these cells. The focus and the stop of the Tab key stay on their chunk, whose cell may have other neighbours now.
  function layOut(now) {
    const before = [document.activeElement, stopNow()].map(cellOf);
    cells = now;
    map.replaceChildren(
      ...lines().map((line) => {
        const row = document.createElement("div");
        row.className = "job-map-line";
        row.append(...line.map(make));
        return row;
      }),
    );
    map.hidden = !cells.length;
    const [focused, stop] = before.map((old) => old && cells.find(({ first, last }) => first <= old.first && old.first <= last));
    stopAt((focused ?? stop)?.element ?? buttons()[0]);
    focused?.element.focus();
  }

  const cellOf = (button) => cells.find(({ element }) => element === button);
  const buttons = () => [...map.querySelectorAll("button")];
  const addressOf = ({ first, last }) => `${address}${first}-${last}/`;

  // The one cell that the Tab key reaches.
  const stopNow = () => map.querySelector("button[tabindex='0']");
  function stopAt(button) {
    stopNow()?.setAttribute("tabindex", -1);
    button?.setAttribute("tabindex", 0);
  }

  map.addEventListener("keydown", (event) => {
    const all = buttons();
    const at = all.indexOf(event.target);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    event.preventDefault();
    const next = all[Math.max(0, Math.min(all.length - 1, to))];
    stopAt(next);
    next.focus();
  });

  map.addEventListener("click", (event) => {
    const cell = cellOf(event.target.closest("button"));
    if (!cell) return;
    const before = chosen;
    close();
    if (before === cell.first) return;
    chosen = cell.first;
    stopAt(cell.element);
    paint(cell);
    show(addressOf(cell));
  });

  // Shows some chunks below the map.
  async function show(url, scroll = true) {
    await htmx.ajax("GET", url, { target: panel, swap: "innerHTML" });
    if (!scroll) return;
    panel.scrollIntoView({ block: "nearest" });
    if (!map.contains(document.activeElement)) panel.focus({ preventScroll: true });
  }

  function close() {
    const cell = cells.find(({ first }) => first === chosen);
    chosen = undefined;
    if (cell?.element) cell.element.setAttribute("aria-pressed", false);
    panel.replaceChildren();
  }

  document.addEventListener("htmx:oobAfterSwap", ({ detail }) => detail.target?.id === "job-chunks" && draw());
  let width = 0;
  new ResizeObserver(() => {
    if (map.clientWidth === width) return;
    width = map.clientWidth;
    layOut(cells);
  }).observe(map);
  layOut(sent());

  return { show, close };
})();
