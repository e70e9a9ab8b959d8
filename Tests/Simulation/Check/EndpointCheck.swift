import Rehearsal

/// Checks the response of an endpoint whose calls were made.
struct EndpointCheck {
    private let record: RunRecord
    private let request: RequestRecord
    private let response: PeerMessage
    private let endpoint: DrawnEndpoint
    private let config: DrawnConfig
    private let model: RequestModel
    private let evidence: [CallEvidence]
    private let tree: Tree?
    /// The failures that the response lists; nil if it lists none by configuration.
    private let listed: [ListedFailure]?

    init(
        _ record: RunRecord, _ request: RequestRecord, _ response: PeerMessage,
        _ endpoint: DrawnEndpoint,
        _ config: DrawnConfig
    ) {
        self.record = record
        self.request = request
        self.response = response
        self.endpoint = endpoint
        self.config = config
        model = RequestModel(request: request.request, config: config)
        evidence = endpoint.calls.map { CallEvidence($0, of: request, endpoint, config, record) }
        tree = Tree(reading: response.body)
        listed = Self.listedFailures(
            endpoint, response, tree, isHead: request.request.method == "HEAD")
    }

    private static func listedFailures(
        _ endpoint: DrawnEndpoint, _ response: PeerMessage, _ tree: Tree?, isHead: Bool
    ) -> [ListedFailure]? {
        // Records have the failures of members, and not of all calls.
        if response.hasParts { return nil }
        switch endpoint.report {
        case .off: return nil
        case .header:
            let field = response["Gateway-Failures"] ?? ""
            return field.split(separator: ",").compactMap {
                ListedFailure(field: String($0.drop { $0 == " " }))
            }
        case .body, nil:
            if isHead { return nil }
            let list = tree?["failures"] ?? tree?["_gateway"]?["failures"]
            return (list?.elements ?? []).compactMap { ListedFailure($0) }
        }
    }

    /// What the conditions say, with the failures that the response lists.
    private var conditions: ConditionModel {
        ConditionModel(
            record: record, request: request, endpoint: endpoint, config: config,
            listed: listed ?? [])
    }

    private func call(named name: String) -> DrawnCall? {
        endpoint.calls.first { $0.name == name }
    }

    var violations: [Violation] {
        if record.excuses.add(.relayedBody, request, if: relaysBody) { return [] }
        // Responses cannot be assigned to requests there (RFC 9112 section 11.3).
        let isAmbiguous = evidence.contains(where: mayBeAmbiguous)
        if record.excuses.add(.unsolicitedData, request, if: isAmbiguous) { return [] }
        let isProblem = response["Content-Type"] == "application/problem+json"
        let violations = unjustified + (isProblem ? failed : succeeded)
        return violations + heads
    }

    /// Whether a call may have taken unsolicited data for its response.
    private func mayBeAmbiguous(_ evidence: CallEvidence) -> Bool {
        guard evidence.isAmbiguous, conditions.canBeMade(evidence.call) else { return false }
        guard evidence.attempts.isEmpty, let listed else { return true }
        return !listed.contains { $0.call == evidence.call.name }
    }

    // MARK: Failures

    private var unjustified: [Violation] {
        (listed ?? []).compactMap { failure in
            // A member of `put`.
            if failure.call == "*", failure.kind == .collision { return nil }
            guard let call = call(named: failure.call) else {
                return Violation(.contents, "there is no call \(failure.call)")
            }
            if failure.kind == .collision { return nil }
            guard !evidence[call.index].justifies(failure, among: listed ?? []) else { return nil }
            return Violation(.status, "no cause for \(failure.kind.rawValue) of \(failure.call)")
        }
    }

