/* A map over two swept numbers: numbers in shades, anything else in categories; other parameters are chosen above it. */

const STEPS = 64;

function drawHeatMap(figure, data) {
  const chosen = Object.keys(data.layers)[0].split(",").filter((one) => one !== "").map(Number);
  const canvas = make("div", { class: "canvas" });
  const legend = make("div", {});
  const redraw = () => plotMap(data, chosen, canvas, legend);
  const controls = data.selectors.map((one, at) => choice(one.name, one.values, chosen[at], (value) => { chosen[at] = value; redraw(); }));
  if (controls.length) figure.append(make("div", { class: "controls" }, ...controls));
  figure.append(canvas, legend);
  drawAtWidth(canvas, redraw);
}

function plotMap(data, chosen, canvas, legend) {
  const layer = data.layers[chosen.join(",")] ?? { cells: [], several: [] };
  const [columns, rows] = [data.x.values.length, data.y.values.length];
  const width = canvas.clientWidth || 640;
  const left = 14 + 22 + 7 * Math.min(10, Math.max(...data.y.values.map((text) => text.length)));
  const across = Math.min(width - left - 16, 72 * columns, 640);
  const side = across / columns;
  const tall = Math.max(Math.min(side, 560 / rows), Math.min(3, 560 / rows));
  const size = { left, top: 10, side, tall, across, down: tall * rows, columns, rows };
  const height = size.down + size.top + 46;
  const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${data.title}: ${columns} by ${rows} cells` });
  svg.append(make("svg:rect", { class: "empty", x: left, y: size.top, width: across, height: size.down }));
  const [colourOf, items] = mapColours(data, layer);
  drawCells(svg, layer, size, colourOf);
  drawSeveral(svg, layer, size);
  drawMapAxes(svg, data, size);
  const cursor = make("svg:rect", { class: "cursor", width: side, height: tall, visibility: "hidden" });
  svg.append(cursor);
  followCells(svg, data, layer, size, width, cursor);
  canvas.replaceChildren(svg);
  if (layer.several.length) items.push(make("ul", { class: "legend" }, make("li", {}, make("span", { class: "several" }), "several rows; the first is shown")));
  if (!layer.cells.length) items.push(make("p", { class: "muted" }, "No points with these values."));
  legend.replaceChildren(...items);
}

/** Which colour a value (by its place in `texts`) has, and the legend. */
function mapColours(data, layer) {
  if (!data.numbers) {
    const colour = (value) => CATEGORIES[value] ?? OTHER;
    const here = [...new Set(layer.cells)].filter((value) => value >= 0).sort((a, b) => a - b);
    const items = here.filter((value) => value < CATEGORIES.length).map((value) => legendItem(colour(value), data.texts[value] || "none"));
    const rest = here.length - items.length;
    if (rest) items.push(legendItem(OTHER, `${rest} others (hover to read them)`));
    return [colour, [make("ul", { class: "legend" }, ...items)]];
  }
  const given = data.numbers.flatMap((value, at) => (value === null ? [] : [at]));
  const [first, last] = [given[0], given.at(-1)];
  let [low, high] = [data.numbers[first], data.numbers[last]];
  const signed = low < 0 && high > 0;
  if (signed) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
  const colours = signed ? AROUND_ZERO : SHADES;
  const shade = (value) => Math.round((high > low ? (value - low) / (high - low) : 0.5) * STEPS);
  const colour = (value) => (data.numbers[value] === null ? OTHER : css(between(colours, shade(data.numbers[value]) / STEPS)));
  const labels = signed ? [shortNumber(low), "0", shortNumber(high)] : [data.texts[first], data.texts[last]];
  const range = signed && data.numbers[first] !== -data.numbers[last] ? [make("p", { class: "muted note" }, `from ${data.texts[first]} to ${data.texts[last]}`)] : [];
  return [colour, [rampLegend(colours, ...labels), ...range]];
}

/** One path for each colour: a few nodes for thousands of cells. */
function drawCells(svg, layer, size, colourOf) {
  const paths = new Map();
  layer.cells.forEach((value, at) => {
    if (value < 0) return;
    const colour = colourOf(value);
    const [x, y] = corner(size, at);
    const d = `M${x.toFixed(2)} ${y.toFixed(2)}h${size.side.toFixed(2)}v${size.tall.toFixed(2)}h-${size.side.toFixed(2)}z`;
    paths.has(colour) ? paths.get(colour).push(d) : paths.set(colour, [d]);
  });
  for (const [colour, parts] of paths) svg.append(make("svg:path", { d: parts.join(""), fill: colour, "shape-rendering": "crispEdges" }));
}

function drawSeveral(svg, layer, size) {
  const r = Math.min(3, Math.min(size.side, size.tall) * 0.22);
  const parts = layer.several.map(([at]) => {
    const [x, y] = corner(size, at);
    return `M${(x + size.side / 2 - r).toFixed(2)} ${(y + size.tall / 2).toFixed(2)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0z`;
  });
  if (parts.length) svg.append(make("svg:path", { class: "dots", d: parts.join("") }));
}

/** Where cell `at` begins; the first row of the data is at the bottom. */
function corner(size, at) {
  return [size.left + (at % size.columns) * size.side, size.top + (size.rows - 1 - Math.floor(at / size.columns)) * size.tall];
}

function drawMapAxes(svg, data, size) {
  const { left, top, side, tall, across, down, columns, rows } = size;
  svg.append(make("svg:rect", { class: "frame", x: left, y: top, width: across, height: down }));
  const longest = Math.max(...data.x.values.map((text) => text.length));
  for (const at of labelled(columns, across / (12 + 7 * Math.min(10, longest)))) {
    svg.append(make("svg:text", { x: left + (at + 0.5) * side, y: top + down + 16, "text-anchor": "middle" }, clipped(data.x.values[at])));
  }
  for (const at of labelled(rows, down / 22)) {
    svg.append(make("svg:text", { x: left - 6, y: top + down - (at + 0.5) * tall + 4, "text-anchor": "end" }, clipped(data.y.values[at])));
  }
  svg.append(make("svg:text", { class: "name", x: left + across / 2, y: top + down + 36, "text-anchor": "middle" }, data.x.name));
  svg.append(make("svg:text", { class: "name", transform: `translate(13 ${top + down / 2}) rotate(-90)`, "text-anchor": "middle" }, data.y.name));
}

const clipped = (text) => (text.length > 10 ? `${text.slice(0, 9)}…` : text);

/** Places to label: every k-th, both ends where k allows it. */
function labelled(count, room) {
  const wanted = Math.max(2, Math.min(13, Math.floor(room)));
  let step = Math.ceil((count - 1) / (wanted - 1)) || 1;
  for (let better = step; better <= 2 * step; better++) if ((count - 1) % better === 0) { step = better; break; }
  return Array.from({ length: Math.floor((count - 1) / step) + 1 }, (_, at) => at * step);
}

function followCells(svg, data, layer, size, width, cursor) {
  const counts = new Map(layer.several);
  svg.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    const zoom = width / frame.width;
    const column = Math.floor(((event.clientX - frame.left) * zoom - size.left) / size.side);
    const row = size.rows - 1 - Math.floor(((event.clientY - frame.top) * zoom - size.top) / size.tall);
    const inside = column >= 0 && column < size.columns && row >= 0 && row < size.rows;
    cursor.setAttribute("visibility", inside ? "visible" : "hidden");
    if (!inside) return hideTooltip();
    const at = row * size.columns + column;
    const [x, y] = corner(size, at);
    cursor.setAttribute("x", x);
    cursor.setAttribute("y", y);
    const value = layer.cells[at] ?? -1;
    const said = value < 0 ? "no row here" : `${data.value}: ${data.texts[value]}`;
    const several = counts.has(at) ? `\nthe first of ${counts.get(at)} rows` : "";
    showTooltip(`${data.x.name} = ${data.x.values[column]}\n${data.y.name} = ${data.y.values[row]}\n${said}${several}`, event);
  });
  svg.addEventListener("pointerleave", () => { cursor.setAttribute("visibility", "hidden"); hideTooltip(); });
}
