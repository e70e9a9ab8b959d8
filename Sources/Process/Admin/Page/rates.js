// How fast the counts of the overviews grow.

/** The first overview that is at most so old. */
const overviewSince = (age) => state.history.find((overview) => overview.at_ms >= state.overview.at_ms - age);

/** Seconds of the last minute that the page has seen. */
const elapsed = () => (state.overview.at_ms - overviewSince(HISTORY_MS).at_ms) / 1000;

function find(overview, list, name, nameKey) {
  overview.index ??= {};
  overview.index[list] ??= new Map(overview[list].map((item) => [item[nameKey], item]));
  return overview.index[list].get(name);
}

/** Takes the next overview, unless workers are missing in it that answered a moment ago: numbers of a moment
 * ago are better than none. */
function remember(overview) {
  state.missing = overview.missing_workers;
  const now = Date.now();
  if (state.missing.length > 0 && now - state.completeAt < KEEP_MS) return;
  if (state.missing.length === 0) state.completeAt = now;
  if (!isComparable(state.overview, overview)) Object.assign(state, { history: [], points: [], skipped: 0 });
  state.overview = overview;
  state.history.push({ at_ms: overview.at_ms, backends: overview.backends });
  while (state.history[0].at_ms < overview.at_ms - HISTORY_MS) state.history.shift();
  addPoint(overview);
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
