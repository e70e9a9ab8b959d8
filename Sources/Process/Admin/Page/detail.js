// The details of one request: every phase of every attempt.

function openKind(kind) {
  const requests = kind.requests.filter((request) => passes((word) => requestMatches(request, word)));
  state.detail = { requests: requests.length > 0 ? requests : [...kind.requests], at: 0, key: kind.key };
  state.detail.at = state.detail.requests.length - 1;
  byId("detail").hidden = false;
  markOpenKind();
  showDetail();
  byId("detail").focus({ preventScroll: true });
  // Narrow pages have the details below the rows, others beside them.
  const isBelow = getComputedStyle(byId("detail")).position === "static";
  (isBelow ? byId("detail") : tables.requests.rows.get(kind.key)?.node)?.scrollIntoView({ block: "nearest" });
}

function closeDetail() {
  const key = state.detail?.key;
  state.detail = null;
  byId("detail").hidden = true;
  markOpenKind();
  tables.requests.rows.get(key)?.node.focus();
}

function markOpenKind() {
  document.body.classList.toggle("has-detail", state.detail !== null);
  for (const [key, row] of tables.requests.rows) setAttribute(row.node, "aria-selected", key === state.detail?.key);
}

function stepDetail(step) {
  const { requests, at } = state.detail;
  state.detail.at = Math.max(0, Math.min(requests.length - 1, at + step));
  showDetail();
}

function showDetail() {
  const { requests, at } = state.detail;
  const request = requests[at];
  say("detail-title", `${resultText(request)}  ${request.endpoint || "no endpoint"}`);
  byId("detail-title").className = `result-${resultOf(request).look}`;
  say("position", `${at + 1} of ${requests.length}`);
  byId("older").disabled = at === 0;
  byId("newer").disabled = at === requests.length - 1;
  offerExplanation(request);
  showFacts(request);
  showPhases(request);
}

/** The path of a request is not recorded, so the route is offered, to be completed. */
function offerExplanation(request) {
  const [method, route] = request.endpoint.split(" ");
  byId("explain").hidden = !route;
  byId("explanation").hidden = true;
  say("explain-method", method);
  byId("explain-url").value = route ?? "";
}

/** What the gateway would do with such a request. */
async function explain() {
  const method = encodeURIComponent(byId("explain-method").textContent);
  const url = encodeURIComponent(byId("explain-url").value);
  byId("explanation").hidden = false;
  try {
    const response = await request(`/-/explain?method=${method}&url=${url}`);
    say("explanation", await response.text());
  } catch (error) {
    say("explanation", `No explanation: ${error.message}`);
  }
}

function showFacts(request) {
  const facts = [["Began", timeOfDay(request.at_ms)], ["Request", request.id, "mono"], ["Trace", request.trace, "mono"]];
  if (request.times_hidden) {
    facts.push(["Times", "hidden, since the endpoint has min_duration"]);
  } else {
    const times = [["Took", "ms"], ["Own time", "own_ms"], ["Calls in progress", "calls_ms"], ["First part", "first_part_ms"],
      ["Wait for the body", "receive_ms"], ["Wait for the store", "store_ms"], ["Wait for the keys", "keys_ms"]];
    times.forEach(([what, key], index) => {
      if (index < 3 || request[key] > 0) facts.push([what, `${msText(request[key])} ms`]);
    });
  }
  if (request.reasons.length > 0) facts.push(["Kept because", request.reasons.map(spaced).join(", ")]);
  byId("facts").replaceChildren(...facts.map(([name, value, look]) =>
    element("div", {}, element("dt", {}, name), element("dd", look ? { class: look } : {}, value))));
}

function timeOfDay(ms) {
  const time = new Date(ms);
  return `${time.toLocaleTimeString("en-GB")}.${String(time.getMilliseconds()).padStart(3, "0")}`;
}

function showPhases(request) {
  const rows = [];
  for (const call of request.calls) {
    // A list has one row for all of its requests; rows below it are those that failed.
    const attempts = call.list || call.attempts.length === 0 ? [null, ...call.attempts] : call.attempts;
    attempts.forEach((attempt, index) => rows.push(phaseRow(request, call, attempt, index)));
  }
  byId("phases").replaceChildren(...rows);
  say("scale", request.times_hidden ? "times hidden" : `0 – ${msText(request.ms)} ms`);
}

const CAUSES = { first: "", retry: "retry", hedge: "hedge", other_host: "other host" };

function phaseRow(request, call, attempt, index) {
  const cell = (text, look = "number") => element("td", { class: look }, text);
  const phases = attempt ? phasesOf(attempt) : {};
  const took = (phase) => (phases[phase] ? msText(phases[phase][1] - phases[phase][0]) : "–");
  const connect = attempt?.connection === "reused" ? "reused" : took("connect");
  const isList = attempt === null && call.list;
  const timed = isList ? call : attempt;
  const total = timed?.ended_ms === undefined ? "–" : msText(timed.ended_ms - timed.began_ms);
  const lane = element("td", { class: "lane-cell" }, isList ? listBar(request, call) : phaseBar(request, attempt, phases));
  const name = index === 0 ? element("th", { scope: "row", class: "name" }, call.name ?? "") : element("td");
  return element("tr", index === 0 ? { class: "first" } : {},
    name, attemptCell(call, attempt, index),
    cell(attempt?.host ?? "–", "mono"), resultCell(call, attempt), lane, cell(msText(timed?.began_ms)),
    cell(took("queue")), cell(connect), cell(took("wait")), cell(took("receive")), cell(total));
}

