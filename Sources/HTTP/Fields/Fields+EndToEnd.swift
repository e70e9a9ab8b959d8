package import Basics

/// What an intermediary passes on of a message's fields (RFC 9110 7.6.1).
extension Fields {
    /// A copy without the fields of the connection: the fields of HTTP itself, those that `Connection`
    /// names, `Proxy-*`, and `Proxy`. Of the others, those that `passes` accepts.
    ///
    /// - Parameters:
    ///   - reserved: the size of the lines that the caller will append, in bytes
    ///   - passes: whether a field passes; may be called twice for a field
    package func endToEnd(
        reserving reserved: Int, passing passes: (Span<UInt8>) -> Bool
    ) -> Fields {
        let source = text.span
        var rest = Fields(reserving: text.count - linesStart + reserved)
        var lines = FieldLines(from: linesStart)
        // Lines that pass one after another are copied together.
        var kept = linesStart
        while let line = lines.nextLine(in: source) {
            let name = source.extracting(line.name)
            let isOfHop = FieldName.isOfHop(name)
            if isOfHop, namesOptions(name, source.extracting(line.value)) {
                return endToEnd(reserving: reserved, without: namedByConnection(), passing: passes)
            }
            guard isOfHop || !passes(name) else { continue }
            rest.appendLines(source.extracting(kept..<line.all.lowerBound))
            kept = line.all.upperBound
        }
        rest.appendLines(source.extracting(kept...))
        return rest
    }

    private func endToEnd(
        reserving reserved: Int, without named: Set<UInt64>, passing passes: (Span<UInt8>) -> Bool
    ) -> Fields {
        let source = text.span
        var rest = Fields(reserving: text.count - linesStart + reserved)
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(in: source) {
            let name = source.extracting(line.name)
            guard !FieldName.isOfHop(name), passes(name), !named.contains(name.caselessHash)
            else { continue }
            rest.appendLines(source.extracting(line.all))
        }
        return rest
    }

    /// Whether this line of a head is a `Connection` that names other fields.
    private func namesOptions(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        name.equalsIgnoringCase("Connection")
            && !value.equalsIgnoringCase("keep-alive") && !value.equalsIgnoringCase("close")
    }

    /// Whether there is a field of that name.
    package func contains(named name: Span<UInt8>) -> Bool {
        var lines = FieldLines(from: linesStart)
        return lines.nextLine(named: name, in: text.span) != nil
    }

    /// The hashes of the options of `Connection`, which name other fields.
    ///
    /// Hashes, since a head may list thousands of options, and each of its fields would be compared
    /// with all of them. Equal hashes of different names remove a field that the sender could have
    /// named as well.
    private func namedByConnection() -> Set<UInt64> {
        var names: Set<UInt64> = []
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(named: FieldName.connection.span, in: text.span) {
            for option in ListEntries(Bytes(text)[line.value]) {
                names.insert(option.span.caselessHash)
            }
        }
        return names
    }

    /// Whether the client accepts trailers (RFC 9110 6.5.1): `TE: trailers`.
    package var acceptsTrailers: Bool {
        all("TE").contains { value in
            ListEntries(value.bytes).contains { $0.span.equalsIgnoringCase("trailers") }
        }
    }

    /// Whether a field that is a list of tokens has this one, whatever its case.
    package func lists(_ token: Span<UInt8>, in name: FieldName) -> Bool {
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(named: name.span, in: text.span) {
            for entry in ListEntries(Bytes(text)[line.value])
            where entry.span.equalsIgnoringCase(token) {
                return true
            }
        }
        return false
    }
}

extension Span<UInt8> {
    /// The hash FNV-1a; ASCII letters count without regard to case.
    fileprivate var caselessHash: UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in indices {
            let byte = self[index]
            let isUpper = byte &- UInt8(ascii: "A") < 26
            hash = (hash ^ UInt64(isUpper ? byte | 0x20 : byte)) &* 0x100_0000_01B3
        }
        return hash
    }
}

/// The entries of a comma-separated field value, without white space; empty ones are skipped (RFC
/// 9110 5.6.1).
package struct ListEntries: Sequence, IteratorProtocol {
    private let value: Bytes
    private var position = 0

    package init(_ value: Bytes) {
        self.value = value
    }

    package mutating func next() -> Bytes? {
        while position < value.count {
            let end = value.span.firstOffset(of: UInt8(ascii: ","), from: position) ?? value.count
            var (first, last) = (position, end)
            while first < last, ASCII.isWhiteSpace(value[first]) { first += 1 }
            while last > first, ASCII.isWhiteSpace(value[last - 1]) { last -= 1 }
            position = end + 1
            if first < last { return value[first..<last] }
        }
        return nil
    }
}

extension FieldName {
    package static var connection: FieldName { "Connection" }
    package static var date: FieldName { "Date" }
    package static var upgrade: FieldName { "Upgrade" }
    package static var via: FieldName { "Via" }

    /// Whether an intermediary never passes such a field on. `Proxy` is no field of HTTP: CGI makes it
    /// the variable `HTTP_PROXY`, by which libraries choose a proxy.
    package static func isOfHop(_ name: Span<UInt8>) -> Bool {
        if isOfConnection(name) { return true }
        guard name.count >= 5 else { return false }
        return switch name[0] | 0x20 {
        case UInt8(ascii: "h"): name.equalsIgnoringCase("HTTP2-Settings")
        case UInt8(ascii: "p"):
            name.extracting(first: min(name.count, 6)).equalsIgnoringCase("Proxy-")
                || name.equalsIgnoringCase("Proxy")
        default: false
        }
    }
}
