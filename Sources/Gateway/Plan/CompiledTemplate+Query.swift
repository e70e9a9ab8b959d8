import Basics
import HTTP

// The query parameters of a compiled target.
extension CompiledTemplate {
    /// The decoded names of a target's query parameters, without names that contain a value.
    var literalQueryNames: [Bytes] {
        var reader = QueryNameReader()
        for piece in pieces {
            switch piece {
            case .literal(let bytes):
                for index in bytes.span.indices { reader.read(bytes[index]) }
            case .reference: reader.readValue()
            }
        }
        reader.endParameter()
        return reader.names
    }
}

/// Collects the names of query parameters while it reads a target from left to right.
private struct QueryNameReader {
    private enum Position {
        case path, name, value
    }

    private var position = Position.path
    private var name: [UInt8] = []
    /// Whether a reference is a part of the name, so that only a request determines it.
    private var hasValue = false
    private(set) var names: [Bytes] = []

    mutating func read(_ byte: UInt8) {
        switch (position, byte) {
        case (.path, UInt8(ascii: "?")): position = .name
        case (.name, UInt8(ascii: "=")): position = .value
        case (.name, UInt8(ascii: "&")), (.value, UInt8(ascii: "&")): endParameter()
        case (.name, _): name.append(byte)
        case (.path, _), (.value, _): break
        }
    }

    mutating func readValue() {
        if position == .name { hasValue = true }
    }

    mutating func endParameter() {
        guard position != .path else { return }
        if !name.isEmpty, !hasValue {
            let bytes = Bytes(name)
            names.append(bytes.percentDecoded(plusIsSpace: true) ?? bytes)
        }
        name = []
        hasValue = false
        position = .name
    }
}