function listText(list) {
  const parts = [["elements", "elements"], ["shared", "shared"], ["truncated", "left out"], ["failed", "failed"]]
    .filter(([key]) => list[key] > 0 || key === "elements").map(([key, what]) => `${wholeText(list[key])} ${what}`);
  const times = [["min", list.min_ms], ["median", list.median_ms], ["max", list.max_ms]]
    .map(([what, ms]) => `${what} ${msText(ms)}`).join(", ");
  return parts.join(", ") + (list.min_ms === undefined ? "" : `: ${times} ms`);
}

/** From the begin of the call to its end; above it the median, and a line from the minimum to the maximum. */
function listBar(request, { list, began_ms: begin, ended_ms: end }) {
  const svg = graphic("svg", {}, graphic("rect", { class: "track", width: "100%", height: "100%", rx: 1.5 }));
  describe(svg, listText(list));
  if (list.min_ms === undefined || end === undefined) return svg;
  const at = (ms) => percent(ms / request.ms);
  const bar = (look, width, y, height) => graphic("rect", { class: look, x: at(begin), width, y, height });
  const line = (from, to, y1, y2) =>
    graphic("line", { class: "whisker", x1: at(begin + from), x2: at(begin + to), y1, y2 });
  svg.append(
    bar("queue", at(end - begin), "32%", "36%"), bar("p50", at(list.median_ms), "12%", "76%"),
    line(list.min_ms, list.max_ms, "50%", "50%"),
    ...[list.min_ms, list.max_ms].map((ms) => line(ms, ms, "20%", "80%")));
  return svg;
}

function attemptCell(call, attempt, index) {
  if (!attempt) return element("td", { class: "muted" }, call.list ? `${wholeText(call.list.requests)} requests` : "–");
  const parts = [call.list ? "" : String(index + 1), CAUSES[attempt.cause] ?? attempt.cause];
  if (attempt.sent_again) parts.push("sent again");
  if (attempt.decided && call.attempts.length > 1) parts.push("decided");
  return element("td", {}, parts.filter((part) => part !== "").join(" "));
}

/** The result, and below it the reason of a failure. */
function resultCell(call, attempt) {
  const cell = outcomeCell(call, attempt);
  const detail = [attempt?.detail, attempt === null || attempt.decided ? call.detail : null, because(call).trim()]
    .find(Boolean);
  for (const text of [attempt === null && call.list ? listText(call.list) : "", detail].filter(Boolean)) {
    cell.append(element("div", { class: "reason" }, text));
  }
  return cell;
}

function outcomeCell(call, attempt) {
  const outcome = attempt ? attempt.outcome : call.outcome;
  if (attempt && (outcome === "answered" || outcome === "withdrawn")) {
    const isGood = !attempt.decided || !hasFailed(call);
    const kind = isGood ? "" : ` ${spaced(call.outcome)}`;
    if (attempt.status >= 400 && attempt.status < 500 && !isAtFault(call)) {
      return element("td", { class: "muted" }, `${attempt.status}${kind}`);
    }
    return element("td", { class: isGood && attempt.status < 400 ? "result-ok" : "bad" },
      `${isGood && attempt.status < 400 ? "✓" : "✕"} ${attempt.status}${kind}`);
  }
  if (outcome === "ok") return element("td", { class: "result-ok" }, "✓");
  const isBad = !isNeutral(outcome);
  return element("td", { class: isBad ? "bad" : "muted" }, `${isBad ? "✕ " : ""}${spaced(outcome)}`);
}

/** Begin and end of each phase that the attempt reached; one that it did not finish ends with it. */
function phasesOf(attempt) {
  const moments = [
    ["queue", attempt.began_ms], ["connect", attempt.permitted_ms], ["wait", attempt.sent_ms],
    ["receive", attempt.first_byte_ms], ["", attempt.last_byte_ms],
  ];
  const phases = {};
  for (let index = 0; index < 4; index += 1) {
    const [name, begin] = moments[index];
    if (begin !== undefined) phases[name] = [begin, moments[index + 1][1] ?? attempt.ended_ms];
  }
  if (attempt.connection === "reused") delete phases.connect;
  return phases;
}

function phaseBar(request, attempt, phases) {
  const shown = Object.entries(phases).filter(([, [begin, end]]) => end > begin);
  const text = shown.map(([name, [begin, end]]) => `${name} ${msText(end - begin)} ms`).join(", ");
  const svg = graphic("svg", {}, graphic("rect", { class: "track", width: "100%", height: "100%", rx: 1.5 }));
  describe(svg, text || "no time");
  for (const [name, [begin, end]] of shown) {
    svg.append(graphic("rect", {
      class: name, x: percent(begin / request.ms), width: percent(Math.max(0.003, (end - begin) / request.ms)),
      y: name === "queue" ? "32%" : "12%", height: name === "queue" ? "36%" : "76%",
    }));
  }
  if (attempt?.ended_ms !== undefined && !["answered", "withdrawn"].includes(attempt.outcome)
    && !isNeutral(attempt.outcome)) {
    const x = percent(attempt.ended_ms / request.ms);
    svg.append(graphic("line", { class: "cross", x1: x, x2: x, y1: "0%", y2: "100%" }));
  }
  return svg;
}

async function copyDetail() {
  const text = JSON.stringify(state.detail.requests[state.detail.at], null, 2);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    copyBySelection(text);
  }
  say("copy", "Copied");
  setTimeout(() => say("copy", "Copy as JSON"), 2000);
}

/** For addresses that are neither local nor encrypted, where browsers have no clipboard interface. */
function copyBySelection(text) {
  const area = element("textarea", { class: "hidden", "aria-label": "JSON" });
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  byId("copy").focus();
}
