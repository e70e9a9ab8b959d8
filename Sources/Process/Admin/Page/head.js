// The head and the foot of the page, its notice and its summary for screen readers.

function showHead() {
  const overview = state.overview;
  say("instance", overview.instance);
  document.title = `tributary ${overview.instance}`;
  say("build", `v${overview.version}  ·  ${overview.config}, loaded ${ageText(overview.config_age_s)} ago`);
  say("rate", rateText(totalRate("requests")));
  say("p50", msText(overview.p50_ms));
  say("p99", msText(overview.p99_ms));
  say("own", msText(overview.own_p50_ms));
  showFigure("partial", totalRate("partial"), "fair");
  showFigure("failed", totalRate("failed"), "bad");
  say("in-flight", wholeText(overview.requests_in_flight));
  say("kept", state.kinds.size > 0 ? String(state.kinds.size) : "");
}

function showFigure(id, rate, look) {
  const node = byId(id);
  node.className = rate > 0 ? look : "";
  setText(node, rateText(rate));
}

function totalRate(key) {
  return allEndpoints(state.overview).reduce((sum, { window }) =>
    sum + (window.requests > 0 ? window.rate * window[key] / window.requests : 0), 0);
}

/** How many requests were not kept because there were too many. */
function countedText() {
  const counted = allEndpoints(state.overview).reduce((sum, endpoint) => sum + endpoint.not_retained, 0);
  return counted > 0
    ? `${wholeText(counted)} requests only counted: more than 20 per second of one endpoint and reason.` : "";
}

function showFooter() {
  const parts = ["All figures are of the last 30 to 60 seconds; times in milliseconds."];
  if (byId("sample").checked && state.sampleOneIn > 1) parts.push(`Of ordinary requests one in ${state.sampleOneIn}.`);
  parts.push(countedText());
  if (state.skipped > 0) parts.push(`${wholeText(state.skipped)} requests left out.`);
  const { endpoints_left_out: leftOut } = state.overview;
  if (leftOut > 0) parts.push(`${leftOut} endpoints with fewer requests left out.`);
  say("footer", parts.join("  "));
}

/** What screen readers announce, at most every ten seconds. */
function announce() {
  if (Date.now() - state.summaryAt < SUMMARY_MS) return;
  state.summaryAt = Date.now();
  say("summary", `${rateText(totalRate("requests"))} requests per second, `
    + `${rateText(totalRate("partial"))} partial, ${rateText(totalRate("failed"))} failed, `
    + `p99 ${msText(state.overview.p99_ms)} milliseconds`);
}

function showNotice() {
  const overview = state.overview;
  let text = "";
  if (state.failedSince > 0) {
    text = `No answer from the gateway for ${ageText((Date.now() - state.failedSince) / 1000)}; the numbers are old.`;
  } else if (state.missing.length > 0) {
    text = `Not answering, and missing here or old: worker ${state.missing.join(", ")}.`;
  } else if (overview && !overview.serving) {
    text = "The gateway does not accept requests: it starts or drains.";
  } else if (overview?.failed_reload) {
    const { age_s: age, problem } = overview.failed_reload;
    text = `The last reload, ${ageText(age)} ago, failed, and the configuration before it is in use: ${problem}`;
  }
  byId("notice").hidden = text === "";
  say("notice", text);
}
