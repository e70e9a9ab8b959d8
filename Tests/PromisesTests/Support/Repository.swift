import Foundation

/// The files of this repository, for tests that read them.
enum Repository {
    struct File {
        let path: String
        let text: String
        var lines: [String] { text.components(separatedBy: "\n") }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func file(_ path: String) throws -> File {
        File(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
    }

    static func swiftFiles(under folder: String) throws -> [File] {
        let start = root.appending(path: folder).resolvingSymlinksInPath()
        return try FileManager.default.subpathsOfDirectory(atPath: start.path)
            .filter { $0.hasSuffix(".swift") }.sorted().map { try file("\(folder)/\($0)") }
    }
}
