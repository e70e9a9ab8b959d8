import HTTP

/// The pages of the admin server. A new page is an entry here and a file with its renderer.
extension AdminPages {
    package static var table: [AdminPage] {
        [
            AdminPage(
                .read, "/", "the page for people: endpoints, requests and backends while they work",
                contentType: "text/html; charset=utf-8", fields: pageFields, render: page),
            AdminPage(
                .read, "/-/overview",
                "requests, times and failures of each endpoint, call and backend as JSON; times are"
                    + " those of the last minute",
                contentType: "application/json", fields: uncached, render: overview),
            AdminPage(
                .read, "/-/requests/recent",
                "the latest failed, partial, slow and rejected requests as JSON: `?after=CURSOR`,"
                    + " `limit=N`; `sample=1` adds others",
                contentType: "application/json", fields: uncached, render: recentRequests),
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
                .read, "/metrics", "metrics in Prometheus' text format",
                contentType: "text/plain; version=0.0.4; charset=utf-8", render: metrics),
            AdminPage(.action, "/-/reload", "reloads the configuration", render: reload),
            AdminPage(
                .change, "/-/log",
                "changes the log level for a time: `?level=debug&for=10m`; without `for` 10 minutes, at"
                    + " most 24 hours",
                render: changeLogLevel),
        ] + diagnostics
    }
}
