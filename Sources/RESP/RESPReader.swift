import Basics

/// Reads the replies on one connection in order, however its bytes are divided into pieces.
///
/// It is strict: what it accepts, every other reader of RESP2 reads as the same value. An array of
/// any announced length costs memory only for the elements that have arrived.
package struct RESPReader {
    private let limits: RESPLimits
    private var state = State.type
    /// The line or the bulk string that is being read.
    private var text: [UInt8] = []
    /// The arrays that are being read, the outermost first.
    private var open: [OpenArray] = []
    /// Bytes of the current reply so far.
    private var size = 0
    /// Elements that the arrays of the current reply announced.
    private var elements = 0
    private var failure: RESPError?

    private enum State {
        /// The next byte is the type of a value.
        case type
        case line(Kind)
        /// After the CR of a line.
        case lineEnd(Kind)
        case bulk(missing: Int)
        /// CR and LF after a bulk string.
        case bulkEnd, bulkLineFeed
    }

    private enum Kind: UInt8 {
        case simple = 0x2B  // +
        case error = 0x2D  // -
        case integer = 0x3A  // :
        case bulk = 0x24  // $
        case array = 0x2A  // *

        /// Whether the line contains a number.
        var isNumber: Bool {
            switch self {
            case .integer, .bulk, .array: true
            case .simple, .error: false
            }
        }
    }

    private struct OpenArray {
        var missing: Int
        var values: [RESPValue] = []
    }

    private static let carriageReturn = UInt8(ascii: "\r")
    private static let lineFeed = UInt8(ascii: "\n")
    /// The sign and the digits of `Int64.min`.
    private static let numberBytesMax = 20

    package init(limits: RESPLimits) {
        self.limits = limits
    }

    /// Whether a reply has begun and has not ended.
    package var isInValue: Bool { size > 0 }

    /// The next reply in `bytes` from `position` on, and moves the position behind it; nil if it is
    /// not complete. An error is final.
    package mutating func read(
        _ bytes: Span<UInt8>, from position: inout Int
    ) throws(RESPError) -> RESPValue? {
        if let failure { throw failure }
        do throws(RESPError) {
            while position < bytes.count {
                if let value = try step(bytes, &position) { return value }
            }
            return nil
        } catch {
            failure = error
            throw error
        }
    }

    /// Reads as much as belongs to the present state.
    private mutating func step(
        _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(RESPError) -> RESPValue? {
        switch state {
        case .type:
            guard let kind = Kind(rawValue: bytes[position]) else { throw .type }
            try consume(1, &position)
            state = .line(kind)
        case .line(let kind):
            try readLine(kind, bytes, &position)
        case .lineEnd(let kind):
            guard bytes[position] == Self.lineFeed else { throw .lineEnd }
            try consume(1, &position)
            return try endLine(kind)
        case .bulk(let missing):
            let count = min(missing, bytes.count - position)
            text.append(copying: bytes.extracting(position..<(position + count)))
            try consume(count, &position)
            state = missing > count ? .bulk(missing: missing - count) : .bulkEnd
        case .bulkEnd:
            guard bytes[position] == Self.carriageReturn else { throw .stringEnd }
            try consume(1, &position)
            state = .bulkLineFeed
        case .bulkLineFeed:
            guard bytes[position] == Self.lineFeed else { throw .stringEnd }
            try consume(1, &position)
            return endValue(.bulk(takeText()))
        }
        return nil
    }

    private mutating func consume(_ count: Int, _ position: inout Int) throws(RESPError) {
        guard count <= limits.valueBytes - size else { throw .tooLarge }
        size += count
        position += count
    }

    private mutating func takeText() -> Bytes {
        let taken = text
        text = []
        return Bytes(taken)
    }

    // MARK: Lines

    private mutating func readLine(
        _ kind: Kind, _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(RESPError) {
        var end = position
        while end < bytes.count, bytes[end] != Self.carriageReturn, bytes[end] != Self.lineFeed {
            end += 1
        }
        let start = position
        // Checked before the text is stored.
        try consume(end - start, &position)
        text.append(copying: bytes.extracting(start..<end))
        if kind.isNumber, text.count > Self.numberBytesMax { throw .number }
        guard end < bytes.count else { return }
        guard bytes[end] == Self.carriageReturn else { throw .lineEnd }
        try consume(1, &position)
        state = .lineEnd(kind)
    }

    private mutating func endLine(_ kind: Kind) throws(RESPError) -> RESPValue? {
        switch kind {
        case .simple: return endValue(.simple(takeText()))
        case .error: return endValue(.error(takeText()))
        case .integer: return endValue(.integer(try takeNumber()))
        case .bulk: return try beginBulk(try takeNumber())
        case .array: return try beginArray(try takeNumber())
        }
    }

    private mutating func takeNumber() throws(RESPError) -> Int64 {
        guard let number = RESPNumber.read(text.span) else { throw .number }
        text.removeAll(keepingCapacity: true)
        return number
    }

    private mutating func beginBulk(_ length: Int64) throws(RESPError) -> RESPValue? {
        guard length >= 0 else {
            guard length == -1 else { throw .length }
            return endValue(.null)
        }
        guard length <= limits.valueBytes - size else { throw .tooLarge }
        text.reserveCapacity(Int(length))
        state = length == 0 ? .bulkEnd : .bulk(missing: Int(length))
        return nil
    }

    // MARK: Arrays

    private mutating func beginArray(_ count: Int64) throws(RESPError) -> RESPValue? {
        guard count >= 0 else {
            guard count == -1 else { throw .length }
            return endValue(.null)
        }
        guard open.count < limits.depth else { throw .tooDeep }
        guard count <= limits.elements - elements else { throw .tooManyElements }
        elements += Int(count)
        guard count > 0 else { return endValue(.array([])) }
        open.append(OpenArray(missing: Int(count)))
        state = .type
        return nil
    }

    /// A value is complete: the reply, if no array is open, or an element of the innermost array,
    /// which it may complete in turn.
    private mutating func endValue(_ last: RESPValue) -> RESPValue? {
        state = .type
        var value = last
        while var array = open.popLast() {
            array.values.append(value)
            array.missing -= 1
            guard array.missing == 0 else {
                open.append(array)
                return nil
            }
            value = .array(array.values)
        }
        size = 0
        elements = 0
        return value
    }
}

/// The numbers of RESP2.
enum RESPNumber {
    /// A decimal number: a minus or none, digits without leading zeros. Nil for anything else and
    /// beyond 64 bits.
    static func read(_ text: Span<UInt8>) -> Int64? {
        let isNegative = text.count > 0 && text[0] == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        guard text.count > first else { return nil }
        if text[first] == UInt8(ascii: "0") { return text.count == 1 ? 0 : nil }
        var value: Int64 = 0
        for index in first..<text.count {
            let digit = Int64(text[index]) - 0x30
            guard (0...9).contains(digit) else { return nil }
            // Negative, since `Int64.min` has no positive counterpart.
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (next, isTooSmall) = product.subtractingReportingOverflow(digit)
            guard !overflow, !isTooSmall else { return nil }
            value = next
        }
        if isNegative { return value }
        return value == .min ? nil : -value
    }
}
