import Foundation

/// The project's own sources, as the tidy tests read them: the product, and the simulation of clusters.
enum Sources {
    struct File: CustomStringConvertible {
        let target: String
        let path: String
        let lines: [String]

        /// The lines of code: without comments, which may mention what is banned.
        let code: [(number: Int, text: String)]

        /// The code without comments and string literals, with its line ends.
        let bareCode: [UInt8]

        /// The types that it declares at the top level, including those in `#if`.
        let topLevelTypes: [(number: Int, name: String, isPrivate: Bool)]

        var description: String { path }

        init(target: String, path: String, lines: [String]) {
            (self.target, self.path, self.lines) = (target, path, lines)
            code = lines.enumerated().compactMap { index, line in
                let text = line.drop { $0 == " " }
                return text.hasPrefix("//") ? nil : (index + 1, String(text))
            }
            bareCode = SourceText.code(of: lines.joined(separator: "\n"))
            topLevelTypes = Self.topLevelTypes(in: bareCode)
        }
    }

    static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Every Swift file under `Sources` and of the simulation, with the target that it belongs to.
    static func all() throws -> [File] { try read.get() }

    struct NothingFound: Error {}

    /// Once for all tests.
    private static let read = Result {
        let folders = ["Sources", "Tests/Simulation", "Tests/cluster-simulation"]
        return try folders.flatMap { folder in
            let paths = try FileManager.default.subpathsOfDirectory(
                atPath: root.appending(path: folder).path
            ).filter { $0.hasSuffix(".swift") }.sorted()
            // Without files every rule would pass.
            if paths.isEmpty { throw NothingFound() }
            return try paths.map { path in
                let path = "\(folder)/\(path)"
                let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
                return File(
                    target: String(path.split(separator: "/")[1]), path: path,
                    lines: text.components(separatedBy: "\n"))
            }
        }
    }
}

extension Sources.File {
    fileprivate static func topLevelTypes(
        in code: [UInt8]
    ) -> [(number: Int, name: String, isPrivate: Bool)] {
        var types: [(number: Int, name: String, isPrivate: Bool)] = []
        var depth = 0
        let codeLines = code.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in codeLines.enumerated() {
            if depth == 0, let type = type(in: String(decoding: line, as: UTF8.self)) {
                types.append((index + 1, type.name, type.isPrivate))
            }
            for byte in line {
                if byte == UInt8(ascii: "{") { depth += 1 }
                if byte == UInt8(ascii: "}") { depth -= 1 }
            }
        }
        return types
    }

    /// The first type that a line declares.
    private static func type(in line: String) -> (name: String, isPrivate: Bool)? {
        let words = line.prefix { !"{:<=".contains($0) }.split { " ()".contains($0) }
        guard let at = words.firstIndex(where: { kinds.contains(String($0)) }),
            at + 1 < words.count
        else { return nil }
        return (
            String(words[at + 1]),
            words[..<at].contains { $0 == "private" || $0 == "fileprivate" }
        )
    }

    private static let kinds: Set = ["class", "struct", "enum", "protocol", "typealias", "actor"]
}
