import Testing

/// What code that reads untrusted bytes must not do. The formatter refuses force unwraps
/// (`NeverForceUnwrap`), and `BannedTests` forced casts.
@Suite struct ParsingTests {
    /// Folders that read untrusted bytes; so do the keys and checks of features.
    static let folders = [
        "Sources/Basics/", "Sources/HTTP/", "Sources/JSONText/", "Sources/YAMLReader/",
        "Sources/Patterns/", "Sources/JOSE/", "Sources/Gateway/Core/Request/",
        "Sources/Gateway/Core/Router/",
        "Sources/Gateway/Config/", "Sources/Gateway/Features/Body/",
        "Sources/Gateway/Features/CORS/",
        "Sources/Gateway/Features/Paths/", "Sources/Gateway/Features/UnknownQuery/",
    ]

    private static func files() throws -> [Sources.File] {
        let files = try Sources.all()
        for folder in folders {
            try #require(files.contains { $0.path.hasPrefix(folder) }, "no file in \(folder)")
        }
        return files.filter { file in
            Rooms.isLanguage(file) || folders.contains { file.path.hasPrefix($0) }
        }
    }

    // MARK: Unchecked access

    /// The only files that access memory without the language's bounds checks, each with its own
    /// check.
    static let unchecked: Set<String> = [
        "Basics/ByteBudget.swift",  // one number, whose accesses cannot overlap
        "Basics/Permit.swift",  // one number and references, whose accesses cannot overlap
        "Basics/Bytes.swift",  // hands whole buffers to the standard library
        "Basics/TextBuffer.swift",  // each write goes through `reserve`, which makes room for it
        // An instant, and a list that is taken out before it is used.
        "HTTP/Message/Exchange.swift",
        // Only lifetimes: what is static stays.
        "HTTP/Fields/FieldName.swift", "HTTP/Fields/Span+Text.swift",
        "HTTP/Fields/ByteScan.swift",  // eight bytes at once, after `index + 8 <= count`
        "HTTP/Wire/RequestLine.swift",  // hands a whole buffer to the standard library
        // Hands memory to C with the number of its bytes.
        "JSONText/BlockClassifier.swift", "JSONText/ByteSearch.swift",
        "JSONText/Lookahead.swift",  // every load compares its offset with the count
    ]

    @Test func uncheckedAccessIsInFewPlaces() throws {
        for file in try Self.files() where !Self.unchecked.contains(file.name) {
            for (number, line) in file.code
            where line.contains("unchecked:") || line.contains("unsafe ") {
                Issue.record("\(file):\(number): \(line)")
            }
        }
    }

    // MARK: Overflow

    /// Lines that sum up a number digit by digit, and could overflow, each with its bound.
    static let sums = [
        "port = port * 10 + Int(digit)": "ends beyond 65535",
        "remaining = remaining << 4 | Int(digit)": "compared with Int.max >> 4 before",
        "number = number * 10 + UInt64(digit)": "nineteen digits",
        "value = value << 4 | UInt64(nibble)": "sixteen digits",
        "unit = unit << 4 | digit": "four digits",
        "for index in 0..<4 { unit = unit << 4 | (raw.byte(at &+ index).hexValue ?? 0) }":
            "four digits",
        "index = (index ?? 0) * 10 + Int(digit - .zero)": "nine digits",
        "number = min((number ?? 0) * 10 + digit, PatternProgram.sizeMax + 1)": "stops growing",
        "decoded.append(high << 4 | low)": "two digits",
        "return high << 4 | low": "two digits",
        "value = value << 4 | digit": "two or four digits",
        "bytes.append(high << 4 | low)": "two digits",
        "number = number * 10 + Int64(text[index] - UInt8(ascii: \"0\"))": "four digits",
        "size = min(size * 10 + Int(text[index] &- UInt8(ascii: \"0\")), 1 << 56)": "stops growing",
        "value = value << 4 | UInt32(digit)": "four digits",
        "fraction = fraction * 10 + (digit.wholeNumberValue ?? 0)": "eighteen digits",
        "bytes.append(second << 4 | third >> 2)": "six bits, of which four are used",
        "if rest == 3 { bytes.append(second << 4 | third >> 2) }": "the same",
    ]

    private static let signs = ["* 10 +", "<< 4 |", "(by: 10)"]

    @Test func digitsAreSummedUpWithABound() throws {
        var seen: Set<String> = []
        for file in try Self.files() {
            for (number, line) in file.code where Self.signs.contains(where: line.contains) {
                seen.insert(line)
                #expect(Self.sums[line] != nil, "\(file):\(number): which bound? \(line)")
            }
        }
        let unused = Set(Self.sums.keys).subtracting(seen).filter { !$0.contains("Reporting") }
        #expect(unused.isEmpty, "gone: \(unused)")
    }

    // MARK: Recursion

