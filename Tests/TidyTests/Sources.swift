import Foundation

/// The project's own sources, as the tidy tests read them.
enum Sources {
    struct File: CustomStringConvertible {
        let target: String
        let path: String
        let lines: [String]

        /// The lines of code: without comments, which may speak of what is banned.
        let code: [(number: Int, text: String)]

        var description: String { path }

        init(target: String, path: String, lines: [String]) {
            (self.target, self.path, self.lines) = (target, path, lines)
            code = lines.enumerated().compactMap { index, line in
                let text = line.drop { $0 == " " }
                return text.hasPrefix("//") ? nil : (index + 1, String(text))
            }
        }
    }

    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file under Sources, with the target that it belongs to.
    static func all() throws -> [File] { try read.get() }

    /// Once for all tests.
    private static let read = Result {
        let folder = root.appending(path: "Sources")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        return try paths.filter { $0.hasSuffix(".swift") }.sorted().map { path in
            let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
            return File(
                target: String(path.prefix { $0 != "/" }), path: "Sources/\(path)",
                lines: text.components(separatedBy: "\n"))
        }
    }
}

extension Sources.File {
    /// The types that it declares outside of others, which the formatter leaves without indentation.
    var topLevelTypes: [(number: Int, name: String)] {
        lines.enumerated().compactMap { index, line in
            let words = line.prefix { !"{:<=".contains($0) }
                .split { $0 == " " || $0 == "(" || $0 == ")" }
            guard line.first?.isWhitespace == false, !line.hasPrefix("//"),
                let at = words.firstIndex(where: { Self.kinds.contains(String($0)) }),
                at + 1 < words.count
            else { return nil }
            return (index + 1, String(words[at + 1]))
        }
    }

    private static let kinds: Set = ["class", "struct", "enum", "protocol", "typealias", "actor"]
}