    /// Checks a problem response: the status is that of the outcome table.
    private var failed: [Violation] {
        var violations: [Violation] = []
        if response["Gateway-Complete"] != "false" {
            violations.append(Violation(.contents, "a failure without Gateway-Complete: false"))
        }
        if response.status == 503, response["Retry-After"] == nil {
            violations.append(Violation(.contents, "503 without Retry-After"))
        }
        let statuses = allowedStatuses
        if !statuses.contains(response.status) {
            violations.append(Violation(.status, "\(response.status), expected one of \(statuses)"))
        }
        return violations
    }

    private var allowedStatuses: [Int] {
        let required = endpoint.requiredCalls.filter { conditions.canBeMade($0) }
        guard let listed, endpoint.report != .header || !listed.isEmpty else {
            return possibleStatuses(required)
        }
        // `Gateway-Failures` has no reason for a skipped call; the client's request may be the reason.
        let completed = listed.map { failure in
            var failure = failure
            if failure.kind == .skipped, failure.because == nil {
                failure.because = because(failure.call)
            }
            return failure
        }
        return statuses(of: listed, required) + statuses(of: completed, required)
    }

    private func statuses(of listed: [ListedFailure], _ required: [DrawnCall]) -> [Int] {
        var statuses = listed.compactMap { failure in
            required.first { $0.name == failure.call }.map {
                OutcomeTable.status(of: failure, $0)
            }
        }
        guard mayHaveFailedTogether(required) else { return statuses }
        let names = listed.map(\.call)
        let failed = endpoint.calls.filter { call in
            conditions.mustBeMade(call)
                || conditions.canBeMade(call) && names.contains(call.name)
        }
        if names == failed.map(\.name) { statuses.append(OutcomeTable.status(ofAll: listed)) }
        return statuses
    }

    /// Whether the failure of all calls may have decided the status: no call was required, or those
    /// that are were not made.
    private func mayHaveFailedTogether(_ required: [DrawnCall]) -> Bool {
        required.allSatisfy { !conditions.mustBeMade($0) }
    }

    /// The reason for which a call was skipped, if it is the client's request.
    private func because(_ name: String) -> String? {
        let use = call(named: name)?.uses.first { use in
            if case .call = use.source { false } else { model.isMissing(use) }
        }
        return use.map { _ in "params.unknown" }
    }

    /// Without a list of failures: every status that a possible failure leads to.
    private func possibleStatuses(_ required: [DrawnCall]) -> [Int] {
        if required.isEmpty { return [400, 502, 503, 504] }
        var statuses: [Int] = mayHaveFailedTogether(required) ? [400, 502, 503, 504] : [502]
        for call in required {
            for kind in FailureKind.allCases {
                var failure = ListedFailure(call: call.name, kind: kind)
                if kind == .unexpectedStatus {
                    statuses += evidence[call.index].refusedStatuses.filter { call.relays($0) }
                } else if evidence[call.index].justifies(failure, among: []) {
                    if kind == .skipped { failure.because = because(call.name) }
                    statuses.append(OutcomeTable.status(of: failure, call))
                }
            }
        }
        return statuses
    }

    /// `relay_body`: the response is the backend's own.
    private var relaysBody: Bool {
        endpoint.requiredCalls.contains { call in
            call.relaysBody
                && evidence[call.index].attempts.contains { attempt in
                    guard case .response(let status, let body, _) = attempt.script.outcome else {
                        return false
                    }
                    return status == response.status && call.relays(status) && !call.accepts(status)
                        && (body == response.body || request.request.method == "HEAD")
                }
        }
    }

    // MARK: Parts

    private var succeeded: [Violation] {
        if response.hasParts { return sentInParts }
        let isComplete = response["Gateway-Complete"] == "true"
        let status =
            isComplete ? endpoint.respond?[number: "status"] ?? 200 : endpoint.partialStatus ?? 200
        guard response.status == status else {
            return [Violation(.status, "\(response.status) for a response of parts")]
        }
        if request.request.method == "HEAD" { return [] }
        guard var body = tree else { return [Violation(.contents, "the body is no JSON")] }
        if case .object(let members) = body, members.last?.key == "_gateway" {
            body = .object(members.dropLast())
        }
        return combinations.contains { isMade(of: $0, body, isComplete) }
            ? [] : [Violation(.contents, "no combination of call results makes this response")]
    }

