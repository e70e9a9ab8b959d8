import Basics
import HTTP
import Promises

/// The page for people at the root of the admin address: one document without external resources, whose
/// script reads `/-/overview` and `/-/requests/recent`.
extension AdminPages {
    /// The document and its data.
    static var document: [AdminPage] {
        [
            AdminPage(
                .read, "/", "the page for people: endpoints, requests and backends while they work",
                contentType: "text/html; charset=utf-8", fields: pageFields, needsToken: false,
                render: page),
            AdminPage(
                .read, "/-/overview",
                "requests, times and failures of each endpoint, call and backend as JSON; times"
                    + " cover the last 30 to 60 seconds",
                contentType: "application/json", fields: uncached, render: overview),
            AdminPage(
                .read, "/-/requests/recent",
                "the latest failed, partial, slow and rejected requests as JSON: `?after=CURSOR`,"
                    + " `limit=N`; `sample=1` adds others",
                contentType: "application/json", fields: uncached, render: recentRequests),
        ]
    }

    /// The browser runs only the script and the style of this document, connects only to its origin, and
    /// shows it in no frame.
    static var pageFields: Fields {
        var fields = uncached
        fields.append(FieldName("Content-Security-Policy"), PageDocument.contentSecurityPolicy)
        fields.append(FieldName("Referrer-Policy"), "no-referrer")
        return fields
    }

    static func page(
        _ pages: AdminPages, _: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        exchange.local.value(.body(.ok, PageDocument.html))
    }
}
