import Basics
import Rehearsal

/// Status, head and body of every response are those that the model expects.
struct OutcomeCheck {
    let record: RunRecord
    let violations: ViolationLog

    /// Statuses of a listener, whatever the request: `HandshakesCheck` checks them.
    private let listenerStatuses: [Int: [Int]]

    init(record: RunRecord, violations: ViolationLog) {
        self.record = record
        self.violations = violations
        var statuses: [Int: [Int]] = [:]
        for client in record.clients {
            guard let handshake = client.handshake else { continue }
            let isRedirect = record.configs[0].listeners[handshake.listener].redirects
            guard isRedirect || handshake.hello == nil else { continue }
            for request in client.sent { statuses[request.number] = isRedirect ? [308] : [400] }
        }
        listenerStatuses = statuses
    }

    func check() {
        for client in record.clients {
            for request in client.sent {
                guard let response = request.response else { continue }
                check(request, response)
            }
        }
    }

    /// During a reload, a request may be served under either configuration.
    private func check(_ request: RequestRecord, _ response: PeerMessage) {
        var found: [Violation] = []
        for config in record.configs(for: request) {
            found = violations(of: request, response, config)
            if found.isEmpty { return }
        }
        for violation in found {
            violations.add(
                violation.checker, request.mark, "\(violation.text)\n\(summary(of: response))")
        }
    }

    private func summary(of response: PeerMessage) -> String {
        "  " + response.startLine + " " + String(decoding: response.body.prefix(600), as: UTF8.self)
    }

    private func violations(
        of request: RequestRecord, _ response: PeerMessage, _ config: DrawnConfig
    ) -> [Violation] {
        let status = response.status
        // Some of these paths are no valid targets, which comes first.
        let isInvalid = request.stream != nil && status == 400 && request.request.hasAmbiguousPath
        if record.excuses.add(.ambiguousPath, request, if: isInvalid) { return [] }
        if let statuses = listenerStatuses[request.number], statuses.contains(status) { return [] }
        if status == 431, exceedsHead(request) { return [] }
        let isLate = status == 408 && isTooSlow(request, config)
        if record.excuses.add(.slowClient, request, if: isLate) { return [] }
        if let refusal = record.limitRefusal(of: request) {
            return violations(of: request, refusal, config)
        }
        if status == 503, response["Gateway-Complete"] == nil {
            let isLimited =
                config.limits.limitsConnections || config.limits.requestsInFlight != nil
                || record.mayLackRoom
                || RequestModel(request: request.request, config: config).endpoint?.maxInFlight
                    != nil
                || QuotaModel(request: request.request, config: config).mayOverload
            let isRefusal = isLimited && response["Retry-After"] != nil
            if record.excuses.add(.serverLimit, request, if: isRefusal) { return [] }
            if request.stream == nil {
                return [Violation(.status, "503 without a limit, or without Retry-After")]
            }
        }
        let model = RequestModel(request: request.request, config: config)
        if let endpoint = model.reachedEndpoint, endpoint.proxy != nil,
            AuthModel(request: request.request, config: config, endpoint: endpoint)
                .callerDependsOnLimit
        {
            // Only one of the callers may have the right to use it.
            if record.excuses.add(.passwordCheck, request, if: status == 403) { return [] }
            return StreamOutcomeCheck(record: record).violations(of: request, endpoint, config)
        }
        switch model.expectation {
        case .refused(let statuses):
            guard statuses.contains(status) else {
                return [Violation(.status, "\(status), expected one of \(statuses)")]
            }
            if status == 405, response["Allow"] == nil {
                return [Violation(.contents, "405 without Allow")]
            }
            if status == 415, response["Accept"] == nil {
                return [Violation(.contents, "415 without Accept")]
            }
            let isProblem = response["Content-Type"] == "application/problem+json"
            return isProblem
                ? []
                : [Violation(.contents, "the body of a refusal is not application/problem+json")]
        case .preflight:
            return status == 204 && response.body.isEmpty
                ? [] : [Violation(.status, "\(status), expected the 204 of a preflight")]
        case .starts(let endpoint) where endpoint.proxy != nil:
            return StreamOutcomeCheck(record: record).violations(of: request, endpoint, config)
        case .starts(let endpoint):
            return EndpointCheck(record, request, response, endpoint, config).violations
        }
    }

    /// Whether the head has too many fields or bytes. A connection keeps the limits of the configuration
    /// under which it began.
    private func exceedsHead(_ request: RequestRecord) -> Bool {
        let text = String(decoding: request.request.bytes, as: UTF8.self).utf8
        let head = text.firstRange(of: "\r\n\r\n".utf8).map { text[..<$0.upperBound] } ?? text[...]
        let fields = head.count { $0 == 0x0A } - 2
        let firstLine = head.prefix { $0 != 0x0A }.count + 1
        // The size of a field includes 32 more bytes (RFC 9113 6.5.2).
        let size = request.http2 == nil ? head.count - firstLine : head.count + fields * 32
        return record.configs.map(\.limits).contains { limits in
            limits.headerCount.map { fields > $0 } ?? false
                || limits.headerBytes.map { size > $0 } ?? false
        }
    }

    /// `QuotaCheck` and `AuthFailuresCheck` know whether the limit was reached.
    private func violations(
        of request: RequestRecord, _ refusal: LimitRefusal, _ config: DrawnConfig
    ) -> [Violation] {
        let failures = AuthFailuresModel(request: request.request, config: config)
        if refusal != .authFailures, isLimited(request, config, by: refusal.violated ?? []) {
            return []
        }
        if refusal.violated == nil, failures.mayBeRefused { return [] }
        return [Violation(.status, "a limit refused a request that it does not count: \(refusal)")]
    }

    /// Whether the request may reach these rate limits, whose conditions hold.
    private func isLimited(
        _ request: RequestRecord, _ config: DrawnConfig, by names: [String]
    ) -> Bool {
        let model = RequestModel(request: request.request, config: config)
        let uses = QuotaModel(request: request.request, config: config).uses
        let known = uses.map { config.rateLimits[$0.limit].name }
        guard let endpoint = model.endpoint, !uses.isEmpty, names.allSatisfy(known.contains) else {
            return false
        }
        // Refused before its malformed body is read.
        if request.request.defect == .badChunk { return true }
        let entry = EntryModel(request: request.request, config: config)
        return model.isMatched && entry.preflightRules == nil && !entry.isRefused(by: endpoint)
    }

    /// Whether the client was slow enough for a 408. A body has five seconds before its rate is checked.
    private func isTooSlow(_ request: RequestRecord, _ config: DrawnConfig) -> Bool {
        guard let responded = request.responded else { return false }
        let limit = min(
            config.limits.headerTimeout ?? 10_000, config.limits.bodyTimeout ?? 5_000)
        return responded - request.began >= .milliseconds(limit)
    }
}
