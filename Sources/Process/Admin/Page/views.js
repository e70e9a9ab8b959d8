// The four views.

const VIEWS = ["endpoints", "requests", "backends", "process"];

const tables = {
  endpoints: new RowTable("endpoints", makeEndpoint, updateEndpoint, openEndpoint),
  requests: new RowTable("requests", makeKind, updateKind, openKind),
  backends: new RowTable("backends", makeBackend, updateBackend, openBackend),
  // Its tables have no rows to open.
  process: { isHeld: false, move() {} },
};

function showView(name) {
  state.view = name;
  for (const view of VIEWS) {
    byId(`view-${view}`).hidden = view !== name;
    setAttribute(byId(`tab-${view}`), "aria-selected", view === name);
    byId(`tab-${view}`).tabIndex = view === name ? 0 : -1;
  }
  show();
}

function show() {
  showNotice();
  if (!state.overview) return;
  showHead();
  showFooter();
  announce();
  ({ endpoints: showEndpoints, requests: showRequests, backends: showBackends, process: showProcess })[state.view]();
}

function setFilter(text) {
  byId("filter").value = text;
  filterChanged();
}

function filterChanged() {
  state.filter = parseFilter(byId("filter").value);
  show();
}

function setPaused(isPaused) {
  state.isPaused = isPaused;
  setAttribute(byId("pause"), "aria-pressed", isPaused);
  byId("pause").firstChild.nodeValue = isPaused ? "Paused " : "Pause ";
}
