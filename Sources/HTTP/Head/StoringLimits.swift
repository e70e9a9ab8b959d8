import Basics

/// What the `Cache-Control` of a response forbids a cache (RFC 9111 5.2.2), as far as it restricts who
/// may store the response and use it again.
package struct StoringLimits: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// No limit. The initialiser of `SetAlgebra`, and so an empty array literal, is not specialised in other
    /// modules.
    package init() {
        rawValue = 0
    }

    package static let noStore = StoringLimits(rawValue: 1)
    package static let onlyPrivate = StoringLimits(rawValue: 2)
    package static let noCache = StoringLimits(rawValue: 4)

    /// Reads one value of `Cache-Control`. A directive with a list of fields counts as one without.
    package init(reading value: Span<UInt8>) {
        self.init()
        var start = 0
        var isQuoted = false
        var isEscaped = false
        for index in value.indices {
            if isEscaped {
                isEscaped = false
                continue
            }
            switch value[index] {
            case UInt8(ascii: "\\") where isQuoted: isEscaped = true
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                insert(directive: value.extracting(start..<index))
                start = index + 1
            default: break
            }
        }
        var rest = value.extracting(start..<value.count)
        // A quoted string without an end must not hide the directives behind it.
        while isQuoted, let comma = rest.firstOffset(of: UInt8(ascii: ","), from: 0) {
            insert(directive: rest.extracting(0..<comma))
            rest = rest.extracting((comma + 1)..<rest.count)
        }
        insert(directive: rest)
    }

    private mutating func insert(directive: Span<UInt8>) {
        let end = directive.firstOffset(of: UInt8(ascii: "="), from: 0) ?? directive.count
        let name = directive.extracting(0..<end).trimmed
        if name.equalsIgnoringCase("no-store") { insert(.noStore) }
        if name.equalsIgnoringCase("private") { insert(.onlyPrivate) }
        if name.equalsIgnoringCase("no-cache") { insert(.noCache) }
    }

    /// The limits of all lines of `Cache-Control`.
    package init(of fields: Fields) {
        self.init()
        for value in fields.all(.cacheControl) {
            formUnion(StoringLimits(reading: value.bytes.span))
        }
    }

    /// The value of `Cache-Control` with these limits; nil without a limit.
    package var fieldValue: FieldValue? {
        guard rawValue != 0 else { return nil }
        if contains(.noStore) { return "no-store" }
        switch (contains(.onlyPrivate), contains(.noCache)) {
        case (true, true): return "private, no-cache"
        case (true, false): return "private"
        case (false, true): return "no-cache"
        case (false, false): return nil
        }
    }
}
