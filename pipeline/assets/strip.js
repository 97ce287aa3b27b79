/* A sequence in rows of its period, coloured by value; what differs from the row that repeats is marked. */

const OPEN_STRIPS = 3;

function drawStrip(figure, data) {
  data.strips.forEach((strip, at) => {
    if (data.strips.length === 1) return figure.append(...stripParts(data, strip));
    const box = make("details", {}, make("summary", {}, strip.label));
    const fill = () => { if (box.open && box.childElementCount === 1) box.append(...stripParts(data, strip)); };
    box.open = at < OPEN_STRIPS;
    fill();
    box.addEventListener("toggle", fill);
    figure.append(box);
  });
}

function stripParts(data, strip) {
  const colour = stripColours(strip);
  const head = make("tr", {}, make("th", { scope: "col" }, data.index), ...Array.from({ length: strip.length }, (_, at) => make("th", { scope: "col" }, `+${at}`)));
  const body = make("tbody");
  let exceptions = 0;
  const places = strip.at ?? strip.values.map((_, at) => at);
  const valueAt = new Map(places.map((place, at) => [place, strip.values[at]]));
  const last = places.at(-1) ?? -1;
  for (let start = 0; start <= last; start += strip.length) {
    const row = make("tr", {}, make("th", { scope: "row" }, String(strip.first + start)));
    for (let at = 0; at < strip.length && start + at <= last; at++) {
      const value = valueAt.get(start + at);
      const odd = strip.reference !== null && value !== undefined && value !== strip.reference[at];
      exceptions += odd;
      row.append(stripCell(data, strip, start + at, value, odd ? strip.reference[at] : null, colour));
    }
    body.append(row);
  }
  const label = `${data.title}, ${strip.label}`;
  const table = make("table", { "aria-label": label }, make("thead", {}, head), body);
  return [make("div", { class: "strip", tabindex: "0", role: "region", "aria-label": label }, table), make("p", { class: "muted note" }, stripNote(strip, exceptions))];
}

function stripCell(data, strip, place, value, wanted, colour) {
  if (value === undefined) return make("td");
  const rgb = colour(value);
  const differs = wanted === null ? "" : `, an exception: the row that repeats has ${wanted}`;
  return make("td", {
    class: wanted === null ? null : "exception",
    style: `background:${css(rgb)};color:${inkOn(rgb)}`,
    title: `${data.index} ${strip.first + place}: ${value}${differs}`,
  }, String(value));
}

function stripColours(strip) {
  const numbers = strip.values.filter((value) => typeof value === "number");
  if (numbers.length < strip.values.length) {
    const found = [...new Set(strip.values)];
    return (value) => between([CATEGORIES[found.indexOf(value) % FEW], CATEGORIES[found.indexOf(value) % FEW]], 0);
  }
  const low = Math.min(...numbers), high = Math.max(...numbers);
  return (value) => between(SHADES, high > low ? (value - low) / (high - low) : 0.5);
}

function stripNote(strip, exceptions) {
  const said = [];
  if (strip.tooLong) said.push(`The period ${strip.tooLong} is too long for a row; rows of ${strip.length} are shown and no exceptions marked.`);
  if (strip.values.length < strip.total) said.push(`The first ${strip.values.length} of ${strip.total} values.`);
  if (strip.reference) said.push(`Rows of the period ${strip.length}; ${exceptions || "no"} shown ${exceptions === 1 ? "value differs" : "values differ"} from the row that repeats${exceptions ? " (outlined, with a star)" : ""}.`);
  return said.join(" ");
}
