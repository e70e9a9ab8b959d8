package import Basics

/// The list of values that tracing systems attach to a trace (W3C Trace Context, section 3.3). It is
/// passed on to backends without a member of this gateway's own.
package struct TraceState: Sendable, Equatable {
    /// The members, joined by commas; not empty.
    package let text: Bytes

    /// What a system has to pass on (section 3.3.1.5), in bytes.
    private static let bytesMax = 512
    /// Longer members are removed first.
    private static let memberBytesMax = 128
    private static let countMax = 32
    private static let comma = UInt8(ascii: ",")

    /// The members of all `tracestate` lines, in order. Nil if there are none, or if the list is
    /// malformed: then nothing of it may be passed on. Members with the same key stay, because they belong to
    /// other systems (level 2, section 3.5).
    package init?(_ fields: Fields) {
        // Most requests have none, and this allocates nothing for them.
        guard fields.contains(.tracestate) else { return nil }
        var members: [Bytes] = []
        for line in fields.all(.tracestate) {
            for member in Self.members(of: line.bytes) {
                guard members.count < Self.countMax, Self.isValid(member) else { return nil }
                members.append(member)
            }
        }
        Self.shorten(&members)
        guard !members.isEmpty else { return nil }
        text = Bytes(Array(members.map(\.array).joined(separator: [Self.comma])))
    }

    /// The members of one line, without the white space around them; empty ones are allowed and mean
    /// nothing.
    private static func members(of line: Bytes) -> [Bytes] {
        var members: [Bytes] = []
        var start = 0
        let text = line.span
        for index in 0...line.count where index == line.count || text[index] == Self.comma {
            let member = line[start..<index].trimmed
            if !member.isEmpty { members.append(member) }
            start = index + 1
        }
        return members
    }

    /// Whether a member is `key=value`.
    private static func isValid(_ member: Bytes) -> Bool {
        let text = member.span
        var end = 0
        while end < text.count, isKeyByte(text[end]) { end += 1 }
        guard (1...256).contains(end), end < text.count, text[end] == UInt8(ascii: "="),
            isFirstKeyByte(text[0]), (1...256).contains(text.count - end - 1)
        else { return false }
        for index in (end + 1)..<text.count where !isValueByte(text[index]) { return false }
        return true
    }

    /// A lower-case letter or a digit.
    private static func isFirstKeyByte(_ byte: UInt8) -> Bool {
        byte &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") < 10
    }

    private static func isKeyByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "*"), UInt8(ascii: "/"),
            UInt8(ascii: "@"):
            true
        default: isFirstKeyByte(byte)
        }
    }

    /// Visible, or a space; the comma and the equals sign separate.
    private static func isValueByte(_ byte: UInt8) -> Bool {
        (0x20...0x7E).contains(byte) && byte != comma && byte != UInt8(ascii: "=")
    }

    /// Removes whole members until the list is short enough: long ones first, then from the end
    /// (section 3.3.1.5).
    private static func shorten(_ members: inout [Bytes]) {
        while members.reduce(members.count - 1, { $0 + $1.count }) > bytesMax {
            members.remove(
                at: members.lastIndex { $0.count > memberBytesMax } ?? members.count - 1)
        }
    }
}
