/* Lines over x, one for each point and `by` value; axes linear or logarithmic; many lines become faint, with a bold median.
   Where x counts what was done it may be exchanged for seconds. Where seeds differ, lines that differ in nothing else become one
   band: their median and quartiles. */

const MANY_LINES = 30;
const FEW = CATEGORIES.length;
const FEWEST_SEEDS = 3;
const BAND_STEPS = 60;
const BELOW_ZERO = 100; // a quartile of zero, on a logarithmic axis, is drawn so many times below the median

function drawCurve(figure, data) {
  const lines = data.lines.map(([place, labels, y]) => ({ x: data.xs[place], counts: data.xs[place], seconds: data.seconds?.[place], labels, y }));
  const seed = data.labels.findIndex((name) => name.split(".").pop() === "seed");
  const shape = { bands: seed >= 0 && new Set(lines.map((line) => line.labels[seed])).size >= FEWEST_SEEDS, seed };
  const banded = shape.bands;
  const alike = new Set(lines.map((line) => line.labels.filter((_, at) => at !== seed).join("\u0000"))).size;
  const log = data.log.map((asked, axis) => asked && lines.some((line) => (axis ? line.y : line.x).some((value) => value > 0)));
  const dimensions = data.labels.map((name, at) => ({ name, at, values: [...new Set(lines.map((line) => line.labels[at]))] }));
  const telling = dimensions.filter((one) => one.values.length <= FEW && one.at !== seed).sort((a, b) => b.values.length - a.values.length);
  let colourBy = (banded ? alike : lines.length) <= FEW ? null : telling[0] ?? dimensions[0] ?? null;
  const canvas = make("div", { class: "canvas" });
  const legend = make("ul", { class: "legend" });
  const note = make("p", { class: "muted note" });
  const axes = { x: data.x, y: data.y };
  const redraw = () => plotCurve({ data: { ...data, ...axes }, lines, log, colourBy, shape, canvas, legend, note });
  const controls = make("div", { class: "controls" },
    checkbox("log across", log[0], (on) => { log[0] = on; redraw(); }),
    checkbox(`log ${data.y}`, log[1], (on) => { log[1] = on; redraw(); }));
  if (data.seconds) {
    controls.append(choice("across", [data.x, "seconds"], 0, (at) => {
      axes.x = at ? "seconds" : data.x;
      for (const line of lines) line.x = at ? line.seconds : line.counts;
      redraw();
    }));
  }
  if (banded) controls.append(checkbox("median and quartiles over seeds", true, (on) => { shape.bands = on; redraw(); }));
  if (dimensions.length > 1 || lines.length > FEW) {
    const options = [null, ...dimensions];
    const names = ["line", ...data.labels];
    controls.append(choice("colour by", names, options.indexOf(colourBy), (at) => { colourBy = options[at]; redraw(); }));
  }
  figure.append(controls, canvas, legend, note);
  drawAtWidth(canvas, redraw);
}

