import Assembly
import Basics
import HTTP
import Promises
import Reactor

/// The page that reloads the configuration.
extension AdminPages {
    static func reload(_ pages: AdminPages, _: Request, _ exchange: Exchange) -> LocalPromise<
        AdminResponse
    > {
        if let refusal = pages.limitReloads() { return exchange.local.value(refusal) }
        return pages.process.reload().map(response)
    }

    private func limitReloads() -> AdminResponse? {
        if let wait = reloadLimit.wait(at: loop.now) {
            // Whole seconds, rounded up.
            let seconds = UInt64((wait.inNanoseconds + 999_999_999) / 1_000_000_000)
            return .refused(.tooManyRequests, [.retryAfter: FieldValue(seconds)])
        }
        return nil
    }

    private static func response(to outcome: ReloadOutcome) -> AdminResponse {
        switch outcome {
        case .done: .text(.ok, "reloaded\n")
        case .failed:
            .text(
                .unprocessableContent, "the last good configuration stays; the log says why\n")
        case .refused(let workers):
            .text(
                .serviceUnavailable,
                "\(WorkerMonitor.silence(of: workers)); the last good configuration stays\n")
        case .impossible: .text(.conflict, "there is nothing to reload\n")
        }
    }
}
