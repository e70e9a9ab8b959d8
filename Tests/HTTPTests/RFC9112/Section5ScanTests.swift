import Testing

@testable import HTTP

/// RFC 9112 5: field lines are read in blocks; the verdicts are those of a reader that takes one
/// byte after the other.
@Suite struct Section5ScanTests {
    enum Verdict: Equatable {
        case incomplete
        /// The section ends before this offset.
        case complete(Int)
        case error(WireError)
    }

    /// The rules, one byte after the other, for lines without control fields and without limits.
    static func expected(_ bytes: [UInt8]) -> Verdict {
        var index = 0
        /// The next byte; nil at the end.
        func byte(_ offset: Int = 0) -> UInt8? {
            index + offset < bytes.count ? bytes[index + offset] : nil
        }
        while let first = byte() {
            if first == 13 {
                guard let second = byte(1) else { return .incomplete }
                return second == 10 ? .complete(index + 2) : .error(.lineEnd)
            }
            let start = index
            while let next = byte(), token.contains(next) { index += 1 }
            guard let nameEnd = byte() else { return .incomplete }
            guard nameEnd == UInt8(ascii: ":"), index > start else {
                if nameEnd == 10 { return .error(.lineEnd) }
                let isFolded = index == start && (nameEnd == 32 || nameEnd == 9)
                return .error(isFolded ? .foldedField : .fieldName)
            }
            index += 1
            while let next = byte(), next == 9 || (next >= 32 && next != 127) { index += 1 }
            guard let valueEnd = byte() else { return .incomplete }
            guard valueEnd == 13 else { return .error(valueEnd == 10 ? .lineEnd : .fieldValue) }
            guard let lineFeed = byte(1) else { return .incomplete }
            guard lineFeed == 10 else { return .error(.lineEnd) }
            index += 2
        }
        return .incomplete
    }

    static let token = Set(
        "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)

    static func read(_ bytes: [UInt8]) -> Verdict {
        var section = FieldSection(at: 0)
        return read(bytes, &section)
    }

    static func read(_ bytes: [UInt8], _ section: inout FieldSection) -> Verdict {
        do throws(WireError) {
            let end = try section.read(
                bytes.span, bytesMax: Limits().headerBytes, countMax: Limits().headerCount)
            return end.map(Verdict.complete) ?? .incomplete
        } catch {
            return .error(error)
        }
    }

    /// A field with that name and value, and another one behind it.
    static func head(_ name: [UInt8], _ value: [UInt8], last: String = "Accept: */*") -> [UInt8] {
        name + Array(": ".utf8) + value + Array("\r\n\(last)\r\n\r\n".utf8)
    }

    static func filler(_ count: Int) -> [UInt8] {
        [UInt8](repeating: UInt8(ascii: "k"), count: count)
    }

    /// Every byte value at every position of a name and of a value, in two blocks of 16 bytes and a rest.
    @Test(arguments: 0...36)
    func readsEveryByteAtEveryPosition(count: Int) {
        #expect(
            Self.read(Self.head(Self.filler(count), []))
                == Self.expected(Self.head(Self.filler(count), [])))
        var wrong = 0
        for position in 0..<count {
            var text = Self.filler(count)
            for byte in UInt8.min...UInt8.max {
                text[position] = byte
                for head in [Self.head(text, [120]), Self.head([120], text)]
                where Self.read(head) != Self.expected(head) {
                    wrong += 1
                }
            }
        }
        #expect(wrong == 0)
    }

    /// The same when the bytes arrive one by one, at the end of the section.
    @Test(arguments: [1, 8, 15, 16, 17, 20])
    func verdictsDoNotDependOnArrival(count: Int) {
        var wrong = 0
        for position in 0..<count {
            var text = Self.filler(count)
            for byte in UInt8.min...UInt8.max {
                text[position] = byte
                for head in [
                    Self.head(text, [120], last: "a:"), Self.head([120], text, last: "a:"),
                ] {
                    var section = FieldSection(at: 0)
                    var verdict = Verdict.incomplete
                    for end in 1...head.count where verdict == .incomplete {
                        verdict = Self.read(Array(head[..<end]), &section)
                    }
                    if verdict != Self.expected(head) { wrong += 1 }
                }
            }
        }
        #expect(wrong == 0)
    }
}
