/// Rows of texts in columns as wide as their longest text.
struct TextTable {
    let lines: [String]

    /// - Parameter gaps: the spaces behind each column but the last
    init(_ rows: [[String]], gaps: [Int]) {
        let widths = gaps.indices.map { column in
            (rows.map { $0[column].count }.max() ?? 0) + gaps[column]
        }
        lines = rows.map { row in
            var line = ""
            for (column, text) in row.enumerated() {
                line += text
                if column < widths.count {
                    line += String(repeating: " ", count: widths[column] - text.count)
                }
            }
            while line.last == " " { line.removeLast() }
            return line
        }
    }
}
