// The first view: endpoints, with their calls as bars.

const ENDPOINT_CELLS = ["name", "rate", "results", "p50", "p99", "own", "partial", "failed", "trend", "calls"];

function makeEndpoint() {
  const row = makeRow(ENDPOINT_CELLS, ["rate", "p50", "p99", "own", "partial", "failed"]);
  row.shares = makeShares();
  row.cells.results.append(row.shares.node);
  row.trend = makeTrend();
  row.cells.trend.append(row.trend);
  row.lanes = element("div", { class: "lanes" });
  row.cells.calls.append(row.lanes);
  row.scale = 0;
  row.calls = new Map();
  return row;
}

function updateEndpoint(row, { endpoint }) {
  const { cells } = row;
  const count = (key) => endpoint.window[key];
  const others = SHARES.slice(1).map(count);
  const ok = Math.max(0, count("requests") - others.reduce((sum, value) => sum + value, 0));
  setText(cells.name, endpoint.endpoint || "no endpoint");
  setText(cells.rate, rateText(endpoint.window.rate));
  updateShares(row.shares, [ok, ...others]);
  setText(cells.p50, timeText(endpoint, "p50_ms"));
  setText(cells.p99, timeText(endpoint, "p99_ms"));
  setText(cells.own, timeText(endpoint, "own_p50_ms"));
  updateShareCell(cells.partial, "fair", "◐", count("partial"), count("requests"));
  updateShareCell(cells.failed, "bad", "✕", count("failed"), count("requests"));
  row.node.classList.toggle("idle", count("requests") === 0);
  updateTrend(row, `e ${endpoint.endpoint}`, endpoint.times_hidden);
  updateLanes(row, endpoint);
}

function timeText(item, key) {
  return item.times_hidden ? "hidden" : msText(item[key]);
}

function updateShareCell(cell, look, symbol, part, whole) {
  cell.className = `number ${part > 0 ? look : ""}`;
  setText(cell, part > 0 ? `${symbol} ${shareText(part, whole)}` : whole > 0 ? "0 %" : "–");
}

/** The upper end of a scale: a round number, kept while it fits so that bars do not jump. */
function scaleFor(before, largest) {
  if (largest <= before && largest > before * 0.45) return before;
  const power = 10 ** Math.floor(Math.log10(Math.max(largest, 0.1)));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((end) => end >= largest) ?? largest;
}

function updateLanes(row, endpoint) {
  const largest = Math.max(0, ...endpoint.calls.map((call) => call.end_p99_ms ?? 0));
  row.scale = scaleFor(row.scale, largest);
  const names = endpoint.calls.map((call) => call.name).join("\n");
  if (row.names !== names) {
    row.names = names;
    row.calls = new Map(endpoint.calls.map((call) => [call.name, makeLane(call)]));
    row.lanes.replaceChildren(...[...row.calls.values()].map((lane) => lane.node));
  }
  for (const call of endpoint.calls) updateLane(row.calls.get(call.name), call, row.scale, endpoint);
}

function makeLane(call) {
  const bar = graphic("rect", { class: "p50", y: "15%", height: "70%", rx: 1.5 });
  const line = graphic("line", { class: "whisker", y1: "50%", y2: "50%" });
  const cap = graphic("line", { class: "whisker", y1: "20%", y2: "80%" });
  const svg = graphic("svg", {},
    graphic("rect", { class: "track", width: "100%", height: "100%", rx: 1.5 }), line, cap, bar);
  const time = element("span", { class: "time" });
  const failed = element("span", { class: "bad" });
  const repeated = element("span", { class: "muted" });
  const node = element("div", { class: "lane" },
    element("span", { class: "call", title: `${call.name}, backend ${call.backend}` }, call.name), svg, time,
    element("span", { class: "note" }, failed, repeated));
  return { node, svg, bar, line, cap, time, failed, repeated };
}

function updateLane(lane, call, scale, endpoint) {
  const hasTimes = call.end_p50_ms !== undefined;
  const [start, end, late] = [call.start_p50_ms ?? 0, call.end_p50_ms ?? 0, call.end_p99_ms ?? 0];
  setAttribute(lane.bar, "x", percent(start / scale));
  setAttribute(lane.bar, "width", hasTimes ? percent(Math.max(0.004, (end - start) / scale)) : 0);
  for (const [node, from, to] of [[lane.line, end, late], [lane.cap, late, late]]) {
    setAttribute(node, "x1", percent(from / scale));
    setAttribute(node, "x2", percent(to / scale));
    setAttribute(node, "visibility", hasTimes ? "visible" : "hidden");
  }
  const calledText = call.made === 0 ? "not called" : call.cancelled === call.made ? "cancelled" : "";
  const hidden = endpoint.times_hidden ? "times hidden" : calledText;
  setText(lane.time, hasTimes ? `${msText(end)} – ${msText(late)} ms` : hidden);
  const ended = call.made - call.cancelled;
  setText(lane.failed, call.failed > 0 ? `✕ ${shareText(call.failed, ended)}` : "");
  setText(lane.repeated, repetition(call));
  describe(lane.svg, hasTimes
    ? `${call.name} begins at ${msText(start)} ms, ends at ${msText(end)} ms, p99 ${msText(late)} ms`
    : `${call.name}: ${hidden || "no times"}`);
}

function repetition(call) {
  const parts = [];
  if (call.hedged > 0) parts.push(`hedged ${shareText(call.hedged, call.made)}`);
  if (call.retried > 0) parts.push(`retried ${shareText(call.retried, call.made)}`);
  return parts.join("  ");
}

function showEndpoints() {
  const items = allEndpoints(state.overview)
    .filter((endpoint) => endpoint.endpoint !== "" || endpoint.requests > 0)
    .filter((endpoint) => passes((word) => endpointMatches(endpoint, word)))
    .map((endpoint) => ({ key: endpoint.endpoint, endpoint }));
  tables.endpoints.show(items, state.filter.length > 0 ? "No endpoint matches the filter." : "There is no endpoint.");
}

function openEndpoint({ endpoint }) {
  const name = endpoint.endpoint;
  setFilter(name === "" ? "status:4xx" : `endpoint:"${name}"`);
  showView("requests");
}
