import Foundation

/// The names of the package's test suites and of their functions and variables, as documents mention them.
enum TestNames {
    /// Whether one file declares the suite and the function or variable.
    static func contains(_ suite: some StringProtocol, _ name: some StringProtocol) throws -> Bool {
        try read.get().contains {
            $0.suites.contains(String(suite)) && $0.names.contains(String(name))
        }
    }

    private struct File {
        var suites: Set<String> = []
        var names: Set<String> = []

        /// - Parameter words: the words of the file's text, in order
        init(words: [Substring]) {
            for (word, next) in zip(words, words.dropFirst()) {
                switch word {
                case "struct": suites.insert(String(next))
                case "func": names.insert(String(next.prefix { $0 != "(" && $0 != "<" }))
                case "var": names.insert(String(next.prefix { $0 != ":" }))
                default: continue
                }
            }
        }
    }

    /// Once for all tests.
    private static let read = Result<[File], any Error> {
        let folder = Sources.root.appending(path: "Tests")
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            .filter { $0.hasSuffix("Tests.swift") && !$0.contains(".build") }
            .map { path in
                let text = try String(contentsOf: folder.appending(path: path), encoding: .utf8)
                return File(words: text.utf8.split { $0 == 0x20 || $0 == 0x0A }.map(Substring.init))
            }
    }
}
