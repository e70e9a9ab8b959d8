// Connects the controls and begins.

document.addEventListener("keydown", keyPressed);
document.addEventListener("visibilitychange", keepPolling);
byId("filter").addEventListener("input", filterChanged);
byId("pause").addEventListener("click", () => { setPaused(!state.isPaused); keepPolling(); });
document.addEventListener("keyup", keepPolling);
byId("help-button").addEventListener("click", () => byId("help").showModal());
byId("help-close").addEventListener("click", () => byId("help").close());
for (const view of VIEWS) byId(`tab-${view}`).addEventListener("click", () => showView(view));
byId("older").addEventListener("click", () => stepDetail(-1));
byId("newer").addEventListener("click", () => stepDetail(1));
byId("copy").addEventListener("click", copyDetail);
byId("close").addEventListener("click", closeDetail);
byId("explain-send").addEventListener("click", explain);
byId("token-send").addEventListener("click", sendToken);
byId("token").addEventListener("keydown", (event) => { if (event.key === "Enter") sendToken(); });
byId("token-dialog").addEventListener("close", keepPolling);
keepPolling();
