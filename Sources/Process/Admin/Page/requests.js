// The second view: kinds of requests, each with its latest one.

/** Requests with the same result of the same calls are of one kind. */
function kindKey(request) {
  const failures = request.calls.filter(hasFailed).map((call) => `${call.name} ${call.outcome}`);
  return [request.endpoint, request.status, request.outcome, isOnlySlow(request), ...failures].join("\n");
}

const isOnlySlow = (request) => request.outcome === "ok" && request.reasons.includes("slow");

const hasFailed = (call) => call.outcome !== "ok" && call.outcome !== "not_made";

const statusOf = (call) => call.attempts.findLast((attempt) => attempt.status)?.status;

/** Outcomes that say nothing about the backend: the gateway did not make the call or cancelled it, or it still runs. */
const isNeutral = (outcome) => ["not_made", "cancelled", "skipped", "open"].includes(outcome);

/** Whether the backend failed; not with a 4xx, where the client is wrong. */
function isAtFault(call) {
  if (!hasFailed(call) || isNeutral(call.outcome)) return false;
  return call.outcome !== "unexpected_status" || !(statusOf(call) < 500);
}

function takeRequests(requests) {
  for (const request of requests) {
    const key = kindKey(request);
    const kind = state.kinds.get(key) ?? { key, requests: [], count: 0 };
    kind.count += 1;
    kind.requests.push(request);
    if (kind.requests.length > PER_KIND_MAX) kind.requests.shift();
    if (!state.kinds.has(key)) addKind(kind);
  }
}

/** New kinds come first; the one that was seen longest ago makes room. */
function addKind(kind) {
  const kinds = [kind, ...state.kinds.values()];
  if (kinds.length > KIND_MAX) {
    const age = (other) => latest(other).at_ms;
    kinds.splice(kinds.indexOf(kinds.reduce((left, right) => (age(right) < age(left) ? right : left))), 1);
  }
  state.kinds = new Map(kinds.map((other) => [other.key, other]));
}

const latest = (kind) => kind.requests[kind.requests.length - 1];

const REQUEST_CELLS = ["result", "name", "what", "kept", "last", "took", "picture"];

function makeKind() {
  const row = makeRow(REQUEST_CELLS, ["kept", "last", "took"]);
  row.mini = graphic("svg", { class: "mini" });
  row.cells.picture.append(row.mini);
  return row;
}

function updateKind(row, kind) {
  const request = latest(kind);
  const { cells } = row;
  cells.result.className = `result result-${resultOf(request).look}`;
  setText(cells.result, resultText(request));
  setText(cells.name, request.endpoint || "no endpoint");
  setText(cells.what, whatHappened(request));
  setText(cells.kept, wholeText(kind.count));
  setText(cells.last, ageText((state.overview.at_ms - request.at_ms) / 1000));
  setText(cells.took, request.times_hidden ? "hidden" : `${msText(request.ms)} ms`);
  if (row.drawn !== request.key) {
    row.drawn = request.key;
    drawMini(row.mini, request);
  }
}

const resultOf = (request) => RESULTS[request.outcome] ?? result("?", request.outcome, "failed");

function resultText(request) {
  const { symbol, word } = resultOf(request);
  return `${symbol} ${request.status || ""} ${word}`;
}

function whatHappened(request) {
  const failed = request.calls.filter(hasFailed);
  const causes = failed.map((call) => call.because_of);
  const told = [
    failed.filter((call) => isAtFault(call) || causes.includes(call.name)),
    failed.filter((call) => !isNeutral(call.outcome)),
  ].find((list) => list.length) ?? failed;
  const parts = told.map((call) => {
    const status = statusOf(call);
    const detail = call.outcome === "unexpected_status" && status ? ` ${status}` : "";
    return `${call.name}: ${spaced(call.outcome)}${detail}${because(call)}`;
  });
  const others = failed.filter((call) => call.because_of && !told.includes(call));
  parts.push(...others.map((call) => `${call.name} ${spaced(call.outcome)}${because(call)}`));
  for (const { name, list } of request.calls.filter((call) => !hasFailed(call) && call.list?.failed > 0)) {
    parts.push(`${name}: ${wholeText(list.failed)} of ${wholeText(list.elements)} elements failed`);
  }
  if (isOnlySlow(request)) parts.push("◷ slower than its endpoint's p99");
  if (parts.length > 0) return parts.join(", ");
  if (request.endpoint === "") return "no route matched";
  return request.outcome === "rejected" && !request.calls.some((call) => call.began_ms !== undefined) && !request.times_hidden
    ? "refused before any call" : "";
}

/** The call that another one failed with or waited for. */
const because = (call) => (call.because_of ? ` because of ${call.because_of}` : "");

function drawMini(svg, request) {
  const calls = request.calls.filter((call) => call.began_ms !== undefined);
  const height = 100 / Math.max(calls.length, 3);
  svg.removeAttribute("aria-label");
  svg.replaceChildren(...calls.map((call, index) => graphic("rect", {
    class: isAtFault(call) ? "share-failed" : "p50",
    x: percent(call.began_ms / request.ms), y: `${index * height}%`,
    width: percent(Math.max(0.006, (call.ended_ms - call.began_ms) / request.ms)), height: `${height * 0.7}%`,
  })));
  const texts = calls.map((call) => `${call.name} ${msText(call.ended_ms - call.began_ms)} ms`);
  describe(svg, request.times_hidden ? "times hidden" : texts.join(", ") || "no calls");
}

/** Why no request matches, for those who look for an id. */
function whyNotKept() {
  const ordinary = byId("sample").checked ? "" : "Ordinary requests are kept only from when the box above is checked.";
  return ["No kept request matches.", ordinary, countedText(),
    `This page has the newest ${PER_KIND_MAX} of ${KIND_MAX} kinds; the access log has every id.`].join(" ");
}

function showRequests() {
  const items = [...state.kinds.values()]
    .filter((kind) => kind.requests.some((request) => passes((word) => requestMatches(request, word))));
  tables.requests.show(items, state.filter.length > 0 ? whyNotKept() : "No failed, partial, rejected or slow request yet.");
}
