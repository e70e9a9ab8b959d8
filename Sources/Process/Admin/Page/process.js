// The fourth view: requests in flight, hosts, limits, the last reload, certificates, and all admin pages.

const WAITS_MAX = 30;

let documents = null;

async function readProcess() {
  documents = await Promise.all(["requests", "backends", "reload", "loops"].map((name) => read(`/-/${name}`)));
}

function showProcess() {
  if (!documents) return;
  const text = JSON.stringify(documents);
  if (showProcess.shown === text) return;
  showProcess.shown = text;
  const [{ requests }, { backends }, reload, { certificates }] = documents;
  byId("process").replaceChildren(
    ...table(`In flight: ${requests.length}`, ["Endpoint", "Waits for", "Requests", "Oldest", "Its id"], inFlight(requests)),
    ...table("Hosts", ["Backend", "Host", "State", "Connections", "Last failed check"], backends.flatMap(hostsOf)),
    ...table("Limits of backends", ["Backend", "Calls", "Queue", "Circuit breaker"],
      backends.filter((each) => each.permits || each.breaker).map(limitsOf)),
    ...table("Last reload", ["Result", "When", "Problems", "Files"], [reloadOf(reload)]),
    ...table("Certificates", ["Name", "Expires"], certificates.map(certificateOf)));
}

/** A title and its table; a cell that is a list has a text and the class of its colour. */
function table(title, heads, rows) {
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, index) => {
    const [text, look] = Array.isArray(cell) ? cell : [cell, ""];
    return element("td", { class: look, "data-label": heads[index] }, String(text));
  })));
  if (body.length === 0) return [element("h2", {}, title), element("p", { class: "muted" }, "none")];
  return [element("h2", {}, title), element("div", { class: "wide" }, element("table", { class: "plain" },
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {}, head)))),
    element("tbody", {}, ...body)))];
}

/** Requests of an endpoint that wait for the same are one row; the longest wait first. */
function inFlight(requests) {
  const groups = new Map();
  for (const request of requests.sort((left, right) => (right.age_ms ?? 0) - (left.age_ms ?? 0))) {
    const key = `${request.endpoint}\n${waitText(request)}`;
    const group = groups.get(key) ?? groups.set(key, { oldest: request, count: 0 }).get(key);
    group.count += 1;
  }
  return [...groups.values()].slice(0, WAITS_MAX).map(({ oldest, count }) => [oldest.endpoint || "no endpoint", waitText(oldest),
    count, oldest.age_ms === undefined ? "hidden" : `${msText(oldest.age_ms)} ms`, [oldest.id, "mono"]]);
}

function waitText({ waits_for: what = "hidden", calls = [] }) {
  if (calls.length === 0) return what;
  return calls.map((call) => `${call.name} (${call.host ?? call.backend}): ${spaced(call.waits_for)}`).join(", ");
}

const GOOD_STATES = ["usable", "closed"];

/** The state, of each worker where they differ. */
function stateCell({ state: name, for_ms: rest, workers }) {
  const one = (state, ms) => spaced(state) + (ms === undefined ? "" : ` for ${ageText(ms / 1000)}`);
  const text = workers ? workers.map((each) => `worker ${each.worker} ${one(each.state, each.for_ms)}`).join(", ") : one(name, rest);
  return GOOD_STATES.includes(name) ? [`✓ ${text}`, "result-ok"] : [`✕ ${text}`, "bad"];
}

function hostsOf(backend) {
  return backend.hosts.map((host) => {
    const { idle, in_use: used, connecting } = host.connections;
    const check = host.last_failed_check;
    return [backend.name, [host.host, "mono"], stateCell(host),
      `${used} in use, ${idle} idle, ${connecting} connecting, ${host.waiting_for_connection} waiting`,
      check ? `${check.reason}, ${ageText(check.ago_ms / 1000)} ago` : "–"];
  });
}

function limitsOf({ name, permits, queue, breaker }) {
  const usage = (use) => (use ? [`${use.used} of ${use.limit}`, use.limit > 0 && use.used >= use.limit ? "fair" : ""] : "no limit");
  return [name, usage(permits), usage(queue), breaker ? stateCell(breaker) : "none"];
}

function reloadOf({ running, files, last, needs_restart: restart }) {
  const isGood = !last || last.result === "succeeded";
  const problems = [...(last?.problems ?? []), ...restart.map((key) => `${key} needs a restart`)];
  return [[last ? `${isGood ? "✓" : "✕"} ${spaced(last.result)}` : "none since the start", isGood ? "" : "bad"],
    last?.at ?? running.loaded_at, problems.join("; ") || "–", files.changed ? ["changed, not loaded", "fair"] : "as loaded"];
}

function certificateOf({ name, not_after: end }) {
  const days = Math.floor((Date.parse(end) - state.overview.at_ms) / 86_400_000);
  return [name, [`${end}, in ${days} days`, days < 1 ? "bad" : days < 21 ? "fair" : ""]];
}

/** Shows the linked page here, with the token. */
async function openLink(event) {
  const path = event.target.getAttribute("href");
  if (!path || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  byId("linked").hidden = false;
  try {
    say("linked", `${path}\n\n${await (await request(path)).text()}`);
  } catch (error) {
    say("linked", `No answer of ${path}: ${error.message}`);
  }
}
