import Assembly
import Gateway
import HTTP
import Promises

/// The page of the requests in flight. Workers that did not answer in time are listed, because their
/// requests are missing.
extension AdminPages {
    static func requests(
        _ pages: AdminPages, _: Request, _: Exchange
    ) -> LocalPromise<AdminResponse> {
        pages.process.monitor.reports().map { reports in
            .json(
                .object([
                    ("requests", requests(of: reports)),
                    ("missing_workers", .missingWorkers(reports)),
                ]))
        }
    }

    static func requests(of reports: [WorkerReport]) -> JSONTree {
        .list(
            reports.flatMap { report in
                (report.snapshot?.requests ?? []).map { json(of: $0, worker: report.worker) }
            })
    }

    /// `{"id":"018f","endpoint":"GET /x","worker":0,"age_ms":12,"waits_for":"body"}`
    private static func json(of request: RequestState, worker: Int) -> JSONTree {
        var members: [(String, JSONTree)] = [
            ("id", .text(request.id)), ("endpoint", .text(request.endpoint)),
            ("worker", .number(worker)),
        ]
        if !request.hidesTiming { members.append(("age_ms", .milliseconds(request.age))) }
        if let wait = request.wait { members += self.members(of: wait) }
        return .object(members)
    }

    private static func members(of wait: RequestWait) -> [(String, JSONTree)] {
        switch wait {
        case .nothing: [("waits_for", .text("nothing"))]
        case .body: [("waits_for", .text("body"))]
        case .store: [("waits_for", .text("store"))]
        case .keys: [("waits_for", .text("keys"))]
        case .client: [("waits_for", .text("client"))]
        case .calls(let calls):
            [("waits_for", .text("calls")), ("calls", .list(calls.map(json)))]
        }
    }

    private static func json(of call: RequestWait.CallWait) -> JSONTree {
        var members: [(String, JSONTree)] = [
            ("name", .text(call.name)), ("backend", .text(call.backend)),
        ]
        if let host = call.host { members.append(("host", .text(host))) }
        return .object(
            members + [
                ("waits_for", .text(call.reason.rawValue)), ("ms", .milliseconds(call.time)),
                ("attempt", .number(call.attempt)),
            ])
    }
}
