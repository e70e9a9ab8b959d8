/// A table of texts in aligned columns.
package struct TextTable {
    /// The lines, without trailing spaces.
    package let lines: [String]

    /// The layout of a column. Texts that are longer than its width are not cut.
    package struct Column {
        fileprivate let width: Int?
        fileprivate let gap: Int
        fileprivate let isRight: Bool

        /// - Parameters:
        ///   - width: nil for the width of its longest text
        ///   - gap: the spaces after it
        package static func left(_ width: Int? = nil, gap: Int) -> Column {
            Column(width: width, gap: gap, isRight: false)
        }

        package static func right(_ width: Int? = nil, gap: Int) -> Column {
            Column(width: width, gap: gap, isRight: true)
        }
    }

    /// - Parameter columns: the layout of the first columns; the texts of further columns are
    ///   appended unchanged
    package init(_ rows: [[String]], _ columns: [Column]) {
        let widths = columns.enumerated().map { index, column in
            column.width ?? rows.map { $0[index].count }.max() ?? 0
        }
        lines = rows.map { row in
            var line = ""
            for (index, text) in row.enumerated() {
                guard index < columns.count else {
                    line += text
                    continue
                }
                let column = columns[index]
                let padding = String(repeating: " ", count: max(0, widths[index] - text.count))
                line += column.isRight ? padding + text : text + padding
                line += String(repeating: " ", count: column.gap)
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }

    /// Columns as wide as their longest text.
    ///
    /// - Parameter gaps: the spaces after each column but the last
    package init(_ rows: [[String]], gaps: [Int]) {
        self.init(rows, gaps.map { .left(gap: $0) })
    }
}
