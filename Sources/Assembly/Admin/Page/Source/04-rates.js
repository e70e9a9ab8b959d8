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

function remember(overview) {
  const isBehind = state.overview && allEndpoints(overview).some((endpoint) => {
    const list = endpoint.endpoint === "" ? "unmatched" : "endpoints";
    const before = find(state.overview, list, endpoint.endpoint, "endpoint");
    return before && before.requests > endpoint.requests;
  });
  state.overview = overview;
  // The counts of a worker that did not answer are missing.
  if (overview.missing_workers.length > 0) return;
  // Another process, or other calls after a reload.
  if (isBehind) state.history = [];
  state.history.push(overview);
  const since = overview.at_ms - RATE_SECONDS * 1000;
  while (state.history.length > 2 && state.history[0].at_ms < since) state.history.shift();
}

const allEndpoints = (overview) => [...overview.endpoints, ...overview.unmatched];
