// How fast the counts of the overviews grow.

/** The first overview of the last seconds. */
function oldest() { return state.history[0]; }

function elapsed() {
  return state.history.length < 2 ? 0 : (state.overview.at_ms - oldest().at_ms) / 1000;
}

/** By how much a count of one endpoint grew in the last seconds; null before it is known. */
function growth(list, name, nameKey, count) {
  if (elapsed() <= 0) return null;
  const now = find(state.overview, list, name, nameKey);
  const then = find(oldest(), list, name, nameKey);
  return now && then ? Math.max(0, count(now) - count(then)) : null;
}

function find(overview, list, name, nameKey) {
  overview.index ??= {};
  overview.index[list] ??= new Map(overview[list].map((item) => [item[nameKey], item]));
  return overview.index[list].get(name);
}

function endpointGrowth(endpoint, key) {
  const list = endpoint.endpoint === "" ? "unmatched" : "endpoints";
  return growth(list, endpoint.endpoint, "endpoint", (item) => item[key]);
}

function perSecond(value) { return value === null ? null : value / elapsed(); }

/** Takes the next overview, unless workers are missing in it that answered a moment ago: numbers of a moment
 * ago are better than none. */
function remember(overview) {
  state.missing = overview.missing_workers;
  const now = Date.now();
  if (state.missing.length > 0 && now - state.completeAt < KEEP_MS) return;
  if (state.missing.length === 0) state.completeAt = now;
  if (!isComparable(state.overview, overview)) state.history = [];
  state.overview = overview;
  state.history.push(overview);
  const since = overview.at_ms - RATE_SECONDS * 1000;
  while (state.history.length > 2 && state.history[0].at_ms < since) state.history.shift();
}

/** Whether both overviews are of the same workers, and no count has become smaller: it does in another process,
 * and where a reload changed the calls of an endpoint. */
function isComparable(before, after) {
  if (!before || String(before.missing_workers) !== String(after.missing_workers)) return false;
  return allEndpoints(after).every((endpoint) => {
    const list = endpoint.endpoint === "" ? "unmatched" : "endpoints";
    const former = find(before, list, endpoint.endpoint, "endpoint");
    return !former || former.requests <= endpoint.requests;
  });
}

const allEndpoints = (overview) => [...overview.endpoints, ...overview.unmatched];
