import Basics
import HTTP

/// The entry of this process in `Via` (RFC 9110 7.6.3), by which it recognises a request that it has
/// sent itself. The name is random for each process: replicas with one configuration may stand behind
/// each other. Shared by the workers of a process.
struct ViaEntry {
    /// `tributary-` and sixteen hexadecimal digits.
    let name: Bytes
    /// With the version of the received message.
    private let http10: FieldValue
    private let http11: FieldValue
    private let http2: FieldValue

    /// What the names of all gateways of this kind begin with.
    private static let prefix: StaticString = "tributary-"

    /// - Parameter key: the secret of the process
    init(_ key: KeyedHash.Key) {
        var hash = KeyedHash(key)
        hash.combine(Bytes("Via").span)
        let digits = String(hash.value, radix: 16)
        let padding = String(repeating: "0", count: 16 - digits.utf8.count)
        let name = "\(Self.prefix)\(padding)\(digits)"
        self.name = Bytes(name)
        http10 = FieldValue("1.0 \(name)") ?? ""
        http11 = FieldValue("1.1 \(name)") ?? ""
        http2 = FieldValue("2 \(name)") ?? ""
    }

    func value(for version: HTTPVersion) -> FieldValue {
        switch version {
        case .http10: http10
        case .http11: http11
        case .http2: http2
        }
    }

    /// Whether the request has passed this process before.
    func isNamed(in fields: Fields) -> Bool {
        fields.all(.via).contains { $0.bytes.contains(name) }
    }

    /// Whether other gateways of this kind have passed the request on: their calls must keep the
    /// entries, so that a loop through several of them ends.
    static func isNeeded(of line: FieldValue) -> Bool { line.bytes.contains(Bytes("\(prefix)")) }
}

extension Bytes {
    fileprivate func contains(_ text: Bytes) -> Bool {
        guard let first = text.span.isEmpty ? nil : text[0] else { return true }
        var start = 0
        while let index = span.firstOffset(of: first, from: start), index + text.count <= count {
            if self[index..<(index + text.count)] == text { return true }
            start = index + 1
        }
        return false
    }
}
