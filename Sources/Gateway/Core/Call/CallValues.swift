package import Basics
package import HTTP
package import JSONText

/// The values that the templates of one request can use: its parameters, head and body, and the
/// parts received so far.
///
/// One object per request, shared by its calls; confined to the request's worker. For an endpoint with
/// calls it is a `FanOutState`.
package class CallValues {
    package let head: RequestHead
    package let params: Params
    package let body: Bytes
    /// Nil where no template uses a part.
    private let parts: ReceivedParts?

    /// The body as JSON: as the endpoint checked it, else parsed when a template first uses a field
    /// of it.
    private lazy var bodyValue: JSONSlice? = try? JSONSlice(validating: body)

    /// The claims of the token as JSON, read when a template first uses one.
    private lazy var claims: JSONSlice? = context?.caller?.claims.flatMap {
        try? JSONSlice(validating: $0)
    }

    /// The element that a request of a list is made for, or several of a batch.
    private let element: ListElement?

    /// Nil where `explain` sends nothing, so that there is no connection.
    private let context: RequestContext?
    private let proxies: TrustedProxies

    /// - Parameters:
    ///   - checkedBody: the body as JSON, where the endpoint declares it
    ///   - calls: how many parts to store; 0 where no template uses another call's response
    ///   - context: for the client's address and the caller
    init(
        head: RequestHead, params: Params, body: Bytes = Bytes(), checkedBody: JSONSlice? = nil,
        calls: Int = 0, context: RequestContext? = nil, proxies: TrustedProxies = .none
    ) {
        self.head = head
        self.context = context
        self.proxies = proxies
        self.params = params
        self.body = body
        parts = calls > 0 ? ReceivedParts(calls) : nil
        element = nil
        if let checkedBody { bodyValue = checkedBody }
    }

    init(of values: CallValues, _ element: ListElement) {
        head = values.head
        context = values.context
        proxies = values.proxies
        params = values.params
        body = values.body
        parts = values.parts
        self.element = element
    }

    /// The same values, with an element of a list, or several of a batch.
    func with(_ element: ListElement) -> CallValues { CallValues(of: self, element) }

    /// Whether the caller is known, and so the claims of the caller's token.
    package var hasCaller: Bool { context?.caller != nil }

    /// The values of a request before its parameters are validated and its body is read: a parameter
    /// that is not valid counts as missing. Nothing else is known of body and calls.
    ///
    /// - Parameter params: those that are read
    convenience init(
        ofHead head: RequestHead, _ params: Params, _ context: RequestContext?,
        _ proxies: TrustedProxies
    ) {
        self.init(head: head, params: params, context: context, proxies: proxies)
    }

    /// Where the request comes from.
    var client: ClientAddress? { context?.clientAddress(of: head, proxies) }

    /// Appends the header lines that identify the client to a backend.
    func appendForwarded(_ lines: [ForwardedLine], to fields: inout Fields) {
        guard !lines.isEmpty, let client else { return }
        ForwardedFields(
            head, client, proxies.source, isSecure: context?.peer.facts?.isSecure == true
        ).append(lines, to: &fields)
    }

    /// Stores a part, unless no template uses another call's response.
    ///
    /// - Parameter part: nil for one that is not used after all
    func store(_ part: JSONSlice?, of call: Int) {
        parts?.byCall[call] = part
    }

    /// The stored part of a call; nil without one.
    func part(of call: CallPlan) -> JSONSlice? { parts?.byCall[call.index] }

    /// The plain text of a value; nil where it is missing, null, an object or an array.
    package func text(of source: CompiledTemplate.Source) -> Bytes? {
        switch source {
        case .param(let index): params[index]
        case .requestHeader, .requestQuery: headText(of: source)
        case .requestClient: client?.text
        case .requestCaller: context?.caller?.name
        case .requestBody(nil): body.isEmpty ? nil : body
        case .call, .requestBody, .token, .element: json(of: source)?.text
        }
    }

    /// The text of a header or a query parameter.
    func headText(of source: CompiledTemplate.Source) -> Bytes? {
        if let element { return element.values.headText(of: source) }
        return switch source {
        case .requestHeader(let name): head.fields[name].map { $0.bytes }
        case .requestQuery(let name): head.target.value(ofQuery: name)
        default: nil
        }
    }

    /// The value as JSON; nil where it is missing or null. Parameters and headers have none.
    package func json(of source: CompiledTemplate.Source) -> JSONSlice? {
        if let element { return element.json(of: source) }
        let value: JSONSlice? =
            switch source {
            case .call(let index, let path): parts?.byCall[index].flatMap { $0.value(at: path) }
            case .requestBody(let path): bodyValue.flatMap { $0.value(at: path) }
            case .token(let path): claims.flatMap { $0.value(at: path) }
            case .param, .requestHeader, .requestQuery, .requestClient, .requestCaller, .element:
                nil
            }
        guard let value, !value.isNull else { return nil }
        return value
    }

    /// The values of the elements of a batch, once each; nil for any other source, and where one is not text.
    func batchTexts(of source: CompiledTemplate.Source) -> [Bytes]? {
        guard case .element(let path) = source, let batch = element?.batch else { return nil }
        var texts: [Bytes] = []
        var known: Set<[UInt8]> = []
        for element in batch {
            guard let text = element.value(at: path)?.text else { return nil }
            if known.insert(text.array).inserted { texts.append(text) }
        }
        return texts
    }

    /// Whether a value with a type is a number, in any spelling of JSON; a parameter with a type may
    /// also be a truth value.
    func isNumber(_ source: CompiledTemplate.Source) -> Bool {
        if case .param = source { return true }
        return json(of: source)?.kind == .number
    }

    /// Whether the client sent a header or a query parameter several times, or a query parameter
    /// that cannot be decoded.
    func isAmbiguous(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .requestHeader(let name): head.fields.contains(name) && head.fields.single(name) == nil
        case .requestQuery(let name):
            head.target.hasQuery(name) && head.target.value(ofQuery: name) == nil
        case .param, .requestClient, .requestCaller, .requestBody, .token, .call, .element: false
        }
    }

    var hasJSONBody: Bool { element?.values.hasJSONBody ?? (bodyValue != nil) }

    /// Whether the value is missing only because `explain` sends nothing, so that it counts as there.
    /// Called only where a value is missing, so that it costs requests that are served nothing.
    package func isAssumed(_ source: CompiledTemplate.Source) -> Bool { false }

    /// Whether the request has no such value, so that an optional reference leaves it out. Null
    /// counts as absent; a value that is there and cannot be used does not.
    package func isAbsent(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .param(let index): params[index] == nil
        case .requestHeader(let name): !head.fields.contains(name)
        case .requestQuery(let name): !head.target.hasQuery(name)
        case .requestClient: client?.address == nil
        case .requestCaller: context?.caller?.name == nil
        case .token, .element: json(of: source) == nil
        case .requestBody(nil): body.isEmpty
        case .requestBody: body.isEmpty || (hasJSONBody && json(of: source) == nil)
        case .call: false
        }
    }
}

/// The parts received so far, for the templates that use them.
private final class ReceivedParts {
    /// Nil until the call's part is received.
    var byCall: [JSONSlice?]

    init(_ calls: Int) {
        byCall = Array(repeating: nil, count: calls)
    }
}

extension JSONSlice {
    /// The value at a path; without a path, the value itself.
    func value(at path: JSONPath?) -> JSONSlice? {
        guard let path else { return self }
        return value(at: path)
    }
}
