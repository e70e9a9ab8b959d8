/// Removes what a browser does not need from a part of the page: comments that have a line of their
/// own, and most spaces beside punctuation.
///
/// It works on bytes, since the page is made while a request waits.
enum CompactText {
    /// - Parameter punctuation: the characters beside which spaces go
    static func bytes(of source: [UInt8], beside punctuation: String) -> [UInt8] {
        let punctuation = Array(punctuation.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(source.count)
        for line in source.split(separator: UInt8(ascii: "\n")) {
            let line = line.drop { $0 == UInt8(ascii: " ") }
            if line.isEmpty || comments.contains(where: { line.starts(with: $0) }) { continue }
            if line.contains(regularExpression) {
                result += line
            } else {
                append(line, beside: punctuation, to: &result)
            }
            if let last = result.last, !openEnds.contains(last) {
                result.append(UInt8(ascii: "\n"))
            }
        }
        return result
    }

    private static let comments = ["//", "/*", "* ", "*/"].map { Array($0.utf8) }
    /// A line with a regular expression stays as it is.
    private static let regularExpression = Array("/(".utf8)
    /// Behind these characters the next line goes on in the same line.
    private static let openEnds = Array("{};,(>".utf8)

    /// Texts in quotation marks stay as they are.
    private static func append(
        _ line: ArraySlice<UInt8>, beside punctuation: [UInt8], to result: inout [UInt8]
    ) {
        let start = result.count
        var quotes: [Character] = []
        for byte in line {
            let last = result.count > start ? result[result.count - 1] : UInt8(ascii: "\n")
            if quotes.isEmpty {
                if byte == UInt8(ascii: " "), punctuation.contains(last) { continue }
                if punctuation.contains(byte), last == UInt8(ascii: " ") { result.removeLast() }
            }
            result.append(byte)
            let character = Character(Unicode.Scalar(byte))
            switch (character, quotes.last) {
            case ("\"", "\""), ("`", "`"), ("}", "}"): quotes.removeLast()
            case ("\"", nil), ("`", nil), ("\"", "}"), ("`", "}"): quotes.append(character)
            // A value in a template, which may have templates.
            case ("{", "`") where last == UInt8(ascii: "$"), ("{", "}"): quotes.append("}")
            default: break
            }
        }
    }
}
