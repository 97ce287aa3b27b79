/* Draws the pictures from the data blocks and makes tables sortable. `data-errors` on <html> counts what went wrong. */

const DRAW = { Curve: drawCurve, HeatMap: drawHeatMap, Strip: drawStrip };
const FILTER_FROM = 8;

function sortKey(text) {
  const exact = /^(-?\d+)\/(\d+)$/.exec(text);
  if (exact) return Number(exact[1]) / Number(exact[2]);
  const number = Number(text.replaceAll(",", ""));
  return text === "" || Number.isNaN(number) ? text : number;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === typeof b) return a.localeCompare(b, undefined, { numeric: true });
  return typeof a === "number" ? -1 : 1;
}

function sortTable(table, column, head) {
  const sign = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
  const rows = [...table.tBodies[0].rows].map((row) => [sortKey(row.cells[column].textContent), row]);
  rows.sort((a, b) => sign * compare(a[0], b[0]));
  table.tBodies[0].append(...rows.map((one) => one[1]));
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
}

function makeSortable(table) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = make("button", { type: "button", onclick: () => sortTable(table, column, head) });
    button.append(...head.childNodes);
    head.append(button);
  });
  const rows = [...table.tBodies[0].rows];
  if (rows.length < FILTER_FROM) return;
  const count = make("span", { role: "status" });
  const input = make("input", { type: "search", oninput: () => {
    const wanted = input.value.toLowerCase();
    const kept = rows.filter((row) => !(row.hidden = !row.textContent.toLowerCase().includes(wanted)));
    count.textContent = wanted ? ` ${kept.length} of ${rows.length}` : "";
  } });
  table.parentElement.before(make("label", { class: "filter" }, "filter rows ", input, count));
}

/** Show the titles of a drawing's parts under the pointer at once, also where it is a finger; a browser's own come late or never. */
function speakAtOnce(svg) {
  for (const title of svg.querySelectorAll("title")) {
    title.parentElement.dataset.said = title.textContent;
    title.parentElement.setAttribute("aria-label", title.textContent);
    title.remove();
  }
  const speak = (event) => {
    const part = event.target.closest("[data-said]");
    if (part) showTooltip(part.dataset.said, event);
    else hideTooltip();
  };
  svg.addEventListener("pointermove", speak);
  svg.addEventListener("pointerdown", speak);
  svg.addEventListener("pointerleave", hideTooltip);
}

const page = document.documentElement;
page.dataset.errors = "0";
page.dataset.drawn = "0";
const count = (name) => { page.dataset[name] = String(Number(page.dataset[name]) + 1); };
addEventListener("error", () => count("errors"));

for (const figure of document.querySelectorAll("figure.picture")) {
  try {
    const data = JSON.parse(figure.querySelector("script").textContent);
    DRAW[data.kind](figure, data);
    count("drawn");
  } catch (error) {
    count("errors");
    figure.append(make("p", { class: "muted" }, `This picture could not be drawn (${error}).`));
  }
}
/* A drawing's cells may say what they are: a click (or Enter) shows it below and keeps it. */
function tellTitles(figure) {
  const spots = [...figure.querySelectorAll("svg title")].map((title) => title.parentElement);
  if (!spots.length) return;
  const said = make("p", { class: "told", role: "status" }, "Click a cell to see what it is; arrow keys go on from there.");
  figure.append(said);
  let chosen = null;
  const show = (spot) => {
    chosen?.classList.remove("chosen");
    chosen = spot;
    spot.classList.add("chosen");
    said.textContent = spot.querySelector("title").textContent;
  };
  spots.forEach((spot) => spot.addEventListener("click", () => show(spot)));
  figure.tabIndex = 0;
  figure.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 8, ArrowUp: -8 }[event.key];
    if (!step) return;
    event.preventDefault();
    show(spots[Math.min(Math.max(chosen ? spots.indexOf(chosen) + step : 0, 0), spots.length - 1)]);
  });
}

document.querySelectorAll("figure.whole").forEach(tellTitles);
document.querySelectorAll("table.sortable").forEach(makeSortable);
document.querySelectorAll(".drawings svg, .Histogram svg").forEach(speakAtOnce);
