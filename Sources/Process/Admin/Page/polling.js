// Reading the documents twice a second.

/** Sends a request with the token, if there is one; asks for it where none or another one is accepted. */
async function request(path) {
  const headers = {};
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const response = await fetch(path, { headers, cache: "no-store", signal: AbortSignal.timeout(5000) });
  if (response.status !== 401) return response;
  if (!isTokenMissing()) byId("token-dialog").showModal();
  throw new Error("the token is missing");
}

const isTokenMissing = () => byId("token-dialog").open;

async function read(path) {
  const response = await request(path);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return response.json();
}

async function poll() {
  const sample = byId("sample").checked ? "&sample=1" : "";
  const [overview, recent] = await Promise.all([
    read("/-/overview"), read(`/-/requests/recent?limit=200&after=${state.cursor}${sample}`),
  ]);
  remember(overview);
  state.cursor = recent.cursor;
  state.skipped += recent.skipped;
  state.sampleOneIn = recent.sample_one_in;
  takeRequests(recent.requests);
  if (state.view === "process") await readProcess();
  state.failedSince = 0;
}

/** Polls until the page is paused, hidden, or without a token; then `wake` begins again. */
let isPolling = false;

async function keepPolling() {
  if (isPolling) return;
  isPolling = true;
  while (!state.isPaused && !document.hidden && !isTokenMissing()) {
    try {
      await poll();
    } catch {
      if (!isTokenMissing()) state.failedSince ||= Date.now();
    }
    show();
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  isPolling = false;
}

function sendToken() {
  sessionStorage.setItem("token", byId("token").value);
  byId("token").value = "";
  byId("token-dialog").close();
}