    /// Records make the document that the results of the calls make.
    private var sentInParts: [Violation] {
        guard endpoint.keys["parts"] != nil, request.request.prefersParts else {
            return [Violation(.contents, "parts that the client did not ask for")]
        }
        guard response.status == 200 else {
            return [Violation(.status, "\(response.status) for a response in parts")]
        }
        if request.request.method == "HEAD" { return [] }
        guard let records = PartsModel(response.body) else {
            return [Violation(.contents, "the body has no records with an end")]
        }
        return combinations.contains { makes(records, $0) }
            ? [] : [Violation(.contents, "no combination of call results makes these records")]
    }

    private func makes(_ records: PartsModel, _ parts: [BodyModel.Part]) -> Bool {
        let made = BodyModel(endpoint.calls, parts)
        let respond = RespondModel(
            endpoint.respond, endpoint.calls, parts, failed: made.failed.map(\.call))
        let document = respond?.members(of: made.tree).body ?? made.tree
        let lost = zip(endpoint.calls, parts).filter { $0.1.hasFailed }.map(\.0)
        let rooted = zip(endpoint.calls, parts).filter { $0.0.place == .root }
            .flatMap { part in part.1.value?.members.map(\.key) ?? [] }
        let failed =
            endpoint.report == .off
            ? []
            : endpoint.onlyCalls.filter { key, call in
                !rooted.contains(key)
                    && (lost + made.failed.map(\.call)).contains { $0.name == call }
            }.map(\.key)
        guard records.says(document, failed: failed) else { return false }
        let isPartial = !lost.isEmpty || !made.failed.isEmpty || parts.contains(where: \.isPartial)
        let isUnmet = lost.contains { $0.isRequired || endpoint.succeedWhen == .all }
        return records.isComplete == !isPartial && !isUnmet
    }

    /// Whether these results of the calls make this body and the header of `respond`.
    private func isMade(of parts: [BodyModel.Part], _ body: Tree, _ isComplete: Bool) -> Bool {
        // With `root`, the places of the parts do not matter.
        let hasRoot = endpoint.respond?["root"] != nil
        let made = BodyModel(hasRoot ? [] : endpoint.calls, parts)
        let respond = RespondModel(
            endpoint.respond, endpoint.calls, parts, failed: made.failed.map(\.call))
        let changed = respond?.members(of: made.tree) ?? (body: made.tree, taken: [])
        guard body == respond?.root ?? changed.body, response["X-Sum"] == respond?.header else {
            return false
        }
        return fits(made, hasRoot ? [] : changed.taken, parts, isComplete)
    }

    /// All possible combinations of call results.
    private var combinations: [[BodyModel.Part]] {
        var combinations: [[BodyModel.Part]] = [[]]
        for evidence in evidence {
            let possible = possibleParts(of: evidence)
            combinations = combinations.flatMap { parts in possible.map { parts + [$0] } }
            if combinations.count > 20_000 { break }
        }
        return combinations
    }

    private func possibleParts(of evidence: CallEvidence) -> [BodyModel.Part] {
        guard conditions.canBeMade(evidence.call) else { return [.disabled] }
        // A call that was sent is one whose condition held.
        let disabled: [BodyModel.Part] =
            conditions.mustBeMade(evidence.call) || !evidence.attempts.isEmpty ? [] : [.disabled]
        if evidence.call.hasList { return possibleLists(evidence) + disabled }
        let values = evidence.values.map { BodyModel.Part.value($0) }
        guard let listed else { return values + [.failed] + disabled }
        let hasFailed = listed.contains {
            $0.call == evidence.call.name && $0.kind != .collision
        }
        return hasFailed ? [.failed] : values + disabled
    }

