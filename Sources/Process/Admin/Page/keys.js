// The keyboard.

function isTyping(target) { return target.matches("input:not([type=checkbox]), textarea, select"); }

function keyPressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape") leaveFilter(event);
    if (event.key === "ArrowDown" || event.key === "Enter") moveRow(event, 1);
    return;
  }
  const action = KEYS[event.key];
  if (action && action(event) !== false) event.preventDefault();
}

const KEYS = {
  1: () => showView("endpoints"),
  2: () => showView("requests"),
  3: () => showView("backends"),
  4: () => showView("process"),
  "/": () => byId("filter").select(),
  "?": () => byId("help").showModal(),
  " ": (event) => (event.target.matches("button, input, a") ? false : setPaused(!state.isPaused)),
  ArrowDown: (event) => moveRow(event, 1),
  ArrowUp: (event) => moveRow(event, -1),
  ArrowLeft: (event) => moveSideways(event, -1),
  ArrowRight: (event) => moveSideways(event, 1),
  Home: () => tables[state.view].move(-Infinity),
  End: () => tables[state.view].move(Infinity),
  Enter: (event) => (event.target.rowKey === undefined ? false : tables[state.view].openRow(event.target)),
  Escape: () => escape(),
};

function moveRow(event, step) {
  event.preventDefault();
  tables[state.view].move(step);
}

function moveSideways(event, step) {
  if (event.target.matches("[role=tab]")) return moveTab(step);
  // A wide table scrolls with the arrow keys.
  if (!state.detail || event.target.matches(".scroll")) return false;
  return stepDetail(step);
}

function moveTab(step) {
  const next = VIEWS[(VIEWS.indexOf(state.view) + step + VIEWS.length) % VIEWS.length];
  showView(next);
  byId(`tab-${next}`).focus();
}

function escape() {
  if (state.detail) return closeDetail();
  if (tables[state.view].isHeld) return document.activeElement.blur();
  return setFilter("");
}

function leaveFilter(event) {
  event.preventDefault();
  if (byId("filter").value !== "") return setFilter("");
  return byId("filter").blur();
}
