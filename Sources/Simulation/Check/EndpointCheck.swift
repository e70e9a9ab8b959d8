import Rehearsal

/// Checks the response of an endpoint whose calls were made.
struct EndpointCheck {
    private let record: RunRecord
    private let request: RequestRecord
    private let answer: PeerMessage
    private let endpoint: DrawnEndpoint
    private let config: DrawnConfig
    private let model: RequestModel
    private let evidence: [CallEvidence]
    private let tree: Tree?
    /// What the answer says of failures; nil where it says nothing.
    private let told: [ToldFailure]?

    init(
        _ record: RunRecord, _ request: RequestRecord, _ answer: PeerMessage,
        _ endpoint: DrawnEndpoint,
        _ config: DrawnConfig
    ) {
        self.record = record
        self.request = request
        self.answer = answer
        self.endpoint = endpoint
        self.config = config
        model = RequestModel(request: request.request, config: config)
        evidence = endpoint.calls.map { CallEvidence($0, of: request, endpoint, config, record) }
        tree = Tree(reading: answer.body)
        told = Self.told(endpoint, answer, tree, isHead: request.request.method == "HEAD")
    }

    private static func told(
        _ endpoint: DrawnEndpoint, _ answer: PeerMessage, _ tree: Tree?, isHead: Bool
    ) -> [ToldFailure]? {
        switch endpoint.report {
        case .off: return nil
        case .header:
            let field = answer["Gateway-Failures"] ?? ""
            return field.split(separator: ",").compactMap {
                ToldFailure(field: String($0.drop { $0 == " " }))
            }
        case .body, nil:
            if isHead { return nil }
            let list = tree?["failures"] ?? tree?["_gateway"]?["failures"]
            return (list?.elements ?? []).compactMap { ToldFailure($0) }
        }
    }

    private var wanted: [DrawnCall] { endpoint.calls.filter { model.isWanted($0) } }

    private func call(named name: String) -> DrawnCall? {
        endpoint.calls.first { $0.name == name }
    }

    var violations: [Violation] {
        if relaysBody { return [] }
        // Whose answer is whose nobody can tell there, as RFC 9112 section 11.3 says.
        if evidence.contains(where: mayHaveAnything) { return [] }
        let isProblem = answer["Content-Type"] == "application/problem+json"
        let violations = unjustified + (isProblem ? failed : succeeded)
        return violations + heads
    }

    /// Whether a call may have taken something for its answer that was none.
    private func mayHaveAnything(_ evidence: CallEvidence) -> Bool {
        guard evidence.isPoisoned, model.isWanted(evidence.call) else { return false }
        guard evidence.attempts.isEmpty, let told else { return true }
        return !told.contains { $0.call == evidence.call.name }
    }

    // MARK: Failures

    private var unjustified: [Violation] {
        (told ?? []).compactMap { failure in
            guard let call = call(named: failure.call) else {
                return Violation(.contents, "there is no call \(failure.call)")
            }
            if failure.kind == .collision { return nil }
            guard !evidence[call.index].justifies(failure, told: told ?? []) else { return nil }
            return Violation(.status, "no reason for \(failure.kind.rawValue) of \(failure.call)")
        }
    }

    /// A problem: its status is the table's.
    private var failed: [Violation] {
        var violations: [Violation] = []
        if answer["Gateway-Complete"] != "false" {
            violations.append(Violation(.contents, "a failure without Gateway-Complete: false"))
        }
        if answer.status == 503, answer["Retry-After"] == nil {
            violations.append(Violation(.contents, "503 without Retry-After"))
        }
        let statuses = allowedStatuses
        if !statuses.contains(answer.status) {
            violations.append(Violation(.status, "\(answer.status) instead of \(statuses)"))
        }
        return violations
    }

    private var allowedStatuses: [Int] {
        let required = endpoint.requiredCalls.filter { model.isWanted($0) }
        guard let told, endpoint.report != .header || !told.isEmpty else {
            return possibleStatuses(required)
        }
        // A header does not tell why a call was skipped, and it may be the client's fault.
        let blamed = told.map { failure in
            var failure = failure
            if failure.kind == .skipped, failure.because == nil {
                failure.because = because(failure.call)
            }
            return failure
        }
        return statuses(of: told, required) + statuses(of: blamed, required)
    }

    private func statuses(of told: [ToldFailure], _ required: [DrawnCall]) -> [Int] {
        if required.isEmpty {
            guard told.map(\.call) == wanted.map(\.name) else { return [] }
            return [OutcomeTable.status(ofAll: told)]
        }
        return told.compactMap { failure in
            required.first { $0.name == failure.call }.map {
                OutcomeTable.status(of: failure, $0)
            }
        }
    }

    /// Why a call was skipped, if the client is to blame.
    private func because(_ name: String) -> String? {
        let use = call(named: name)?.uses.filter { !$0.isOptional }.first { use in
            if case .call = use.source { false } else { model.value(of: use.source) == nil }
        }
        return use.map { _ in "params.unknown" }
    }

