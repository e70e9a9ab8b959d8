import HTTP

/// The pages that describe the running process, for its operators and for bug reports. All of them
/// are read-only, and all but the texts are JSON objects.
extension AdminPages {
    private static let json: FieldValue = "application/json"

    static var diagnostics: [AdminPage] {
        [
            AdminPage(
                .read, "/-/requests",
                "the requests in flight: their ages and what they wait for, unless `min_duration`"
                    + " hides it",
                contentType: json, render: requests),
            AdminPage(
                .read, "/requests", "the same as `/-/requests`", contentType: json,
                render: requests),
            AdminPage(
                .read, "/-/backends",
                "backends and hosts: whether they are usable, connections, permits, breakers",
                contentType: json, render: backends),
            AdminPage(
                .read, "/-/loops",
                "the workers: heartbeats, connections, requests, memory; certificates of the"
                    + " listeners",
                contentType: json, render: loops),
            AdminPage(
                .read, "/-/plan", "the endpoints and their calls, as `check` prints them",
                render: plan),
            AdminPage(
                .read, "/-/explain",
                "what the gateway does with a request, as `explain` prints it:"
                    + " `?method=GET&url=/path`",
                render: explain),
            AdminPage(
                .read, "/-/config",
                "the configuration in use, with defaults, without secrets and values of variables",
                contentType: json, render: config),
            AdminPage(
                .read, "/-/reload",
                "the last reload: result, problems, digests, and changes that need a restart",
                contentType: json, render: reloadStatus),
            AdminPage(
                .read, "/-/dump", "all of this in one document, for a bug report",
                contentType: json, render: dump),
        ]
    }
}