    /// Functions that call themselves, and what bounds the depth.
    static let recursive = [
        "checkObject(type:required:properties:at:)": "the depth of an operator's file",
        "pathsWithoutSample(_:in:)": "the depth of an operator's file",
        "append(_:_:)": "the depth of an operator's file, 512 and 1000",
        "valueTemplate(_:)": "the depth of an operator's file, 512 and 1000",
        "append(_:to:)": "the depth of an operator's file, 512 and 1000",
        "emit(_:)": "PatternParser.depthMax",
        "emit(_:least:most:)": "PatternParser.depthMax",
        "collect(_:in:into:)": "the steps of a path in a configuration",
        "members(of:)": "the schema",
        "append(compactTo:)": "the depth of an operator's file",
        "tree(_:_:)": "the depth of an operator's file", "masked(_:)": "the same",
        "endpoint(below:from:)": "the segments of the longest route",
        "append(decimal:digitsMin:)": "twenty digits", "append(decimal:)": "twenty digits",
        "checkParts(of:_:in:level:)": "the maximum number of levels",
        "plan(_:)": "the levels of a condition", "result(in:)": "the levels of a condition",
        "failing(in:)": "the levels of a condition",
        // These call overloads for other types.
        "append(_:)": "", "append(copying:)": "", "append(jsonString:)": "",
        "equalsIgnoringCase(_:)": "", "tail(_:)": "", "combine(_:)": "",
        "all(_:)": "",
    ]

    @Test func nothingRecursOnInput() throws {
        for file in try Self.files() {
            for call in Recursion.calls(in: file) where Self.recursive[call.function] == nil {
                Issue.record("\(file):\(call.line): \(call.function) calls itself: what bounds it?")
            }
        }
    }

    @Test func recursionIsFound() {
        let file = Sources.File(
            target: "X", path: "X.swift",
            lines: [
                "    func a(_ x: Int, to y: [Int]) {", "        a(f(x, y), to: y)",
                "        a(1, from: y)", "        other.a(1, to: y)", "    }",
            ])
        #expect(Recursion.calls(in: file).map(\.line) == [2])
    }
}

/// Finds functions that call themselves, by name and argument labels.
private enum Recursion {
    static func calls(in file: Sources.File) -> [(function: String, line: Int)] {
        var found: [(String, Int)] = []
        for (start, line) in file.lines.enumerated() {
            guard line.contains("func "),
                let head = line.firstMatch(of: /^(?<indent> *)[^\/]*\bfunc (?<name>\w+)/)
            else {
                continue
            }
            let name = String(head.name)
            let signature = file.lines[start...].prefix(8).joined(separator: " ")
            guard let own = labels(in: signature, of: "func \(name)", isCall: false) else {
                continue
            }
            let end = String(head.indent) + "}"
            for (offset, inner) in file.lines[(start + 1)...].enumerated() {
                if inner.hasPrefix(end) { break }
                guard !inner.contains("func \(name)"), calls(name, in: inner) else { continue }
                let text = file.lines[(start + 1 + offset)...].prefix(4).joined(separator: " ")
                guard labels(in: text, of: name, isCall: true) == own else { continue }
                found.append((own, start + 2 + offset))
            }
        }
        return found
    }

    /// Whether the line calls a function of that name, and not a method of something else.
    private static func calls(_ name: String, in line: String) -> Bool {
        line.split(separator: name + "(", omittingEmptySubsequences: false).dropLast().contains {
            guard let before = $0.last else { return true }
            return before != "." && before != "_" && !before.isLetter && !before.isNumber
        }
    }

    /// `name(_:to:)` of the first call or declaration of that name.
    private static func labels(in text: String, of name: String, isCall: Bool) -> String? {
        guard let start = text.firstRange(of: name) else { return nil }
        var rest = text[start.upperBound...]
        if !isCall, rest.first == "<", let end = rest.firstIndex(of: ">") {
            rest = rest[rest.index(after: end)...]
        }
        guard rest.first == "(" else { return nil }
        var depth = 0
        var part = ""
        var parts: [String] = []
        for character in rest {
            if "([{".contains(character) { depth += 1 }
            if ")]}".contains(character) { depth -= 1 }
            if depth == 0 || (depth == 1 && character == ",") {
                parts.append(part)
                part = ""
                if depth == 0 { break }
            } else if depth > 1 || character != "(" {
                part.append(character)
            }
        }
        let labels = parts.filter { $0.contains { $0 != " " } }.map { part in
            let label = part.firstMatch(of: /^\s*(\w+)\s*(?:\w+)?\s*:/).map { String($0.1) }
            return (label ?? "_") + ":"
        }
        return name.replacing("func ", with: "") + "(" + labels.joined() + ")"
    }
}

extension Sources.File {
    /// The path without `Sources/`.
    fileprivate var name: String { String(path.dropFirst("Sources/".count)) }
}
