// The third view: backends.

const BACKEND_CELLS = [
  "name", "rate", "results", "p50", "p99", "failed", "trend", "failures", "running", "waiting", "connections", "health",
];

function makeBackend() {
  const row = makeRow(BACKEND_CELLS, ["rate", "p50", "p99", "failed", "running", "waiting", "connections"]);
  row.shares = makeShares();
  row.cells.results.append(row.shares.node);
  row.trend = makeTrend();
  row.cells.trend.append(row.trend);
  row.failures = element("span", {});
  row.others = element("span", { class: "muted" });
  row.cells.failures.append(row.failures, row.others);
  return row;
}

/** How the calls of the last milliseconds ended, by outcome. */
function recentOutcomes(backend, age) {
  const before = find(overviewSince(age), "backends", backend.name, "name");
  if (!before) return [];
  const key = ({ name, status }) => `${name} ${status}`;
  const then = new Map(before.outcomes.map((outcome) => [key(outcome), outcome.count]));
  return backend.outcomes
    .map((outcome) => ({ ...outcome, count: Math.max(0, outcome.count - (then.get(key(outcome)) ?? 0)) }))
    .filter((outcome) => outcome.count > 0);
}

/** Which share of the results an outcome belongs to; null for calls that say nothing about the backend: the gateway
 * has not made them, or has cancelled them. */
function shareOf({ name, status }) {
  if (name === "skipped" || name === "cancelled") return null;
  if (status === "5xx") return "failed";
  if (name === "ok") return "ok";
  return name === "unexpected_status" && status === "4xx" ? "rejected" : "failed";
}

const sumOf = (outcomes) => outcomes.reduce((sum, outcome) => sum + outcome.count, 0);

function outcomesText(outcomes) {
  return outcomes.sort((left, right) => right.count - left.count)
    .map(({ name, status, count }) => `${spaced(name === "ok" ? "status" : name)} ${status ? `${status} ` : ""}${count}`)
    .join(", ");
}

function updateBackend(row, { backend }) {
  const outcomes = recentOutcomes(backend, HISTORY_MS);
  const of = (share) => outcomes.filter((outcome) => shareOf(outcome) === share);
  const [ok, rejected, failed] = ["ok", "rejected", "failed"].map((share) => sumOf(of(share)));
  const total = ok + rejected + failed;
  const { cells } = row;
  setText(cells.name, backend.name);
  setText(cells.rate, elapsed() > 0 ? rateText(total / elapsed()) : "–");
  updateShares(row.shares, [ok, 0, rejected, failed, 0]);
  setText(cells.p50, msText(backend.p50_ms));
  setText(cells.p99, msText(backend.p99_ms));
  updateShareCell(cells.failed, "bad", "✕", failed, total);
  setText(row.failures, outcomesText(of("failed")));
  const others = outcomesText([...of("rejected"), ...of(null)]);
  setText(row.others, failed > 0 && others ? `; ${others}` : others);
  setText(cells.running, String(backend.running));
  setText(cells.waiting, String(backend.waiting));
  setText(cells.connections, String(backend.connections));
  updateTrend(row, `b ${backend.name}`);
  updateHealth(cells.health, backend);
  row.node.classList.toggle("idle", total === 0);
}

/** The state is the result of the last ten seconds; calls that only waited for another one do not count. */
function updateHealth(cell, backend) {
  const problems = [];
  const outcomes = recentOutcomes(backend, STATE_MS).filter((outcome) => shareOf(outcome) !== null);
  const [failed, total] = [sumOf(outcomes.filter((outcome) => shareOf(outcome) === "failed")), sumOf(outcomes)];
  if (failed > 0 && failed >= total / 2) problems.push("✕ calls fail");
  if (backend.breakers_open > 0) problems.push(`✕ circuit breaker open (workers: ${backend.breakers_open})`);
  if (backend.hosts_unavailable > 0) problems.push(`✕ hosts unavailable: ${backend.hosts_unavailable}`);
  const isBad = problems.length > 0;
  if (failed > 0 && failed < total / 2) problems.push(`◐ ${shareText(failed, total)} of calls fail`);
  if (backend.waiting > 0) problems.push("◷ calls wait for a permit");
  cell.className = isBad ? "bad" : problems.length > 0 ? "fair" : total > 0 ? "result-ok" : "muted";
  setText(cell, problems.join(", ") || (total > 0 ? "✓ good" : "no calls"));
}

function showBackends() {
  const items = state.overview.backends.filter((backend) => passes((word) => backendMatches(backend, word)))
    .map((backend) => ({ key: backend.name, backend }));
  tables.backends.show(items, state.filter.length > 0 ? "No backend matches the filter." : "There is no backend.");
}

function openBackend({ backend }) {
  setFilter(`backend:${backend.name}`);
  showView("requests");
}
