/// A source file in two halves: its code, and its prose, which is the text of comments and of
/// string literals.
///
/// Interpolated expressions are code. Both halves keep the line ends.
enum SourceText {
    static func code(of text: String) -> [UInt8] {
        var scanner = Scanner(bytes: Array(text.utf8))
        scanner.readCode(untilParenthesis: false)
        return scanner.code
    }

    /// The text of comments, without their marks, and of string literals.
    static func prose(of text: String) -> String {
        var scanner = Scanner(bytes: Array(text.utf8))
        scanner.readCode(untilParenthesis: false)
        return String(decoding: scanner.prose, as: UTF8.self)
    }

    /// The identifiers that do not follow a dot and so are not members.
    static func identifiers(in code: [UInt8]) -> Set<String> {
        var found: Set<String> = []
        var index = 0
        while index < code.count {
            guard isNameByte(code[index]) else {
                index += 1
                continue
            }
            let start = index
            while index < code.count, isNameByte(code[index]) { index += 1 }
            // Three dots are a range or a variadic parameter.
            let isMember =
                start > 0 && code[start - 1] == UInt8(ascii: ".")
                && !(start > 1 && code[start - 2] == UInt8(ascii: "."))
            if !isMember { found.insert(String(decoding: code[start..<index], as: UTF8.self)) }
        }
        return found
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "_") || byte >= 0x80 || (0x30...0x39).contains(byte)
            || (0x61...0x7A).contains(byte | 0x20)
    }
}

/// Reads a file from left to right and separates code from prose.
private struct Scanner {
    let bytes: [UInt8]
    var code: [UInt8] = []
    var prose: [UInt8] = []
    private var at = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
        code.reserveCapacity(bytes.count)
    }

    /// Reads to the end of the file, or past the parenthesis that closes an interpolation.
    mutating func readCode(untilParenthesis: Bool) {
        var depth = 0
        while at < bytes.count {
            if starts("//") {
                readLineComment()
            } else if starts("/*") {
                skipBlockComment()
            } else if let hashes = hashesOfString {
                at += hashes
                readString(hashes: hashes)
            } else {
                if bytes[at] == UInt8(ascii: "(") { depth += 1 }
                if bytes[at] == UInt8(ascii: ")") {
                    depth -= 1
                    if untilParenthesis, depth < 0 {
                        at += 1
                        return
                    }
                }
                code.append(bytes[at])
                prose.append(Self.prose(for: bytes[at]))
                at += 1
            }
        }
    }

    /// What replaces a byte of code in the prose: the texts of two literals must not become one
    /// phrase, unless they are added.
    private static func prose(for code: UInt8) -> UInt8 {
        switch code {
        case UInt8(ascii: "\n"): code
        case UInt8(ascii: " "), UInt8(ascii: "+"): UInt8(ascii: " ")
        default: UInt8(ascii: "|")
        }
    }

    /// The number of `#` before a string literal that begins here; nil if none begins.
    private var hashesOfString: Int? {
        guard bytes[at] == UInt8(ascii: "#") || bytes[at] == UInt8(ascii: "\"") else { return nil }
        var end = at
        while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
        return end < bytes.count && bytes[end] == UInt8(ascii: "\"") ? end - at : nil
    }

    private mutating func readString(hashes: Int) {
        let isLong = starts("\"\"\"")
        let quotes = isLong ? "\"\"\"" : "\""
        let end = quotes + String(repeating: "#", count: hashes)
        let escape = "\\" + String(repeating: "#", count: hashes)
        at += quotes.utf8.count
        // Two literals must not become one word.
        code.append(UInt8(ascii: " "))
        while at < bytes.count {
            if starts(end) {
                at += end.utf8.count
                return
            }
            if starts(escape + "(") {
                at += escape.utf8.count + 1
                readCode(untilParenthesis: true)
                code.append(UInt8(ascii: " "))
            } else if starts(escape) {
                at += escape.utf8.count + 1
                prose.append(UInt8(ascii: " "))
            } else {
                if bytes[at] == UInt8(ascii: "\n") {
                    if !isLong { return }
                    code.append(bytes[at])
                }
                prose.append(bytes[at])
                at += 1
            }
        }
    }

    private mutating func readLineComment() {
        while at < bytes.count, bytes[at] == UInt8(ascii: "/") { at += 1 }
        while at < bytes.count, bytes[at] != UInt8(ascii: "\n") {
            prose.append(bytes[at])
            at += 1
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if starts("/*") {
                depth += 1
                at += 2
            } else if starts("*/") {
                depth -= 1
                at += 2
            } else {
                if bytes[at] == UInt8(ascii: "\n") { code.append(bytes[at]) }
                prose.append(bytes[at])
                at += 1
            }
        } while depth > 0 && at < bytes.count
    }

    private func starts(_ text: String) -> Bool {
        bytes[at] == text.utf8.first && bytes[at...].starts(with: text.utf8)
    }
}
