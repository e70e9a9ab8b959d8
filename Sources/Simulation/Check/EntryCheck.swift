import Rehearsal

/// Refusals have their reason, and every response has the header lines that are configured: security
/// headers, fixed headers, and those of CORS.
struct EntryCheck {
    let record: RunRecord
    let violations: ViolationLog

    func check() {
        for request in record.requests.compactMap({ $0 }) {
            guard let response = request.response else { continue }
            check(request, response)
        }
    }

    /// During a reload, a request may be served under either configuration.
    private func check(_ request: RequestRecord, _ response: PeerMessage) {
        let models = record.configs(for: request).map {
            EntryModel(request: request.request, config: $0)
        }
        let received = lines(of: response)
        let expected = models.flatMap { expectedLines($0, request, response) }
        if !expected.contains(received) {
            violations.add(
                .headers, request.mark,
                "\(response.startLine) has \(text(received)), expected \(expected.map(text))")
        }
        checkReason(request, response)
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
            request.request.defect != nil || [400, 408, 431, 503].contains(response.status)
        let others = isOfServer ? [model.linesWithoutRequest, model.linesWithoutEndpoint] : []
        if response.status == 204, let rules = model.preflightRules {
            return [model.preflightLines(rules)]
        }
        if response.status == 421 || response.status == 403 && model.refusal == 403 {
            return [model.linesWithoutEndpoint]
        }
        return [model.lines] + others
    }

    private func checkReason(_ request: RequestRecord, _ response: PeerMessage) {
        let tree = Tree(reading: response.body)
        let reason = tree?["reason"]?.string
        let expected: String? =
            switch response.status {
            case 403 where request.request.defect == nil && isRefusal(request): "address"
            case 421: "host"
            case 429, 503: QuotaModel.violated(response) == nil ? nil : "quota"
            default: nil
            }
        guard request.request.method != "HEAD",
            response["Content-Type"] == "application/problem+json", reason != expected
        else { return }
        violations.add(
            .headers, request.mark,
            "\(response.status) has the reason \(reason ?? "none"), not \(expected ?? "none")")
    }

    /// Backends may respond 403, too, which a required call relays.
    private func isRefusal(_ request: RequestRecord) -> Bool {
        record.attempts(of: request).isEmpty
    }
}
