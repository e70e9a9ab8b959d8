import Basics
import Gateway

/// The numbers of a rehearsal: for all requests and for each endpoint the outcomes, the responses with
/// their times, and the failed calls.
package struct RehearsalSummary {
    let seconds: Int
    let seed: UInt64
    let all: Outcomes
    /// The endpoints that got requests.
    let endpoints: [Endpoint]
    /// The number of the slowest request.
    let slowest: Int?

    /// Requests by outcome, and their response times.
    struct Outcomes {
        private(set) var ok = 0
        private(set) var partial = 0
        private(set) var failed = 0
        let times: ResponseTimes

        var requests: Int { times.count }

        init(_ requests: [RehearsedRequest]) {
            times = ResponseTimes(requests.map(\.duration))
            for request in requests {
                guard let response = request.sent?.response, response.status < 400 else {
                    failed += 1
                    continue
                }
                if request.isPartial { partial += 1 } else { ok += 1 }
            }
        }
    }

    struct Endpoint {
        let name: String
        let withoutSample: [String]
        let outcomes: Outcomes
        /// By name: `200`, `200 partial`.
        let responses: [(name: String, times: ResponseTimes)]
        /// The times to the first byte; nil for endpoints whose responses are not sent in pieces.
        let firstBytes: ResponseTimes?
        /// The most frequent one first.
        let failures: [(failure: ListedFailure, count: Int)]
    }

    package init(of rehearsal: RehearsalRun) {
        seconds = Int(rehearsal.duration.inNanoseconds / 1_000_000_000)
        seed = rehearsal.settings.seed
        all = Outcomes(rehearsal.requests)
        let requests = Dictionary(grouping: rehearsal.requests, by: \.endpoint)
        endpoints = rehearsal.survey.endpoints.enumerated().compactMap { index, endpoint in
            requests[index].map {
                Endpoint(
                    name: endpoint.name, withoutSample: endpoint.withoutSample,
                    outcomes: Outcomes($0), responses: Self.responses(of: $0),
                    firstBytes: rehearsal.hasDownloads(index)
                        ? ResponseTimes($0.compactMap(\.timeToFirstByte)) : nil,
                    failures: Self.failures(of: $0))
            }
        }
        // Of equally slow requests the first.
        slowest =
            rehearsal.requests.filter { $0.duration ?? .zero > .zero }
            .min { ($1.duration ?? .zero, $0.number) < ($0.duration ?? .zero, $1.number) }?.number
    }

    private static func responses(
        of requests: [RehearsedRequest]
    ) -> [(name: String, times: ResponseTimes)] {
        Dictionary(grouping: requests, by: \.outcome).sorted { $0.key < $1.key }
            .map { ($0.key, ResponseTimes($0.value.map(\.duration))) }
    }

    private static func failures(
        of requests: [RehearsedRequest]
    ) -> [(failure: ListedFailure, count: Int)] {
        Dictionary(grouping: requests.flatMap(\.failures), by: \.title)
            .sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
            .map { ($0.value[0], $0.value.count) }
    }
}

extension ListedFailure {
    /// `stock unexpected_status 503`
    var title: String { "\(call) \(kind.rawValue)" + (status.map { " \($0)" } ?? "") }
}

extension RehearsedRequest {
    /// `200`, `200 partial`, `504`
    var outcome: String {
        guard let response = sent?.response else {
            return client.unfinishedResponse.map { "\($0.status) broken off" } ?? "no response"
        }
        return "\(response.status)" + (isPartial ? " partial" : "")
    }

    /// Whether the response lacks parts because of failed calls.
    fileprivate var isPartial: Bool {
        sent?.response.map { $0.status < 300 && $0["Gateway-Complete"] == "false" } ?? false
    }

    /// The failures that the response lists.
    fileprivate var failures: [ListedFailure] { sent?.response.map(ListedFailure.all) ?? [] }
}
