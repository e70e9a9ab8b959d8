package import Basics
package import HTTP

/// `forward: { query: ... }`: the client's query parameters that are sent on to a backend.
package enum QueryForward {
    case names([Bytes])
    /// Every parameter but the declared ones, whose values the calls use by themselves, and those of
    /// the call's own query, which a client must not repeat with another value.
    case all(except: [Bytes])

    /// Appends the forwarded parameters of a request to a target with or without a query of its own:
    /// repeated ones too, in the order of the request.
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
        case .all(let excluded): !excluded.contains(where: parameter.isNamed)
        }
    }

    private func append(_ parameter: QueryParameter, to target: inout [UInt8]) {
        switch self {
        case .names(let names):
            // Decoded and encoded again: the backend sees the name that the operator wrote.
            guard let name = names.first(where: parameter.isNamed) else { return }
            target.append(percentEncoding: name.span)
            target.append(UInt8(ascii: "="))
            // A value with a broken escape goes on as the characters that the client wrote.
            let value = parameter.decodedValue ?? parameter.value
            target.append(percentEncoding: value.span)
        case .all:
            // A query has no byte that could end a request line (`Target`).
            target.append(parameter.text)
        }
    }
}
