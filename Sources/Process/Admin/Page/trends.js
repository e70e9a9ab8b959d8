// Ten minutes of each row: requests per second, those that failed, and the p99.

/** Keeps counts and p99 of each row: `e` is an endpoint, `b` a backend. */
function addPoint(overview) {
  const last = state.points[state.points.length - 1];
  if (last && overview.at_ms - last.at < POINT_MS) return;
  const rows = new Map(allEndpoints(overview)
    .map((endpoint) => [`e ${endpoint.endpoint}`, [endpoint.requests, endpoint.failed, endpoint.p99_ms]]));
  for (const backend of overview.backends) {
    const counted = backend.outcomes.filter((outcome) => shareOf(outcome) !== null);
    const failed = counted.filter((outcome) => shareOf(outcome) === "failed");
    rows.set(`b ${backend.name}`, [sumOf(counted), sumOf(failed), backend.p99_ms]);
  }
  state.points = [...state.points.filter((point) => point.at > overview.at_ms - TREND_MS), { at: overview.at_ms, rows }];
}

/** The axis grows from one minute to ten. */
const TREND_MIN_MS = 60_000;
const WIDTH = 120;
const HEIGHT = 24;

function makeTrend() {
  const marks = ["area", "area-failed", "line"].map((name) => graphic("path", { class: name }));
  return graphic("svg", { class: "trend", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none" }, ...marks);
}

/** Draws a row again when there is another point. */
function updateTrend(row, key, isHidden) {
  const last = state.points[state.points.length - 1];
  if (row.point === last) return;
  row.point = last;
  const span = Math.min(TREND_MS, Math.max(TREND_MIN_MS, last.at - state.points[0].at));
  const steps = [];
  state.points.slice(1).forEach((point, index) => {
    const [now, before] = [point.rows.get(key), state.points[index].rows.get(key)];
    if (!now || !before) return;
    const perSecond = (place) => Math.max(0, now[place] - before[place]) * 1000 / (point.at - state.points[index].at);
    steps.push({ x: WIDTH * (1 - (last.at - point.at) / span), rate: perSecond(0), failed: perSecond(1), p99: now[2] });
  });
  const [rate, failed, p99] = ["rate", "failed", "p99"].map((name) => Math.max(0, ...steps.map((step) => step[name] ?? 0)));
  const [area, bad, line] = row.trend.children;
  const y = (value, largest) => (HEIGHT - (HEIGHT - 1) * (largest > 0 ? value / largest : 0)).toFixed(1);
  const outline = (name, largest) => steps.map((step) => `${step.x.toFixed(1)},${y(step[name] ?? 0, largest)}`).join(" ");
  const filled = (name) => (steps.length > 0
    ? `M${steps[0].x.toFixed(1)},${HEIGHT} L${outline(name, rate)} V${HEIGHT}Z` : "");
  setAttribute(area, "d", filled("rate"));
  setAttribute(bad, "d", failed > 0 ? filled("failed") : "");
  setAttribute(line, "d", p99 > 0 ? `M${outline("p99", p99)}` : "");
  describe(row.trend, steps.length === 0 ? "no trend yet"
    : `last ${ageText(span / 1000)}: at most ${rateText(rate)} per second, ${rateText(failed)} failed per second`
      + `${isHidden ? "" : `, p99 at most ${msText(p99)} ms`}`);
}
