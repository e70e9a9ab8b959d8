import Rehearsal

/// The model of a request before any call: the first rows of the outcome table, and the values for
/// calls.
struct RequestModel {
    let request: ScriptedRequest
    let config: DrawnConfig
    /// The endpoint whose parameters it reads; nil for the endpoint of the request.
    var given: DrawnEndpoint?

    enum Expectation {
        /// The gateway refuses the request with one of these statuses.
        case refused([Int])
        /// The gateway responds to a CORS preflight.
        case preflight
        /// The gateway starts the calls of the endpoint.
        case starts(DrawnEndpoint)
    }

    var endpoint: DrawnEndpoint? { given ?? config.endpoint(of: request) }

    var expectation: Expectation {
        if let defect = request.defect {
            return .refused(defect.statuses + route + entryStatuses)
        }
        if let refusal = entry.refusal { return .refused([refusal]) }
        if entry.preflightRules != nil { return .preflight }
        guard let endpoint else { return .refused([404]) }
        guard methodFits(endpoint) else { return .refused([405]) }
        if refusesPath(endpoint) { return .refused([400]) }
        if entry.isRefused(by: endpoint) { return .refused([403]) }
        if case .refused(let refusal) = auth(endpoint) { return .refused([refusal.status]) }
        if isRefusedByType(endpoint) { return .refused([415]) }
        if let body = request.body,
            body.utf8.count > endpoint.body?[number: "max"] ?? endpoint.maxBody
        {
            return .refused([413])
        }
        let hasValidInput =
            endpoint.params.allSatisfy { isValid($0) } && queryIsKnown(endpoint)
            && bodyIsValid(endpoint)
        return hasValidInput ? .starts(endpoint) : .refused([400])
    }

    /// Whether the route was matched, so that its `min_duration` applies.
    var isMatched: Bool {
        guard request.defect == nil, let endpoint, entry.refusal == nil else { return false }
        return methodFits(endpoint)
    }

    /// Statuses that the gateway may send before it reads the malformed body.
    private var route: [Int] {
        guard request.defect == .badChunk else { return [] }
        return endpoint == nil ? [404] : [405, 413]
    }

    private func auth(_ endpoint: DrawnEndpoint) -> AuthModel.Outcome {
        AuthModel(request: request, config: config, endpoint: endpoint).outcome
    }

    /// Whether the credential decides, because nothing before it refuses the request.
    var refusesCredential: Bool { credentialRefusal != nil }

    /// Why the credential is refused, if nothing before it refuses the request.
    var credentialRefusal: AuthModel.Refusal? {
        guard let endpoint = reachedEndpoint, case .refused(let refusal) = auth(endpoint) else {
            return nil
        }
        return refusal
    }

    /// Why the request is refused if `auth_failures` keeps the gateway from checking the password, so
    /// that another credential names the caller; nil if this decides nothing.
    var refusalWithoutPassword: AuthModel.Refusal? {
        guard let endpoint = reachedEndpoint else { return nil }
        var auth = AuthModel(request: request, config: config, endpoint: endpoint)
        guard auth.callerDependsOnLimit else { return nil }
        auth.checksPasswords = false
        guard case .refused(let refusal) = auth.outcome else { return nil }
        return refusal
    }

    /// The endpoint of the request, if nothing refuses the request before the credential.
    var reachedEndpoint: DrawnEndpoint? {
        guard entry.refusal == nil, entry.preflightRules == nil, let endpoint,
            methodFits(endpoint), !refusesPath(endpoint), !entry.isRefused(by: endpoint)
        else { return nil }
        return endpoint
    }

    private var entry: EntryModel { EntryModel(request: request, config: config) }

    /// Statuses of refusals that may come before a malformed body is read.
    private var entryStatuses: [Int] {
        guard request.defect == .badChunk else { return [] }
        let isRefused = endpoint.map { entry.isRefused(by: $0) } ?? false
        let hasWrongType = endpoint.map { isRefusedByType($0) } ?? false
        return (entry.refusal.map { [$0] } ?? []) + (isRefused ? [403] : [])
            + (credentialRefusal.map { [$0.status] } ?? [])
            + (hasWrongType ? [415] : [])
    }