function plotCurve({ data, lines, log, colourBy, shape, canvas, legend, note }) {
  const width = canvas.clientWidth || 640;
  const height = Math.round(Math.min(420, Math.max(260, width * 0.5)));
  const visible = (value, axis) => value !== null && (!log[axis] || value > 0);
  const shown = lines.map((line) => line.x.map((x, at) => [x, line.y[at]]).filter(([x, y]) => visible(x, 0) && visible(y, 1)));
  const groups = shape.bands ? bandsOf(lines, shape.seed, log) : [];
  const everywhere = shape.bands ? groups.flatMap((group) => group.band.flatMap(([a, low, b, high]) => [[a, low], [a, b], [a, high]])) : shown.flat();
  const drawn = shown.reduce((sum, line) => sum + line.length, 0);
  const hidden = lines.reduce((sum, line) => sum + line.y.filter((y, at) => y !== null && line.x[at] !== null).length, 0) - drawn;
  note.textContent = hidden && !shape.bands ? `${hidden} of the drawn values lie at or below zero: a logarithmic axis cannot show them.` : "";
  canvas.replaceChildren();
  if (!everywhere.length) {
    canvas.append(make("p", { class: "muted" }, "Nothing lies above zero; switch the logarithm off."));
    return;
  }
  const box = { left: 64, right: width - 12, top: 10, bottom: height - 44 };
  const x = axisScale(everywhere.map((one) => one[0]), log[0], box.left, box.right);
  const y = axisScale(everywhere.map((one) => one[1]), log[1], box.bottom, box.top);
  const svg = make("svg:svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${data.title}: ${lines.length} lines` });
  drawAxes(svg, data, box, x, y);
  if (shape.bands) {
    const [colourOf, items] = lineColours(groups, data.labels, colourBy, shape.seed);
    for (const group of groups) {
      svg.append(make("svg:path", { d: area(group.band, x, y), fill: colourOf(group), opacity: 0.2 }));
      svg.append(path(group.band.map(([a, , b]) => [a, b]), x, y, { stroke: colourOf(group) }));
    }
    note.textContent += ` Each line is the median over ${Math.max(...groups.map((group) => group.size))} seeds, its band from quartile to quartile.`;
    legend.replaceChildren(...items);
    const spot = make("svg:circle", { class: "spot", r: 4, visibility: "hidden" });
    svg.append(spot);
    followPointer(svg, width, spot, nearest(data, groups, groups.map((group) => group.band.map(([a, , b]) => [a, b])), x, y, shape.seed));
    canvas.append(svg);
    return;
  }
  const [colourOf, items] = lineColours(lines, data.labels, colourBy);
  const opacity = lines.length > MANY_LINES ? Math.max(0.15, Math.min(0.6, 18 / lines.length)) : 1;
  shown.forEach((line, at) => svg.append(path(line, x, y, { stroke: colourOf(lines[at]), opacity })));
  if (lines.length > MANY_LINES) {
    for (const [colour, median] of medians(lines, shown, colourOf, colourBy)) {
      svg.append(path(median, x, y, { stroke: colour, class: "line median" }));
    }
    note.textContent += " Bold: the median of the drawn lines of a colour.";
  }
  legend.replaceChildren(...items);
  const spot = make("svg:circle", { class: "spot", r: 4, visibility: "hidden" });
  svg.append(spot);
  followPointer(svg, width, spot, nearest(data, lines, shown, x, y));
  canvas.append(svg);
}

/** Lines that differ in their seed only, as one: `band` holds [x, lower quartile, median, upper quartile]. */
function bandsOf(lines, seed, log) {
  const groups = new Map();
  for (const line of lines) {
    const key = line.labels.filter((_, place) => place !== seed).join("\u0000");
    if (!groups.has(key)) groups.set(key, { labels: line.labels, members: [] });
    const steps = line.x.map((x, at) => [x, line.y[at]]).filter(([x, y]) => x !== null && y !== null && (!log[0] || x > 0));
    if (steps.length) groups.get(key).members.push(steps);
  }
  const found = [];
  for (const { labels, members } of groups.values()) {
    if (!members.length) continue;
    const all = [...new Set(members.flatMap((line) => line.map(([a]) => a)))].sort((a, b) => a - b);
    const steps = all.length <= Math.max(BAND_STEPS, members[0].length) ? all : evenly(all[0], all.at(-1), log[0]);
    const band = [];
    for (const a of steps) {
      const ys = members.map((line) => valueAt(line, a)).filter((b) => b !== null).sort((a, b) => a - b);
      const middle = quantile(ys, 0.5);
      if (2 * ys.length < members.length || (log[1] && !(middle > 0))) continue;
      const low = quantile(ys, 0.25);
      band.push([a, log[1] && !(low > 0) ? middle / BELOW_ZERO : low, middle, quantile(ys, 0.75)]);
    }
    if (band.length) found.push({ labels, band, size: members.length });
  }
  return found;
}

function evenly(low, high, log) {
  const f = log ? Math.log : (value) => value;
  const back = log ? Math.exp : (value) => value;
  return Array.from({ length: BAND_STEPS }, (_, at) => back(f(low) + ((f(high) - f(low)) * at) / (BAND_STEPS - 1)));
}

/** The value of a line at `a`, between two of its steps in proportion; null outside. */
function valueAt(line, a) {
  let low = 0, high = line.length - 1;
  if (a < line[low][0] || a > line[high][0]) return null;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (line[middle][0] <= a) low = middle; else high = middle;
  }
  const [[x0, y0], [x1, y1]] = [line[low], line[high]];
  if (x1 === x0 || a === x0) return y0;
  return y0 + ((y1 - y0) * (a - x0)) / (x1 - x0);
}

