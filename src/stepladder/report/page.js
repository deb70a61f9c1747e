"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const plots = [];

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") node.className = value;
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

const shown = (value) =>
  typeof value !== "number" ? value
    : Number.isInteger(value) ? value.toLocaleString("en") : value.toLocaleString("en", { maximumSignificantDigits: 4 });

// ---- the plotting library travels compressed inside the page

async function loadPlotly() {
  const packed = Uint8Array.from(atob(document.getElementById("plotly").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(stream).text();
  document.head.append(script);
}

// ---- figures

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function layout(panel) {
  const axis = { gridcolor: colour("--line"), zerolinecolor: colour("--line"), automargin: true };
  return {
    margin: { l: 56, r: 12, t: 28, b: 48 },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour("--ink"), size: 12 },
    hovermode: panel.heat ? "closest" : "x unified",
    hoverlabel: { bgcolor: colour("--paper"), font: { color: colour("--ink") } },
    showlegend: !panel.heat,
    legend: { orientation: "h", y: -0.28, font: { size: 11 } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: colour("--soft"), activecolor: colour("--accent") },
    xaxis: { ...axis, title: { text: panel.x_label }, type: panel.heat ? "category" : panel.x_log ? "log" : "linear" },
    yaxis: {
      ...axis, title: { text: panel.y_label }, type: panel.heat ? "category" : panel.y_log ? "log" : "linear",
      autorange: panel.heat ? "reversed" : true,
    },
    shapes: panel.heat ? panel.heat.path.map(([row, column]) => ({
      type: "rect", x0: column - 0.5, x1: column + 0.5, y0: row - 0.5, y1: row + 0.5,
      line: { color: data.colours.chain, width: 2 },
    })) : [],
  };
}

// Curves that lie on each other stay apart by their marks, bounds by their dashes.
const SYMBOLS = { depth_increasing: "square-open", hint_decreasing: "diamond" };
const DASHES = ["dash", "dot", "longdashdot"];

function traces(panel) {
  if (panel.heat) {
    return [{
      type: "heatmap", z: panel.heat.values, x: panel.heat.columns, y: panel.heat.rows, zmin: 0, zmax: 1,
      colorscale: "Blues", reversescale: true, colorbar: { thickness: 10, len: 0.9 },
      hovertemplate: "last pick %{y}<br>next pick %{x}<br>probability %{z:.4f}<extra></extra>",
    }];
  }
  return panel.series.map((series, number) => {
    const faint = series.style === "faint", dashed = series.style === "dashed";
    const line = series.method ? data.colours.methods[series.method]
      : dashed ? data.colours.bound : data.colours.palette[number % data.colours.palette.length];
    const trace = {
      type: "scatter", name: series.name, x: series.x, y: series.y, opacity: faint ? 0.4 : 1,
      mode: series.style === "points" ? "markers" : dashed || faint ? "lines" : "lines+markers",
      line: { color: line, dash: dashed ? DASHES[number % DASHES.length] : "solid", width: faint ? 1.2 : 2 },
      marker: { color: line, symbol: SYMBOLS[series.method] ?? "circle", size: series.style === "points" ? 10 : 6 },
      hovertemplate: "%{y:.4~g}",
    };
    if (series.low && series.high) {
      trace.error_y = {
        type: "data", symmetric: false, color: line, thickness: 1, width: 2,
        array: series.high.map((high, i) => high - series.y[i]),
        arrayminus: series.low.map((low, i) => series.y[i] - low),
      };
    }
    return trace;
  });
}

function draw(target, panel) {
  const config = {
    responsive: true, displaylogo: false, showSendToCloud: false, modeBarButtonsToRemove: ["select2d", "lasso2d"],
  };
  Plotly.react(target, traces(panel), layout(panel), config);
}

function addPanel(grid, title, panels, alt) {
  const plot = make("div", { class: "plot", role: "img", "aria-label": alt });
  const box = make("div", { class: panels[0].heat ? "panel heat" : "panel" }, make("h3", {}, title), plot);
  const state = { plot, panel: panels[0] };
  plots.push(state);
  if (panels.length > 1) {
    const label = make("output", { "aria-live": "polite" }, panels[0].title);
    const input = make("input", {
      type: "range", min: 0, max: panels.length - 1, value: 0, step: 1, "aria-label": `stage of ${title}`,
    });
    input.addEventListener("input", () => {
      state.panel = panels[Number(input.value)];
      label.textContent = state.panel.title;
      draw(plot, state.panel);
    });
    box.append(make("div", { class: "slider" }, input, label));
  }
  grid.append(box);
}

function addChart(chart) {
  const grid = make("div", { class: "panels" });
  const groups = new Map();
  for (const panel of chart.panels) {
    const key = panel.steps_of ?? panel.title;
    groups.set(key, [...(groups.get(key) ?? []), panel]);
  }
  for (const [title, panels] of groups) addPanel(grid, title, panels, `${chart.title}, ${title}. ${chart.caption}`);
  section(chart.name, chart.title).append(
    make("figure", {}, grid, make("figcaption", {}, chart.caption)),
    ...footnote([chart.paper && `${chart.paper}. `, ...runAgain(chart.again), ...linked(chart.links)]));
}

const footnote = (words) => (words.some(Boolean) ? [make("p", { class: "soft" }, ...words.filter(Boolean))] : []);
const runAgain = (command) => (command ? ["Run it again: ", make("code", {}, command), ". "] : []);

function linked(links) {
  const nodes = Object.entries(links).flatMap(([name, href]) => [make("a", { href }, name), ", "]);
  return nodes.length ? ["Files: ", ...nodes.slice(0, -1), "."] : [];
}

// ---- tables

const byText = new Intl.Collator("en", { numeric: true });

function sortable(columns, rows) {
  const body = make("tbody");
  const fill = (sorted) => body.replaceChildren(...sorted.map((row) => make("tr", {},
    ...columns.map(({ key, kind }) => make("td", { class: kind ?? "" }, String(shown(row[key])))))));
  const heads = columns.map(({ key, title }) => {
    const head = make("th", { scope: "col", "aria-sort": "none" }, make("button", { type: "button" }, title));
    head.firstChild.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      for (const other of heads) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const order = (a, b) => (typeof a[key] === "number" ? a[key] - b[key] : byText.compare(a[key], b[key]));
      fill([...rows].sort((a, b) => (up ? order(a, b) : order(b, a))));
    });
    return head;
  });
  fill(rows);
  const table = make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body);
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" }, table);
}

