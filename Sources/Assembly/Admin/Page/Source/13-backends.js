// The third view: backends.

const BACKEND_CELLS = [
  "name", "rate", "results", "p50", "p99", "failed", "failures", "running", "waiting", "connections", "health",
];

function makeBackend() {
  const row = makeRow(BACKEND_CELLS, ["rate", "p50", "p99", "failed", "running", "waiting", "connections"]);
  row.shares = makeShares();
  row.cells.results.append(row.shares.node);
  return row;
}

/** How the calls of the last seconds ended, by outcome. */
function recentOutcomes(backend) {
  const before = elapsed() > 0 ? find(oldest(), "backends", backend.name, "name") : undefined;
  if (!before) return null;
  const then = new Map(before.outcomes.map((outcome) => [outcome.name, outcome.count]));
  return backend.outcomes.map(({ name, count }) => ({ name, count: Math.max(0, count - (then.get(name) ?? 0)) }))
    .filter((outcome) => outcome.count > 0);
}

function updateBackend(row, { backend }) {
  const outcomes = recentOutcomes(backend) ?? [];
  const total = outcomes.reduce((sum, outcome) => sum + outcome.count, 0);
  const failures = outcomes.filter((outcome) => outcome.name !== "ok").sort((left, right) => right.count - left.count);
  const failed = failures.reduce((sum, outcome) => sum + outcome.count, 0);
  const { cells } = row;
  setText(cells.name, backend.name);
  setText(cells.rate, elapsed() > 0 ? rateText(total / elapsed()) : "–");
  updateShares(row.shares, [total - failed, 0, 0, failed, 0]);
  setText(cells.p50, milliseconds(backend.p50_ms));
  setText(cells.p99, milliseconds(backend.p99_ms));
  updateShareCell(cells.failed, "bad", "✕", failed, total);
  setText(cells.failures, failures.map((outcome) => `${spaced(outcome.name)} ${outcome.count}`).join(", "));
  setText(cells.running, String(backend.running));
  setText(cells.waiting, String(backend.waiting));
  setText(cells.connections, String(backend.connections));
  updateHealth(cells.health, backend);
  row.node.classList.toggle("idle", total === 0);
}

function updateHealth(cell, backend) {
  const problems = [];
  if (backend.breakers_open > 0) problems.push(`✕ circuit breaker open (workers: ${backend.breakers_open})`);
  if (backend.hosts_unavailable > 0) problems.push(`✕ hosts unavailable: ${backend.hosts_unavailable}`);
  if (backend.waiting > 0) problems.push("◷ calls wait for a permit");
  cell.className = problems.length > 0 ? "bad" : "result-ok";
  setText(cell, problems.join(", ") || "✓ good");
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
