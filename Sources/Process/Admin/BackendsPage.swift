import Assembly
import Gateway
import HTTP
import Promises

/// The page of the backends and their hosts.
extension AdminPages {
    static func backends(
        _ pages: AdminPages, _: Request, _: Exchange
    ) -> LocalPromise<AdminResponse> {
        pages.process.monitor.reports().map { reports in
            .json(
                .object([
                    ("backends", backends(of: reports)),
                    ("missing_workers", .missingWorkers(reports)),
                ]))
        }
    }

    static func backends(of reports: [WorkerReport]) -> JSONTree {
        .list(BackendListing.all(of: reports).map(\.json))
    }
}
