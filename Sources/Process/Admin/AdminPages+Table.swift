import HTTP

/// The pages of the admin server. A new page is an entry here and a file with its renderer.
extension AdminPages {
    static let table: [AdminPage] =
        [
            AdminPage(
                .read, "/livez",
                "liveness: 200; 503 when a worker has not answered a heartbeat for ten seconds",
                acceptsAnyHost: true, needsToken: false, render: liveness),
            AdminPage(
                .read, "/readyz",
                "readiness: 200; 503 at the start, while draining, when a worker has not answered a"
                    + " heartbeat for two seconds, and while a backend with `readiness` is down;"
                    + " `?verbose` lists the checks",
                acceptsAnyHost: true, needsToken: false, render: readiness),
            AdminPage(
                .read, "/metrics",
                "metrics in Prometheus' text format, or in OpenMetrics' if `Accept` prefers it",
                contentType: "text/plain; version=0.0.4; charset=utf-8", render: metrics),
            AdminPage(.action, "/-/reload", "reloads the configuration", render: reload),
            AdminPage(
                .change, "/-/log",
                "changes the log level for a time: `?level=debug&for=10m`; without `for` 10 minutes, at"
                    + " most 24 hours",
                render: changeLogLevel),
        ] + diagnostics + document

    /// The paths that the page for people links, but for itself.
    static let listed = table.filter {
        $0.access == .read && $0.path != "/" && $0.path != "/-/explain"
    }
    .map(\.path)
}
