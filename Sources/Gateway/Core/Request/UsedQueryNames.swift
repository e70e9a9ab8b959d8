package import Basics
package import HTTP

/// The query parameters that the gateway uses itself, at an endpoint that passes the client's whole query.
///
/// They pass under their own names only: a server that took `user[]` for `user` would use a value that
/// the gateway has not read.
package struct UsedQueryNames: Sendable {
    private let names: [Bytes]
    private let readings: [QueryName]

    /// - Parameter names: decoded
    package init(_ names: [Bytes] = []) {
        self.names = names
        readings = names.map(QueryName.init(decoded:))
    }

    package var isEmpty: Bool { names.isEmpty }

    /// What the backend receives of a parameter; nil for another spelling of a name.
    package func passed(_ parameter: QueryParameter) -> Bytes? {
        if names.isEmpty { return parameter.text }
        // For servers that split at semicolons, what follows one is another parameter.
        if names.contains(where: parameter.isNamed) { return parameter.text.escapingSemicolons }
        return parameter.names.contains { readings.contains($0) } ? nil : parameter.text
    }
}

extension Bytes {
    /// The bytes with `%3B` for `;`.
    var escapingSemicolons: Bytes {
        let semicolon = UInt8(ascii: ";")
        guard span.firstOffset(of: semicolon) != nil else { return self }
        return Bytes(array.flatMap { $0 == semicolon ? Array("%3B".utf8) : [$0] })
    }
}
