/// A source location in a configuration file; line and column count from 1, in characters.
package struct SourceLocation: Sendable, Hashable {
    /// The file's name as it was passed to the reader, such as `more/two.yaml`.
    package let file: String
    package let line: Int
    package let column: Int

    package init(file: String, line: Int = 1, column: Int = 1) {
        self.file = file
        self.line = line
        self.column = column
    }

    /// The source location `characters` further in the same line.
    package func advanced(by characters: Int) -> SourceLocation {
        SourceLocation(file: file, line: line, column: column + characters)
    }
}

extension SourceLocation: CustomStringConvertible {
    package var description: String { "\(file):\(line):\(column)" }
}