    /// A body, chunked or not empty, needs a listed type.
    private func isRefusedByType(_ endpoint: DrawnEndpoint) -> Bool {
        guard !endpoint.input.contentTypes.isEmpty, let body = request.body,
            !body.isEmpty || request.isChunked || request.defect == .badChunk
        else { return false }
        let type = request.header("Content-Type")?.split(separator: ";").first?.lowercased() ?? ""
        return !endpoint.input.contentTypes.contains(type)
    }

    /// Whether `paths` of the endpoint refuses the request.
    func refusesPath(_ endpoint: DrawnEndpoint) -> Bool {
        endpoint.proxy.map(request.isRefusedPath) ?? false
    }

    private func methodFits(_ endpoint: DrawnEndpoint) -> Bool {
        endpoint.accepts(request.method)
    }

    // MARK: Parameters

    private func values(of param: DrawnParam) -> [String] {
        if param.name == "id" { return [endpoint?.id(of: request)].compactMap(\.self) }
        if param.isHeader { return [request.header(param.name)].compactMap { $0 } }
        return request.query.filter { $0.name == param.name }.map(\.value)
    }

    func isValid(_ param: DrawnParam) -> Bool {
        let values = values(of: param)
        guard values.count <= 1 else { return false }
        guard let value = values.first else { return !param.isRequired }
        if param.name == "id", value == "." || value == ".." { return false }
        if param.isInteger { return Int(value).map { (1...999).contains($0) } ?? false }
        if !param.oneOf.isEmpty, !param.oneOf.contains(value) { return false }
        return value.count <= param.maxLength ?? .max
    }

    private func queryIsKnown(_ endpoint: DrawnEndpoint) -> Bool {
        guard endpoint.refusesUnknownQuery else { return true }
        let known = endpoint.knownQuery + config.queriesInConditions(beside: endpoint)
        return request.query.allSatisfy { known.contains($0.name) }
    }

    private func bodyIsValid(_ endpoint: DrawnEndpoint) -> Bool {
        guard endpoint.body != nil else { return true }
        guard let tree = body, tree.isObject else { return false }
        if endpoint.input.refusesUnknownFields, case .object(let members) = tree,
            members.contains(where: { $0.key != "user" })
        {
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

    /// The value of a source in the client's request; nil if it is absent, or a value of another
    /// call.
    func value(of source: DrawnUse.Source) -> String? {
        switch source {
        case .param(let name): value(of: name)
        case .header(let name): request.header(name)
        case .query(let name): queryValue(name)
        case .bodyField(let name): body?[name]?.string
        case .client: entry.address
        case .caller: caller?.rawValue
        case .call: nil
        }
    }

    /// Whether a call is skipped for this value of the client's request: it is absent, or too long for a
    /// head. All values that are drawn are much shorter or longer than that limit.
    func isMissing(_ use: DrawnUse) -> Bool {
        guard let value = value(of: use.source) else { return !use.isOptional }
        return value.utf8.count > 64 * 1024
    }

    /// Whether the client sent a header or a query parameter several times.
    func isAmbiguous(_ source: DrawnUse.Source) -> Bool {
        switch source {
        case .header(let name): request.headers.count { $0.name == name } > 1
        case .query(let name): request.query.count { $0.name == name } > 1
        case .param, .bodyField, .client, .caller, .call: false
        }
    }

    /// The client's body as JSON.
    var body: Tree? { Tree(reading: Array((request.body ?? "").utf8)) }

    /// The value of a parameter with the type that conditions compare.
    func tree(ofParam name: String, _ text: String?) -> Tree? {
        let isInteger = endpoint?.params.contains { $0.name == name && $0.isInteger } ?? false
        return text.map { isInteger ? .scalar($0) : .text($0) }
    }

    /// A parameter that occurs twice has no value.
    private func queryValue(_ name: String) -> String? {
        let values = request.query.filter { $0.name == name }.map(\.value)
        return values.count == 1 ? values[0] : nil
    }

    /// Nil if the endpoint is public, or accepts no credential of the request.
    var caller: DrawnCaller? {
        guard let endpoint,
            case .accepted(let caller, _) = AuthModel(
                request: request, config: config, endpoint: endpoint
            ).identity
        else { return nil }
        return caller
    }
}

extension ScriptedRequest.Defect {
    /// The statuses of the rejection.
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
