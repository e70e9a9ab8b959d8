import Rehearsal

/// Refusals have their reason, and every response has the header lines that are configured: security
/// headers, fixed headers, and those of CORS.
struct EntryCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for client in record.clients {
            let isRedirected =
                client.handshake.map { record.configs[0].listeners[$0.listener].redirects } ?? false
            for request in client.sent {
                guard let response = request.response else { continue }
                check(request, response, isRedirected: isRedirected)
            }
        }
    }

    /// During a reload, a request may be served under either configuration.
    private func check(
        _ request: RequestRecord, _ response: PeerMessage, isRedirected: Bool
    ) {
        let models = record.configs(for: request).map {
            EntryModel(request: request.request, config: $0)
        }
        let received = lines(of: response)
        let expected = models.flatMap { model in
            isRedirected && Self.isRejection(response.status)
                ? [model.linesOfRedirect] : expectedLines(model, request, response)
        }
        if !expected.contains(received) {
            violations.add(
                .headers, request.mark,
                "\(response.startLine) has \(text(received)), expected \(expected.map(text))")
        }
        checkReason(request, response)
    }

    /// Whether the server itself may respond so, before the endpoint of a request.
    private static func isRejection(_ status: Int) -> Bool {
        [400, 408, 431, 503].contains(status)
    }

    private func lines(of response: PeerMessage) -> EntryModel.Lines {
        var lines: EntryModel.Lines = [:]
        for name in EntryModel.names {
            let values = response.all(name)
            if !values.isEmpty { lines[name] = values }
        }
        return lines
    }

    private func text(_ lines: EntryModel.Lines) -> String {
        lines.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value.joined(separator: " | "))" }
            .joined(separator: "; ")
    }

    /// The sets of lines that a response may have.
    private func expectedLines(
        _ model: EntryModel, _ request: RequestRecord, _ response: PeerMessage
    ) -> [EntryModel.Lines] {
        // What the server rejects may have no head, or one that is not used.
        let isOfServer =
            request.request.defect != nil || Self.isRejection(response.status)
        let others = isOfServer ? [model.linesWithoutRequest, model.linesWithoutEndpoint] : []
        if response.status == 204, let rules = model.preflightRules {
            return [model.preflightLines(rules)]
        }
        if response.status == 308 { return [model.linesOfRedirect] }
        if response.status == 421 || response.status == 403 && model.refusal == 403 {
            return [model.linesWithoutEndpoint]
        }
        return [model.lines] + others
    }

    private func checkReason(_ request: RequestRecord, _ response: PeerMessage) {
        guard request.request.method != "HEAD",
            response["Content-Type"] == "application/problem+json"
        else { return }
        let tree = Tree(reading: response.body)
        let reason = tree?["reason"]?.string
        let expected: [String?] =
            record.limitRefusal(of: request) == nil
            ? record.configs(for: request).flatMap { reasons(of: response.status, request, $0) }
            : ["quota"]
        if !expected.contains(reason) {
            violations.add(
                .headers, request.mark,
                "\(response.status) has the reason \(reason ?? "none"), expected one of"
                    + " \(expected.map { $0 ?? "none" })")
        }
    }

    /// The reasons that a response with this status may have.
    private func reasons(
        of status: Int, _ request: RequestRecord, _ config: DrawnConfig
    ) -> [String?] {
        if status == 421 { return ["host"] }
        // Backends may respond with the same statuses, which a required call relays.
        guard record.firstSent(for: request) == nil else { return [nil] }
        let defect = request.request.defect
        guard defect == nil || defect == .badChunk else { return [nil] }
        let model = RequestModel(request: request.request, config: config)
        if status == 400, let endpoint = model.endpoint, model.refusesPath(endpoint) {
            // Some paths are no valid targets, which the server finds before.
            return request.request.hasAmbiguousPath ? ["path", nil] : ["path"]
        }
        // Beyond the limit on failures, another credential than the password decides.
        let withoutPassword = model.refusalWithoutPassword.map { [$0.reason] } ?? []
        if let refusal = model.credentialRefusal, refusal.status == status {
            // The server may have refused the malformed message before.
            let mayBeMalformed = defect != nil || request.request.hasAmbiguousPath
            return (mayBeMalformed ? [refusal.reason, nil] : [refusal.reason]) + withoutPassword
        }
        switch status {
        case 403:
            let forbidden = EntryModel(request: request.request, config: config).forbiddenReason
            return [forbidden] + withoutPassword
        case 415: return ["content_type"]
        default: return [nil]
        }
    }
}
