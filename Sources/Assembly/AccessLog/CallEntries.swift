import Basics
import Gateway
import HTTP

/// The field `calls` of an access log line: one entry for each call that was made, or that could not
/// be made.
struct CallEntries {
    private let calls: [CallRecord]
    private let attempts: [AttemptRecord]
    private let endpoint: RecordedEndpoint
    private let hidesTimes: Bool
    private let record: RequestRecord

    /// Nil where there is none.
    init?(_ record: RequestRecord, hidesTimes: Bool) {
        guard let endpoint = record.endpoint else { return nil }
        self.endpoint = endpoint
        self.hidesTimes = hidesTimes
        self.record = record
        calls = record.calls
        attempts = record.attempts
        guard calls.contains(where: { $0.outcome != .none }) else { return nil }
    }

    var count: Int { min(calls.count, endpoint.calls.count) }

    /// Calls that `when` leaves out have no entry.
    func isShown(_ index: Int) -> Bool { calls[index].outcome != .none }

    func add(_ index: Int, to entry: inout LogLine) {
        let (call, names) = (calls[index], endpoint.calls[index])
        entry.add("name", names.name)
        let deciding = call.decidingAttempt.map { attempts[Int($0)] }
        let shown =
            deciding
            ?? attempts.last { Int($0.call) == index && $0.permitted.hasHappened }
        if let host = shown?.host, names.hosts.indices.contains(Int(host)) {
            entry.add("host", untrusted: names.hosts[Int(host)].bytes)
        }
        if let status = deciding?.status, status > 0 { entry.add("status", Int(status)) }
        if case .failed(let kind) = call.outcome {
            entry.add("kind", kind.facts.name)
            if let detail = record.detail(of: index) { entry.add("detail", untrusted: detail) }
        }
        if !hidesTimes, let duration = call.ended.since(call.began) {
            entry.add(milliseconds: "ms", duration)
            if let shown, let wait = shown.sent.since(shown.began) {
                entry.add(milliseconds: "wait_ms", wait)
            }
        }
        entry.add("attempts", Int(call.attempts))
        if let list = record.lists.first(where: { $0.call == index }) {
            entry.add("elements", list.elements)
            if list.failed > 0 { entry.add("failed_elements", list.failed) }
        }
        if let deciding, deciding.cause == .hedge { entry.add(literal: "winner", "hedge") }
    }
}
