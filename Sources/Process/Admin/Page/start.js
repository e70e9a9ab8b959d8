// Connects the controls and begins.

const onClick = (id, action) => byId(id).addEventListener("click", action);

document.addEventListener("keydown", keyPressed);
document.addEventListener("visibilitychange", keepPolling);
byId("filter").addEventListener("input", filterChanged);
onClick("pause", () => { setPaused(!state.isPaused); keepPolling(); });
document.addEventListener("keyup", keepPolling);
onClick("help-button", () => byId("help").showModal());
onClick("help-close", () => byId("help").close());
for (const view of VIEWS) onClick(`tab-${view}`, () => showView(view));
onClick("older", () => stepDetail(-1));
onClick("newer", () => stepDetail(1));
onClick("copy", copyDetail);
onClick("close", closeDetail);
onClick("links", openLink);
onClick("explain-send", explain);
onClick("token-send", sendToken);
byId("token").addEventListener("keydown", (event) => { if (event.key === "Enter") sendToken(); });
byId("token-dialog").addEventListener("close", keepPolling);
keepPolling();
