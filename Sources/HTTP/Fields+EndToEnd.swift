package import Basics

/// What an intermediary passes on of a message's fields (RFC 9110 7.6.1).
extension Fields {
    /// A copy without the fields of the connection: those of HTTP itself, those that `Connection`
    /// names, and `Proxy-*`. Of the others, those that `passes` accepts.
    ///
    /// - Parameter reserved: the size of the lines that the caller will append, in bytes
    package func endToEnd(
        reserving reserved: Int, passing passes: (Span<UInt8>) -> Bool
    ) -> Fields {
        let source = text.span
        let named = namedByConnection()
        var rest = Fields(reserving: text.count + reserved)
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(in: source) {
            let name = source.extracting(line.name)
            guard !FieldName.isOfHop(name), passes(name),
                named.isEmpty || !named.contains(name.caselessHash)
            else { continue }
            rest.appendLine(source.extracting(line.all))
        }
        return rest
    }

    /// Whether there is a field of that name.
    package func contains(named name: Span<UInt8>) -> Bool {
        var lines = FieldLines(from: linesStart)
        return lines.nextLine(named: name, in: text.span) != nil
    }

    /// The hashes of the options of `Connection`, which name other fields; usually none.
    ///
    /// Hashes, since a head may list thousands of options, and each of its fields would be compared
    /// with all of them. Equal hashes of different names remove a field that the sender could have
    /// named as well.
    private func namedByConnection() -> Set<UInt64> {
        var names: Set<UInt64> = []
        var lines = FieldLines(from: linesStart)
        while let line = lines.nextLine(named: FieldName.connection.span, in: text.span) {
            let value = text.span.extracting(line.value)
            if value.equalsIgnoringCase("keep-alive") || value.equalsIgnoringCase("close") {
                continue
            }
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

    /// Whether an intermediary never passes such a field on.
    static func isOfHop(_ name: Span<UInt8>) -> Bool {
        isOfConnection(name) || name.equalsIgnoringCase("HTTP2-Settings")
            || (name.count > 6 && name.extracting(first: 6).equalsIgnoringCase("Proxy-"))
    }
}
