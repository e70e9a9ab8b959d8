import Assembly
import Basics
import Gateway
import HTTP
import JSONText
import Promises

/// The latest remarkable requests of all workers as JSON, after a cursor: `GET /-/requests/recent`.
extension AdminPages {
    /// The answer changes with every request, and belongs to operators only.
    static var uncached: Fields {
        [.cacheControl: "no-store", FieldName("X-Content-Type-Options"): "nosniff"]
    }

    /// What the parameters of the page select.
    private struct Selection {
        var cursor = RequestCursor()
        var limit = 200
        var withSample = false

        static let limitMax = 500

        static let usage = "the parameters are after=CURSOR, limit=1...\(limitMax) and sample=1"

        /// Returns what is wrong with a parameter.
        mutating func read(_ name: String, _ value: String) -> String? {
            switch name {
            case "after":
                guard let cursor = RequestCursor(value) else { return Self.usage }
                self.cursor = cursor
            case "limit":
                guard let limit = Int(value), (1...Self.limitMax).contains(limit) else {
                    return Self.usage
                }
                self.limit = limit
            case "sample":
                guard value == "0" || value == "1" else { return Self.usage }
                withSample = value == "1"
            default: return Self.usage
            }
            return nil
        }
    }

    static func recentRequests(
        _ pages: AdminPages, _ request: Request, _ exchange: Exchange
    ) -> LocalPromise<AdminResponse> {
        var parameters = Selection()
        let fault = request.head.target.firstFault { parameters.read($0, String($1)) }
        if let fault { return exchange.local.value(.invalid(fault)) }
        let selection = parameters
        let answers = pages.process.monitor.recent.collect { worker in
            .requests(
                after: selection.cursor[worker], max: selection.limit,
                withSample: selection.withSample)
        }
        return answers.map { .body(.ok, Bytes(json(of: $0, selection))) }
    }

    private static func json(of answers: RecentCollector.Answers, _ selection: Selection) -> [UInt8]
    {
        var cursor = selection.cursor
        var requests: [ShownRequest] = []
        var (skipped, sampleOneIn) = (0, 1)
        for (worker, content) in answers.contents {
            guard case .requests(let list) = content else { continue }
            cursor[worker] = list.newest
            skipped += list.skipped
            sampleOneIn = max(sampleOneIn, list.sampleOneIn)
            var reader = WordReader(list.words)
            while let entry = RecentEntry(&reader) {
                guard let names = list.endpoints[entry.endpoint] else { continue }
                requests.append(ShownRequest(entry, names, worker: worker, clocks: list))
            }
        }
        requests.sort { $0.unixMicroseconds < $1.unixMicroseconds }
        skipped += max(0, requests.count - selection.limit)
        var json: [UInt8] = []
        json.appendObject { json in
            json.append("cursor", text: cursor.text)
            json.append(missingWorkers: answers.missing)
            json.append("skipped", skipped)
            json.append("sample_one_in", sampleOneIn)
            json.append("requests", list: requests.suffix(selection.limit)) { $1.append(to: &$0) }
        }
        return json
    }
}
