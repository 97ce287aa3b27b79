"use strict";
/* What all pictures share. Texts go in by textContent only: no value is ever read as markup. */

const CATEGORIES = ["#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#ee8866", "#44bb99", "#8866cc", "#997700"];
const OTHER = "#8a8f98";
const SHADES = ["#440154", "#482878", "#3e4a89", "#31688e", "#26838f", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725"];
const AROUND_ZERO = ["#2166ac", "#67a9cf", "#d1e5f0", "#f4f4f4", "#fddbc7", "#ef8a62", "#b2182b"];

/** Make an element: `make("td", {class: "x"}, "text", child)`; `svg:` in front of the name makes an SVG one. */
function make(name, attributes = {}, ...children) {
  const made = name.startsWith("svg:")
    ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4))
    : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "style") made.style.cssText = value;
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** A colour `t` of the way (0..1) along a list of colours, as [r, g, b]. */
function between(colours, t) {
  const place = Math.min(Math.max(t, 0), 1) * (colours.length - 1);
  const low = Math.min(Math.floor(place), colours.length - 2);
  const part = (colour, at) => parseInt(colour.slice(1 + 2 * at, 3 + 2 * at), 16);
  return [0, 1, 2].map((at) => Math.round(part(colours[low], at) + (place - low) * (part(colours[low + 1], at) - part(colours[low], at))));
}

const css = (rgb) => `rgb(${rgb.join(",")})`;
const inkOn = (rgb) => (0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2] > 140 ? "#000" : "#fff");

function shortNumber(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-3) {
    const [digits, power] = value.toExponential(2).replace(/\.?0+e/, "e").split("e");
    const raised = [...String(Number(power))].map((one) => (one === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[one])).join("");
    return (digits === "1" ? "" : digits === "-1" ? "-" : `${digits}·`) + `10${raised}`;
  }
  return String(Number(value.toPrecision(4)));
}

const tooltip = make("div", { class: "tooltip", "aria-hidden": "true", hidden: "" });
document.body.append(tooltip);

function showTooltip(text, event) {
  tooltip.textContent = text;
  tooltip.hidden = false;
  const box = tooltip.getBoundingClientRect();
  const left = event.clientX + 14 + box.width > innerWidth ? event.clientX - box.width - 14 : event.clientX + 14;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, Math.min(event.clientY + 14, innerHeight - box.height - 4))}px`;
}

function hideTooltip() {
  tooltip.hidden = true;
}

function checkbox(label, checked, onchange) {
  const input = make("input", { type: "checkbox", onchange: () => onchange(input.checked) });
  input.checked = checked;
  return make("label", {}, input, label);
}

function choice(label, names, chosen, onchange) {
  const select = make("select", { onchange: () => onchange(select.selectedIndex) }, ...names.map((name) => make("option", {}, name)));
  select.selectedIndex = chosen;
  return make("label", {}, label, select);
}

function legendItem(colour, text) {
  return make("li", {}, make("span", { class: "swatch", style: `background:${colour}` }), text);
}

function rampLegend(colours, ...labels) {
  const bar = make("div", { style: `background:linear-gradient(90deg,${colours.join(",")})` });
  return make("div", { class: "ramp" }, bar, make("p", {}, ...labels.map((label) => make("span", {}, label))));
}

/** Call `draw(width)` now and whenever the width of `box` changes. */
function drawAtWidth(box, draw) {
  let drawn = 0;
  const again = () => {
    const width = Math.round(box.clientWidth) || 640;
    if (Math.abs(width - drawn) > 1) draw((drawn = width));
  };
  again();
  new ResizeObserver(again).observe(box);
}
