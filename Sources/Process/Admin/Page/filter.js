// The language of the filter.

/** `status:5xx -call:stock "GET /products"` as words with a key, a text, and whether they exclude. */
function parseFilter(text) {
  const words = [];
  for (const match of text.matchAll(/(-?)(?:(\w+):)?(?:"([^"]*)"?|(\S+))/g)) {
    const value = (match[3] ?? match[4] ?? "").toLowerCase();
    if (value !== "") words.push({ excludes: match[1] === "-", key: match[2] ?? "", value });
  }
  return words;
}

const OUTCOME_WORDS = ["failed", "partial", "slow", "rejected", "ok"];

/** Whether something matches all words; `matches` decides one word. */
function passes(matches) {
  return state.filter.every((word) => matches(word) !== word.excludes);
}

function statusMatches(status, pattern) {
  const text = String(status);
  return text.length === pattern.length
    && [...pattern].every((character, index) => character === "x" || character === text[index]);
}

function callMatches(call, word) {
  if (word.key === "call") return call.name?.toLowerCase().includes(word.value);
  if (word.key === "backend") return call.backend?.toLowerCase().includes(word.value);
  return false;
}

function requestMatches(request, word) {
  const calls = request.calls;
  switch (word.key) {
    case "status": return statusMatches(request.status, word.value);
    case "endpoint": return request.endpoint.toLowerCase().includes(word.value);
    case "call": case "backend": return calls.some((call) => callMatches(call, word));
  }
  if (OUTCOME_WORDS.includes(word.value)) {
    return request.outcome === word.value || request.reasons.includes(word.value)
      || RESULTS[request.outcome]?.look === word.value;
  }
  const texts = [request.id, request.trace, request.endpoint, request.outcome, ...request.reasons];
  for (const call of calls) texts.push(call.name ?? "", call.backend ?? "", call.outcome);
  return texts.some((text) => text.toLowerCase().includes(word.value));
}

function endpointMatches(endpoint, word) {
  switch (word.key) {
    case "status": return true;
    case "endpoint": return endpoint.endpoint.toLowerCase().includes(word.value);
    case "call": case "backend": return endpoint.calls.some((call) => callMatches(call, word));
  }
  if (word.value === "slow" || word.value === "ok") return true;
  if (OUTCOME_WORDS.includes(word.value)) return endpoint[word.value] > 0;
  return endpoint.endpoint.toLowerCase().includes(word.value)
    || endpoint.calls.some((call) => `${call.name} ${call.backend}`.toLowerCase().includes(word.value));
}

function backendMatches(backend, word) {
  if (word.key !== "" && word.key !== "backend") return true;
  if (OUTCOME_WORDS.includes(word.value)) return true;
  return backend.name.toLowerCase().includes(word.value)
    || backend.outcomes.some((outcome) => outcome.name.includes(word.value));
}
