import Assembly
import Gateway
import HTTP
import Promises

/// The page of the workers' event loops.
extension AdminPages {
    static func loops(
        _ pages: AdminPages, _: Request, _: Exchange
    ) -> LocalPromise<AdminResponse> {
        pages.process.monitor.reports().map { reports in
            .json(
                .object([
                    ("loops", loops(of: reports)), ("certificates", certificates(of: reports)),
                ]))
        }
    }

    static func loops(of reports: [WorkerReport]) -> JSONTree {
        .list(reports.map(json))
    }

    /// All workers have the same ones.
    private static func certificates(of reports: [WorkerReport]) -> JSONTree {
        let state = reports.lazy.compactMap { $0.snapshot?.tls }.first
        return .list(
            (state?.certificates ?? []).map {
                .object([
                    ("name", .text($0.name)), ("not_after", .time($0.notAfter * 1_000_000_000)),
                ])
            })
    }

    /// The numbers of a worker that did not answer in time are missing.
    private static func json(of report: WorkerReport) -> JSONTree {
        var members: [(String, JSONTree)] = [
            ("worker", .number(report.worker)), ("answers", .flag(report.isUp)),
            ("heartbeat_age_ms", .milliseconds(report.heartbeatAge)),
        ]
        if report.isUp, let snapshot = report.snapshot {
            members += [
                ("client_connections", .number(snapshot.connections)),
                ("requests_in_flight", .number(snapshot.requests.count)),
                ("buffered_bytes", .number(snapshot.bufferedBytes)),
            ]
        }
        return .object(members)
    }
}
