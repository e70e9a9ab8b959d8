/// A place in a file; lines and columns are counted from 1, columns in characters.
///
/// It refers to the interned name of the file, so that a copy costs no reference count: every value
/// of a configuration has a location.
package struct SourceLocation: Sendable, Hashable {
    private let name: FileName
    private let lineNumber: UInt32
    private let columnNumber: UInt32

    package init(file: String, line: Int = 1, column: Int = 1) {
        self.init(FileName(file), line: line, column: column)
    }

    /// Stores 0 instead of a negative line or column, and 2^32 - 1 instead of a greater one.
    package init(_ name: FileName, line: Int = 1, column: Int = 1) {
        self.name = name
        lineNumber = UInt32(clamping: line)
        columnNumber = UInt32(clamping: column)
    }

    /// The file's name as it was passed to the reader, such as `more/two.yaml`.
    package var file: String { name.text }
    package var line: Int { Int(lineNumber) }
    package var column: Int { Int(columnNumber) }

    /// The source location `characters` further in the same line.
    package func advanced(by characters: Int) -> SourceLocation {
        SourceLocation(name, line: line, column: column + characters)
    }
}

extension SourceLocation: CustomStringConvertible {
    package var description: String { "\(file):\(line):\(column)" }
}
