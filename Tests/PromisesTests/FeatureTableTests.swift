import Foundation
import Testing

/// The feature table of the documentation against the list of rows and the sources of the tests.
@Suite struct FeatureTableTests {
    /// F1 to F124, with three additional rows.
    static let rows: [String] = (1...124).flatMap { number in
        switch number {
        case 28: ["F28", "F28a"]
        case 43: ["F43", "F43a", "F43b"]
        default: ["F\(number)"]
        }
    }

    struct Row {
        let number: String
        let name: String
        let description: String
        /// `File.swift: test, test; Other.swift: test`
        let tests: [(file: String, names: [String])]
    }

    private func table() throws -> [Row] {
        let file = try Repository.file("Sources/Promises/Promises.docc/FeatureTable.md")
        return file.lines.filter { $0.hasPrefix("| F") }.map { line in
            let cells = line.replacing("\\|", with: "\u{1}").split(separator: "|")
                .map { $0.trimmingCharacters(in: .whitespaces) }
            let tests = (cells.count > 3 ? cells[3] : "").components(separatedBy: "; ").map {
                let halves = $0.components(separatedBy: ": ")
                return (halves[0], halves.last?.components(separatedBy: ", ") ?? [])
            }
            return Row(number: cells[0], name: cells[1], description: cells[2], tests: tests)
        }
    }

    /// The rows that each test names, in its display name or at the end of its function name.
    private func namedRows() throws -> [String: [String: Set<String>]] {
        var named: [String: [String: Set<String>]] = [:]
        for file in try Repository.swiftFiles(under: "Tests/PromisesTests") {
            for test in file.text.components(separatedBy: "@Test").dropFirst() {
                guard let end = test.firstMatch(of: /func (\w+)/) else { continue }
                let head = test[..<end.range.upperBound].replacing("_", with: " ")
                let rows = head.matches(of: /\bF\d+[ab]?\b/).map { String($0.output) }
                let path = String(file.path.dropFirst("Tests/PromisesTests/".count))
                named[path, default: [:]][String(end.output.1), default: []].formUnion(rows)
            }
        }
        return named
    }

    @Test func tableHasEveryRowOnceInOrder() throws {
        #expect(Self.rows.count == 127)
        #expect(try table().map(\.number) == Self.rows)
    }

    @Test func everyRowHasBothNames() throws {
        for row in try table() {
            #expect(!row.name.isEmpty && !row.description.isEmpty, "\(row.number)")
        }
    }

    @Test func everyRowIsNamedByTheTestsItLists() throws {
        let named = try namedRows()
        for row in try table() {
            #expect(!row.tests.isEmpty, "\(row.number) has no test")
            for (file, names) in row.tests {
                for name in names {
                    let rows = try #require(named[file]?[name], "\(row.number): \(file): \(name)")
                    #expect(rows.contains(row.number), "\(row.number): \(file): \(name)")
                }
            }
        }
    }

    @Test func everyTestThatNamesARowIsListed() throws {
        var listed: [String: Set<String>] = [:]
        for row in try table() {
            for (file, names) in row.tests {
                listed[row.number, default: []].formUnion(names.map { "\(file): \($0)" })
            }
        }
        for (file, tests) in try namedRows() {
            for (test, rows) in tests {
                for row in rows {
                    #expect(listed[row]?.contains("\(file): \(test)") == true, "\(row): \(test)")
                }
            }
        }
    }
}
