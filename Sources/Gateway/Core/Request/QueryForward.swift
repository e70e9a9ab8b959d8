package import Basics
package import HTTP

/// `forward: { query: ... }`: the client's query parameters that are forwarded to a backend.
package enum QueryForward {
    case names([Bytes])
    /// All parameters except the declared ones, which the calls use explicitly, and the parameters of the
    /// call's own query, which a client must not repeat with another value; nor in a spelling that
    /// some server reads as such a name. Those that the gateway uses itself pass under their own names.
    case all(except: [QueryName], using: UsedQueryNames)

    static func all(exceptNamed names: [Bytes], using used: [Bytes] = []) -> QueryForward {
        .all(except: names.map(QueryName.init(decoded:)), using: UsedQueryNames(used))
    }

    /// Appends the forwarded parameters of a request to a target with or without a query, including
    /// repeated ones, in the order of the request.
    package func append(from source: Target, to target: inout [UInt8]) {
        guard let query = source.query else { return }
        var separator = UInt8(ascii: target.contains(UInt8(ascii: "?")) ? "&" : "?")
        for parameter in QueryParameters(query) where forwards(parameter) {
            target.append(separator)
            append(parameter, to: &target)
            separator = UInt8(ascii: "&")
        }
    }

    package func forwards(_ parameter: QueryParameter) -> Bool {
        switch self {
        case .names(let names): names.contains(where: parameter.isNamed)
        case .all(let excluded, let used):
            (excluded.isEmpty || !parameter.names.contains { excluded.contains($0) })
                && used.passed(parameter) != nil
        }
    }

    private func append(_ parameter: QueryParameter, to target: inout [UInt8]) {
        switch self {
        case .names(let names):
            // Decoded and encoded again, so that the backend receives the configured name.
            guard let name = names.first(where: parameter.isNamed) else { return }
            target.append(percentEncoding: name.span)
            target.append(UInt8(ascii: "="))
            // A value with a broken escape is forwarded as the literal characters.
            let value = parameter.decodedValue ?? parameter.value
            target.append(percentEncoding: value.span)
        case .all(_, let used):
            // `Target` ensures that a query has no byte that could end a request line.
            if let text = used.passed(parameter) { target.append(text) }
        }
    }
}