    /// The parts of a call with `each`; of one that is listed, those with so many failed elements.
    private func possibleLists(_ evidence: CallEvidence) -> [BodyModel.Part] {
        let model = ListModel(evidence)
        guard let listed else { return model.parts.map(\.part) + [model.skipped] }
        let entry = listed.first { $0.call == evidence.call.name && $0.kind != .collision }
        guard let entry else { return model.parts.filter { $0.failed == 0 }.map(\.part) }
        guard let count = entry.count else { return [model.skipped] }
        // The first failures may decide, when others are still running.
        return model.parts.filter { part in
            if case .lost = part.part { part.failed >= count } else { part.failed == count }
        }.map(\.part)
    }

    /// Whether failed calls, required calls and listed failures are consistent.
    ///
    /// - Parameter taken: keys of `put` that existed
    private func fits(
        _ body: BodyModel, _ taken: [String], _ parts: [BodyModel.Part], _ isComplete: Bool
    ) -> Bool {
        var failed = zip(endpoint.calls, parts).filter { $0.1.hasFailed }.map(\.0)
        failed += body.failed.map(\.call)
        guard isComplete == (failed.isEmpty && !parts.contains(where: \.isPartial)) else {
            return false
        }
        if failed.contains(where: { $0.isRequired || endpoint.succeedWhen == .all }) {
            return false
        }
        let made = parts.count { $0 != .disabled }
        if made > 0, failed.count == made, body.failed.isEmpty { return false }
        guard let listed else { return true }
        let collisions =
            body.collisions + body.failed.map { ($0.call.name, $0.key) } + taken.map { ("*", $0) }
        let listedCollisions = listed.filter { $0.kind == .collision }
        guard listedCollisions.count == collisions.count else { return false }
        return endpoint.report == .header
            || collisions.allSatisfy { collision in
                listedCollisions.contains { $0.call == collision.call && $0.key == collision.key }
            }
    }

    // MARK: Head

    private var heads: [Violation] {
        var violations: [Violation] = []
        if request.request.defect == nil, response["X-Request-Id"] != request.mark {
            violations.append(Violation(.marks, "not the id of the request"))
        }
        let isComplete = response["Gateway-Complete"] == "true" && !response.hasParts
        let fallback = endpoint.isProtected ? "no-store" : nil
        let cached = isComplete ? endpoint.cacheControl ?? fallback : "no-store"
        if response.status < 400, response["Cache-Control"] != cached {
            violations.append(Violation(.contents, "Cache-Control is not \(cached ?? "absent")"))
        }
        if endpoint.serverTiming, response.status < 300, response["Server-Timing"] == nil {
            violations.append(Violation(.contents, "no Server-Timing"))
        }
        return violations
    }
}

extension CallEvidence {
    /// Received statuses that the call does not accept.
    var refusedStatuses: [Int] {
        attempts.compactMap { attempt in
            guard case .response(let status, _, _) = attempt.script.outcome, !call.accepts(status)
            else {
                return nil
            }
            return status
        }
    }
}

extension BodyModel.Part {
    /// Whether the call has failed.
    fileprivate var hasFailed: Bool {
        switch self {
        case .failed, .lost: true
        case .value, .partial, .disabled: false
        }
    }

    fileprivate var isPartial: Bool { if case .partial = self { true } else { false } }

    fileprivate var value: Tree? { if case .value(let tree) = self { tree } else { nil } }
}

extension DrawnEndpoint {
    /// The members that one call makes, and nothing of `respond`.
    fileprivate var onlyCalls: [(key: String, call: String)] {
        let placed = calls.compactMap { call in
            call.place.firstKey.map { (key: $0, call: call.name) }
        }
        let changed =
            (respond?["put"]?.members ?? []).map(\.key) + (respond?[texts: "drop"] ?? [])
        return placed.filter { entry in
            placed.count { $0.key == entry.key } == 1 && !changed.contains(entry.key)
        }
    }
}
