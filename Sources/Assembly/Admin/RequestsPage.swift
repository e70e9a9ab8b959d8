import Basics
import HTTP
import JSONText
import Promises

/// The page of the requests in flight, as JSON: id, endpoint, and age unless the endpoint hides it.
/// Workers that did not answer in time are listed, because their requests are missing.
extension AdminPages {
    static func requests(_ pages: AdminPages, _: Request, _ exchange: Exchange) -> LocalPromise<
        AdminResponse
    > {
        pages.process.monitor.reports().map { .body(.ok, Bytes(json(of: $0))) }
    }

    private static func json(of workers: [WorkerReport]) -> [UInt8] {
        var json: [UInt8] = []
        json.append(literal: #"{"requests":["#)
        let requests = workers.compactMap(\.snapshot).flatMap(\.requests)
        for (index, request) in requests.enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json.append(request)
        }
        json.append(literal: #"],"missing_workers":["#)
        for (index, report) in workers.filter({ !$0.isUp }).enumerated() {
            if index > 0 { json.append(UInt8(ascii: ",")) }
            json.append(decimal: UInt64(report.worker))
        }
        json.append(literal: "]}")
        return json
    }
}

extension [UInt8] {
    /// Appends `{"id":"...","endpoint":"GET /x","age_ms":12}`.
    fileprivate mutating func append(_ request: RequestState) {
        append(literal: #"{"id":"#)
        append(jsonString: request.id)
        append(literal: #","endpoint":"#)
        append(jsonString: request.endpoint)
        if !request.hidesTiming {
            append(literal: #","age_ms":"#)
            append(decimal: UInt64(Swift.max(0, request.age.inNanoseconds / 1_000_000)))
        }
        append(UInt8(ascii: "}"))
    }
}