    /// Where nothing is told: every status that some justified failure leads to.
    private func possibleStatuses(_ required: [DrawnCall]) -> [Int] {
        if required.isEmpty { return [400, 502, 503, 504] }
        var statuses: [Int] = [502]
        for call in required {
            for kind in FailureKind.allCases {
                var failure = ToldFailure(call: call.name, kind: kind)
                if kind == .unexpectedStatus {
                    statuses += evidence[call.index].refusedStatuses.filter { call.relays($0) }
                } else if evidence[call.index].justifies(failure, told: []) {
                    if kind == .skipped { failure.because = because(call.name) }
                    statuses.append(OutcomeTable.status(of: failure, call))
                }
            }
        }
        return statuses
    }

    /// `relay_body`: the backend's own answer.
    private var relaysBody: Bool {
        endpoint.requiredCalls.contains { call in
            call.relaysBody
                && evidence[call.index].attempts.contains { attempt in
                    guard case .answer(let status, let body, _) = attempt.act.outcome else {
                        return false
                    }
                    return status == answer.status && call.relays(status) && !call.accepts(status)
                        && (body == answer.body || request.request.method == "HEAD")
                }
        }
    }

    // MARK: Parts

    private var succeeded: [Violation] {
        let isComplete = answer["Gateway-Complete"] == "true"
        let status = isComplete ? 200 : endpoint.partialStatus ?? 200
        guard answer.status == status else {
            return [Violation(.status, "\(answer.status) for an answer of parts")]
        }
        if request.request.method == "HEAD" { return [] }
        guard case .object(var members)? = tree else {
            return [Violation(.contents, "an answer that is no object")]
        }
        if members.last?.key == "_gateway" { members.removeLast() }
        let body = Tree.object(members)
        for parts in combinations {
            let model = BodyModel(endpoint.calls, parts)
            if model.tree == body, fits(model, parts, isComplete) { return [] }
        }
        return [Violation(.contents, "no answers of its calls make this body")]
    }

    /// Every way in which the calls can have ended.
    private var combinations: [[BodyModel.Part]] {
        var combinations: [[BodyModel.Part]] = [[]]
        for evidence in evidence {
            let ways = ways(evidence)
            combinations = combinations.flatMap { parts in ways.map { parts + [$0] } }
            if combinations.count > 512 { break }
        }
        return combinations
    }

    private func ways(_ evidence: CallEvidence) -> [BodyModel.Part] {
        guard model.isWanted(evidence.call) else { return [.leftOut] }
        let values = evidence.values.map { BodyModel.Part.value($0) }
        guard let told else { return values + [.failed] }
        let hasFailed = told.contains {
            $0.call == evidence.call.name && $0.kind != .collision
        }
        return hasFailed ? [.failed] : values
    }

    /// Whether what failed, what is required and what is told go together.
    private func fits(_ body: BodyModel, _ parts: [BodyModel.Part], _ isComplete: Bool) -> Bool {
        var failed = zip(endpoint.calls, parts).filter { $0.1 == .failed }.map(\.0)
        failed += body.failed.map(\.call)
        guard isComplete == failed.isEmpty else { return false }
        if failed.contains(where: { $0.isRequired || endpoint.succeedWhen == .all }) {
            return false
        }
        if !wanted.isEmpty, failed.count == wanted.count, body.failed.isEmpty { return false }
        guard let told else { return true }
        let collisions = body.collisions + body.failed.map { ($0.call.name, $0.key) }
        let toldOnes = told.filter { $0.kind == .collision }
        guard toldOnes.count == collisions.count else { return false }
        return endpoint.report == .header
            || collisions.allSatisfy { collision in
                toldOnes.contains { $0.call == collision.call && $0.key == collision.key }
            }
    }

    // MARK: Head

    private var heads: [Violation] {
        var violations: [Violation] = []
        if request.request.flaw == nil, answer["X-Request-Id"] != request.mark {
            violations.append(Violation(.marks, "not the request's id"))
        }
        let isComplete = answer["Gateway-Complete"] == "true"
        let cached = isComplete ? endpoint.cacheControl : "no-store"
        if answer.status < 400, answer["Cache-Control"] != cached {
            violations.append(Violation(.contents, "Cache-Control is not \(cached ?? "absent")"))
        }
        if endpoint.serverTiming, answer.status < 300, answer["Server-Timing"] == nil {
            violations.append(Violation(.contents, "no Server-Timing"))
        }
        return violations
    }
}

extension CallEvidence {
    /// Statuses that came and that the call does not accept.
    var refusedStatuses: [Int] {
        attempts.compactMap { attempt in
            guard case .answer(let status, _, _) = attempt.act.outcome, !call.accepts(status) else {
                return nil
            }
            return status
        }
    }
}