function addTable({ name, title, intro, columns, rows, again }) {
  section(name, title).append(...(intro ? [make("p", {}, intro)] : []), sortable(columns, rows), ...footnote(runAgain(again)));
}

// ---- texts: set as text, never as markup

function addSamples({ name, title, intro, rows }) {
  section(name, title).append(make("p", {}, intro), ...rows.map((row) => make("details", {},
    make("summary", {}, make("span", { class: row.correct ? "right" : "wrong" }, row.correct ? "correct" : "wrong"), ` ${row.title}`,
      ...(row.why ? [make("span", { class: "soft" }, ` ${row.why}`)] : [])),
    make("pre", {}, row.text))));
}

function addText({ name, title, text }) {
  section(name, title).append(make("pre", {}, text));
}

const ADD = { table: addTable, chart: addChart, samples: addSamples, text: addText };

// ---- the page

function section(name, title) {
  const part = make("section", { id: name }, make("h2", {}, title));
  document.getElementById("main").append(part);
  document.getElementById("contents").append(make("li", {}, make("a", { href: `#${name}` }, title)));
  return part;
}

function setTheme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  const button = document.getElementById("theme");
  button.setAttribute("aria-pressed", String(dark));
  button.textContent = dark ? "Light" : "Dark";
  for (const { plot, panel } of plots) draw(plot, panel);
}

async function start() {
  document.getElementById("summary").textContent = data.summary;
  const preference = matchMedia("(prefers-color-scheme: dark)");
  document.documentElement.dataset.theme = preference.matches ? "dark" : "light";
  for (const part of data.sections) ADD[part.kind](part);
  await loadPlotly();
  setTheme(preference.matches);
  document.getElementById("theme").addEventListener("click",
    () => setTheme(document.documentElement.dataset.theme !== "dark"));
  document.documentElement.dataset.ready = "yes";
}

start();