function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const low = Math.floor(place);
  return low + 1 < sorted.length ? sorted[low] + (place - low) * (sorted[low + 1] - sorted[low]) : sorted[low];
}

function area(band, x, y) {
  const there = band.map(([a, , , high]) => `${x(a).toFixed(1)} ${y(high).toFixed(1)}`);
  const back = band.map(([a, low]) => `${x(a).toFixed(1)} ${y(low).toFixed(1)}`).reverse();
  return `M${[...there, ...back].join("L")}Z`;
}

function path(line, x, y, attributes) {
  if (line.length === 1) {
    const [only] = line;
    return make("svg:circle", { cx: x(only[0]), cy: y(only[1]), r: 3, fill: attributes.stroke, opacity: attributes.opacity });
  }
  const steps = line.map(([a, b], at) => `${at ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  return make("svg:path", { class: "line", d: steps, ...attributes });
}

/** A function from values to pixels, with `ticks`. */
function axisScale(values, log, from, to) {
  let low = Infinity, high = -Infinity;
  for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
  if (low === high) [low, high] = log ? [low / 2, high * 2] : [low - Math.max(1e-9, Math.abs(low) / 2), high + Math.max(1e-9, Math.abs(high) / 2)];
  const f = log ? Math.log10 : (value) => value;
  const scale = (value) => from + ((f(value) - f(low)) / (f(high) - f(low))) * (to - from);
  scale.ticks = log ? logTicks(low, high) : evenTicks(low, high, Math.abs(to - from) / 70);
  return scale;
}

function evenTicks(low, high, wanted) {
  const rough = (high - low) / Math.max(2, wanted);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].find((one) => one * unit >= rough) * unit;
  const ticks = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

function logTicks(low, high) {
  const decades = Math.log10(high) - Math.log10(low);
  if (decades < 0.7) return evenTicks(low, high, 5).filter((one) => one > 0);
  const steps = decades < 3 ? [1, 2, 5] : [1];
  const jump = Math.max(1, Math.ceil(decades / 8));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++) {
    if (power % jump) continue;
    for (const step of steps) {
      const tick = Number(`${step}e${power}`);
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

function drawAxes(svg, data, box, x, y) {
  for (const tick of y.ticks) {
    svg.append(make("svg:line", { class: "rule", x1: box.left, x2: box.right, y1: y(tick), y2: y(tick) }));
    svg.append(make("svg:text", { x: box.left - 6, y: y(tick) + 4, "text-anchor": "end" }, shortNumber(tick)));
  }
  let free = -Infinity;
  for (const tick of x.ticks) {
    svg.append(make("svg:line", { class: "rule", x1: x(tick), x2: x(tick), y1: box.top, y2: box.bottom }));
    const text = shortNumber(tick);
    const half = text.length * 3.6;
    if (x(tick) - half < free) continue;
    free = x(tick) + half + 8;
    const anchor = x(tick) + half > box.right + 8 ? "end" : "middle";
    svg.append(make("svg:text", { x: x(tick), y: box.bottom + 16, "text-anchor": anchor }, text));
  }
  svg.append(make("svg:rect", { class: "frame", x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }));
  svg.append(make("svg:text", { class: "name", x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" }, data.x));
  const turn = `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`;
  svg.append(make("svg:text", { class: "name", transform: turn, "text-anchor": "middle" }, data.y));
}

const labelText = (name, text) => (name === "column" ? text : `${name} = ${text || "none"}`);

/** Which colour a line has, and what the legend says. */
function lineColours(lines, names, by, without = -1) {
  const saying = (line) => line.labels.map((text, at) => (at === without ? "" : labelText(names[at], text))).filter(Boolean).join(" · ");
  const keyOf = by && by.at !== without ? (line) => line.labels[by.at] : saying;
  const keys = [...new Set(lines.map(keyOf))];
  const few = keys.length <= FEW;
  const colours = new Map(keys.map((key, at) => [key, few ? CATEGORIES[at] : css(between(SHADES, (0.9 * at) / (keys.length - 1)))]));
  const name = (key) => (by && by.at !== without ? labelText(by.name, key) : key);
  let items = [];
  if (few && (keys.length > 1 || keys[0])) items = keys.map((key) => legendItem(colours.get(key), name(key)));
  else if (!few && by) items = [legendItem(colours.get(keys[0]), name(keys[0])), make("li", {}, "…"), legendItem(colours.get(keys.at(-1)), name(keys.at(-1)))];
  else if (!few) items = [make("li", { class: "muted" }, `${keys.length} lines, first dark to last light`)];
  return [(line) => colours.get(keyOf(line)), items];
}

/** The median line of each colour, at every x where at least half of its lines have a value. */
function medians(lines, shown, colourOf, by) {
  const groups = new Map();
  lines.forEach((line, at) => {
    const colour = by && by.values.length <= FEW ? colourOf(line) : "currentColor";
    if (!groups.has(colour)) groups.set(colour, []);
    groups.get(colour).push(shown[at]);
  });
  const found = [];
  for (const [colour, members] of groups) {
    const at = new Map();
    for (const line of members) for (const [x, y] of line) at.has(x) ? at.get(x).push(y) : at.set(x, [y]);
    const median = [...at].filter(([, ys]) => 2 * ys.length >= members.length && members.length > 2).sort((a, b) => a[0] - b[0])
      .map(([x, ys]) => [x, ys.sort((a, b) => a - b)[ys.length >> 1]]);
    if (median.length > 1) found.push([colour, median]);
  }
  return found;
}

/** A function from pixels to the nearest drawn value: where it is and what to say about it. */
function nearest(data, lines, shown, x, y, without = -1) {
  return (px, py) => {
    let best = null, distance = 60 ** 2;
    shown.forEach((line, at) => line.forEach(([a, b]) => {
      const apart = (x(a) - px) ** 2 + (y(b) - py) ** 2;
      if (apart < distance) [best, distance] = [[at, a, b], apart];
    }));
    if (!best) return null;
    const [at, a, b] = best;
    const said = data.labels.map((name, place) => (place === without ? "median over seeds" : labelText(name, lines[at].labels[place])));
    const value = data.labels[0] === "column" ? lines[at].labels[0] : data.y;
    return { x: x(a), y: y(b), text: [...said, `${data.x} = ${a}`, `${value} = ${b}`].join("\n") };
  };
}

function followPointer(svg, width, spot, find) {
  svg.addEventListener("pointermove", (event) => {
    const frame = svg.getBoundingClientRect();
    const zoom = width / frame.width;
    const found = find((event.clientX - frame.left) * zoom, (event.clientY - frame.top) * zoom);
    spot.setAttribute("visibility", found ? "visible" : "hidden");
    if (!found) return hideTooltip();
    spot.setAttribute("cx", found.x);
    spot.setAttribute("cy", found.y);
    showTooltip(found.text, event);
  });
  svg.addEventListener("pointerleave", () => { spot.setAttribute("visibility", "hidden"); hideTooltip(); });
}
