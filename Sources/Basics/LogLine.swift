/// One log line under construction. Every value is escaped, so no client can forge a line.
package struct LogLine {
    private let format: Log.Format
    private var text: [UInt8]
    /// Inside an entry or a group, whose first field has no separator before it.
    private var isNested = false
    private var isFirst = false

    init(format: Log.Format, text: consuming [UInt8]) {
        self.format = format
        self.text = text
    }

    mutating func begin(_ time: [UInt8], _ level: StaticString, _ message: StaticString) {
        switch format {
        case .json:
            text.append(literal: #"{"time":""#)
            text.append(contentsOf: time)
            text.append(literal: #"","level":""#)
            text.append(literal: level)
            text.append(literal: #"","msg":""#)
            text.append(literal: message)
            text.append(UInt8(ascii: "\""))
        case .text, .combined:
            text.append(contentsOf: time)
            text.append(UInt8(ascii: " "))
            text.append(literal: level)
            text.append(UInt8(ascii: " "))
            text.append(literal: message)
        }
    }

    consuming func end() -> [UInt8] {
        text.append(literal: format == .json ? "}\n" : "\n")
        return text
    }

    /// Adds a whole number.
    package mutating func add(_ key: StaticString, _ value: Int) {
        beginField(key)
        if value < 0 { text.append(UInt8(ascii: "-")) }
        text.append(decimal: value.magnitude)
    }

    /// Adds a duration in milliseconds, to the microsecond.
    package mutating func add(milliseconds key: StaticString, _ duration: Duration) {
        beginField(key)
        let microseconds = UInt64(max(0, duration.inNanoseconds) / 1_000)
        text.append(decimal: microseconds / 1_000)
        text.append(UInt8(ascii: "."))
        let rest = microseconds % 1_000
        if rest < 100 { text.append(UInt8(ascii: "0")) }
        if rest < 10 { text.append(UInt8(ascii: "0")) }
        text.append(decimal: rest)
    }

    /// Adds a text that does not come from a client.
    package mutating func add(_ key: StaticString, _ value: String) {
        beginField(key)
        quote(isTrusted: true, Bytes(value))
    }

    /// Adds a literal that needs no escaping.
    package mutating func add(literal key: StaticString, _ value: StaticString) {
        beginField(key)
        appendQuote()
        text.append(literal: value)
        appendQuote()
    }

    /// Adds text that needs no escaping, such as hexadecimal digits.
    package mutating func add(plain key: StaticString, _ append: (inout [UInt8]) -> Void) {
        beginField(key)
        appendQuote()
        append(&text)
        appendQuote()
    }

    /// Adds arbitrary bytes of a client; bytes beyond ASCII are read as Latin-1.
    package mutating func add(_ key: StaticString, untrusted value: Bytes) {
        beginField(key)
        quote(isTrusted: false, value)
    }

    /// Adds a field whose name comes from the configuration.
    package mutating func add(name: Span<UInt8>, untrusted value: Bytes) {
        separate()
        appendQuote()
        text.append(copying: name)
        appendQuote()
        text.append(UInt8(ascii: format == .json ? ":" : "="))
        quote(isTrusted: false, value)
    }

    /// Adds a field that has fields of its own.
    package mutating func add(group key: StaticString, _ fields: (inout LogLine) -> Void) {
        beginField(key)
        nest(UInt8(ascii: format == .json ? "{" : "["), fields)
        text.append(UInt8(ascii: format == .json ? "}" : "]"))
    }

    /// Adds a list of entries with fields of their own: `[{"a":1},{"a":2}]`, or `[a=1;a=2]` in text.
    ///
    /// - Parameter fields: adds the fields of the entry with this number; not called for those that
    ///   `isShown` leaves out
    package mutating func add(
        entries key: StaticString, _ count: Int, where isShown: (Int) -> Bool,
        _ fields: (Int, inout LogLine) -> Void
    ) {
        beginField(key)
        text.append(UInt8(ascii: "["))
        var isFirstEntry = true
        for index in 0..<count where isShown(index) {
            if !isFirstEntry { text.append(UInt8(ascii: format == .json ? "," : ";")) }
            isFirstEntry = false
            nest(format == .json ? UInt8(ascii: "{") : nil) { fields(index, &$0) }
            if format == .json { text.append(UInt8(ascii: "}")) }
        }
        text.append(UInt8(ascii: "]"))
    }

    private mutating func nest(_ begin: UInt8?, _ fields: (inout LogLine) -> Void) {
        let outer = (isNested, isFirst)
        if let begin { text.append(begin) }
        (isNested, isFirst) = (true, true)
        fields(&self)
        (isNested, isFirst) = outer
    }

    /// Before every field.
    private mutating func separate() {
        if isNested, isFirst {
            isFirst = false
        } else {
            text.append(UInt8(ascii: isNested || format == .json ? "," : " "))
        }
    }

    private mutating func beginField(_ key: StaticString) {
        separate()
        appendQuote()
        text.append(literal: key)
        appendQuote()
        text.append(UInt8(ascii: format == .json ? ":" : "="))
    }

    private mutating func appendQuote() {
        if format == .json { text.append(UInt8(ascii: "\"")) }
    }

    /// Both formats quote as JSON does; the text format omits unnecessary quotes.
    private mutating func quote(isTrusted: Bool, _ value: Bytes) {
        let bytes = value.span
        if format != .json, !bytes.isEmpty, bytes.indices.allSatisfy({ Self.isPlain(bytes[$0]) }) {
            text.append(copying: bytes)
            return
        }
        text.append(UInt8(ascii: "\""))
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0x20..<0x7F: text.append(byte)
            case 0x80... where isTrusted: text.append(byte)
            default:
                text.append(literal: #"\u00"#)
                text.append(Self.hex(byte >> 4))
                text.append(Self.hex(byte & 15))
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Whether a byte can be part of an unquoted text: it separates nothing.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "="), UInt8(ascii: ","),
            UInt8(ascii: ";"), UInt8(ascii: "]"):
            false
        default: byte > 0x20 && byte < 0x7F
        }
    }

    private static func hex(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? UInt8(ascii: "0") + nibble : UInt8(ascii: "a") + nibble - 10
    }
}
