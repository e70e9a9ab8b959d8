/// The bytes of a file, with access to lines and to the source location of a byte.
struct SourceText {
    let bytes: [UInt8]
    let file: FileName

    /// A byte order mark is not part of the text.
    init(_ bytes: [UInt8], file: String) {
        self.bytes = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(bytes.dropFirst(3)) : bytes
        self.file = FileName(file)
    }

    /// The text of a line without its end; lines count from 1, and are empty beyond the end.
    func line(_ number: Int) -> String {
        let lines = bytes.split(
            separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
        guard lines.indices.contains(number - 1) else { return "" }
        let line = lines[number - 1]
        return String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
    }

    /// Whether nothing but white space follows the line.
    func isLast(line number: Int) -> Bool {
        bytes.split(
            separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false
        )
        .dropFirst(number)
        .allSatisfy { rest in rest.allSatisfy { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D } }
    }

    /// The source location of the byte at `offset`.
    func location(ofByte offset: Int) -> SourceLocation {
        let before = bytes.prefix(offset)
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        return SourceLocation(
            file,
            line: before.count { $0 == UInt8(ascii: "\n") } + 1,
            column: String(decoding: before[lineStart...], as: UTF8.self).unicodeScalars.count + 1)
    }
}
