import Assembly
import Basics
import HTTP
import Promises
import Reactor

/// The page of the metrics, in the format that the client prefers.
extension AdminPages {
    static func metrics(
        _ pages: AdminPages, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        let accepted = request.head.fields.all(.accept).map(\.description)
        let format = MetricsFormat(accept: accepted)
        return pages.process.monitor.reports().map { [process = pages.process, pages] workers in
            pages.exemplarClock.adjust(now: pages.loop.exactNow, unixTime: pages.loop.unixTime)
            let text = MetricsPage(process.facts, workers).text(format, pages.exemplarClock)
            return .negotiated(format.contentType, Bytes(text))
        }
    }
}
