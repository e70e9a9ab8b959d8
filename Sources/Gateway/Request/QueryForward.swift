import Basics
import HTTP

/// `forward: { query: [...] }`, the query parameters that go along to a backend.
struct QueryForward {
    let names: [Bytes]

    init(_ names: [String]) {
        self.names = names.map { Bytes($0) }
    }

    /// Appends those that the client sent to a target with or without a query of its own: repeated
    /// ones too, in the order of the request, decoded and encoded again.
    func append(from source: Target, to target: inout [UInt8]) {
        guard !names.isEmpty, let query = source.query else { return }
        var separator = UInt8(ascii: target.contains(UInt8(ascii: "?")) ? "&" : "?")
        for parameter in QueryParameters(query) {
            guard let name = name(of: parameter) else { continue }
            // A value with a broken escape goes on as the characters that the client wrote.
            let value = parameter.decodedValue ?? parameter.value
            target.append(separator)
            target.append(percentEncoding: name.span)
            target.append(UInt8(ascii: "="))
            target.append(percentEncoding: value.span)
            separator = UInt8(ascii: "&")
        }
    }

    /// The name by which a parameter goes along; nil if it does not.
    func name(of parameter: QueryParameter) -> Bytes? {
        names.first(where: parameter.isNamed)
    }
}
