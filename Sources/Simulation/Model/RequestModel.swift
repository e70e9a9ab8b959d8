import Rehearsal

/// What an endpoint makes of a request before any call: the first rows of the outcome table, and the
/// values that calls may use.
struct RequestModel {
    let request: ScriptedRequest
    let config: DrawnConfig

    enum Expectation {
        /// Refused, with one of these.
        case refused([Int])
        case goes(DrawnEndpoint)
    }

    var endpoint: DrawnEndpoint? { request.endpoint.map { config.endpoints[$0] } }

    var expectation: Expectation {
        if let flaw = request.flaw { return .refused(flaw.statuses + route) }
        guard let endpoint else { return .refused([404]) }
        guard methodFits(endpoint) else { return .refused([405]) }
        if let body = request.body, body.utf8.count > endpoint.body?.max ?? endpoint.maxBody {
            return .refused([413])
        }
        let hasFineParams = endpoint.params.allSatisfy { isFine($0) } && bodyIsFine(endpoint)
        return hasFineParams ? .goes(endpoint) : .refused([400])
    }

    /// Whether the route was matched, so that its `min_duration` holds.
    var isMatched: Bool {
        guard request.flaw == nil, let endpoint else { return false }
        return methodFits(endpoint)
    }

    /// What may be told before a flaw in the body is seen.
    private var route: [Int] {
        guard request.flaw == .badChunk else { return [] }
        return endpoint == nil ? [404] : [405, 413]
    }

    private func methodFits(_ endpoint: DrawnEndpoint) -> Bool {
        request.method == endpoint.method
            || request.method == "HEAD" && endpoint.method == "GET"
    }

    // MARK: Parameters

    private func values(of param: DrawnParam) -> [String] {
        if param.name == "id" { return [request.id].compactMap { $0 } }
        if param.isHeader { return [request.header(param.name)].compactMap { $0 } }
        return request.query.filter { $0.name == param.name }.map(\.value)
    }

    private func isFine(_ param: DrawnParam) -> Bool {
        let values = values(of: param)
        guard values.count <= 1 else { return false }
        guard let value = values.first else { return !param.isRequired }
        if param.name == "id", value == "." || value == ".." { return false }
        if param.isInteger { return Int(value).map { (1...999).contains($0) } ?? false }
        if !param.oneOf.isEmpty, !param.oneOf.contains(value) { return false }
        return value.count <= param.maxLength ?? .max
    }

    private func bodyIsFine(_ endpoint: DrawnEndpoint) -> Bool {
        guard endpoint.body != nil else { return true }
        guard let tree = Tree(reading: Array((request.body ?? "").utf8)), tree.isObject else {
            return false
        }
        return tree["user"]?.string != nil
    }

    // MARK: Values

    /// The value of a parameter, or its default.
    func value(of name: String) -> String? {
        guard let param = endpoint?.params.first(where: { $0.name == name }) else { return nil }
        return values(of: param).first ?? param.fallback
    }

    func wasSent(_ name: String) -> Bool {
        guard let param = endpoint?.params.first(where: { $0.name == name }) else { return false }
        return !values(of: param).isEmpty
    }

    func isWanted(_ call: DrawnCall) -> Bool {
        guard let when = call.when else { return true }
        guard let wanted = when.value else { return wasSent(when.param) }
        return value(of: when.param) == wanted
    }

    /// A value that the client's request brings; nil where it does not, or where another call does.
    func value(of source: DrawnUse.Source) -> String? {
        switch source {
        case .param(let name): value(of: name)
        case .header(let name): request.header(name)
        case .bodyField(let name):
            Tree(reading: Array((request.body ?? "").utf8))?[name]?.string
        case .call: nil
        }
    }
}

extension ScriptedRequest.Flaw {
    /// What a client is told.
    fileprivate var statuses: [Int] {
        switch self {
        case .twoLengths, .lengthAndChunked, .badLength, .badField, .foldedField, .noHost,
            .badVersion, .badChunk:
            [400]
        case .longTarget: [414]
        case .manyFields, .longField: [431]
        case .oddMethod: [501]
        }
    }
}
