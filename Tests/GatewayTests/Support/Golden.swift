import Foundation
import Testing

/// Expected texts in files.
///
/// With `RECORD=1` in the environment they are recorded; read the diff before you commit it.
enum Golden {
    /// The folder with `Package.swift`.
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static var isRecording: Bool { ProcessInfo.processInfo.environment["RECORD"] == "1" }

    /// The text of a file, by its path from the root.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The names in a folder with this suffix, sorted.
    static func names(in folder: String, endingIn suffix: String) -> [String] {
        let all = try? FileManager.default.contentsOfDirectory(
            atPath: root.appending(path: folder).path)
        return (all ?? []).filter { $0.hasSuffix(suffix) }.sorted()
    }

    /// Expects that the file has exactly this text.
    static func expect(
        _ path: String, says text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if isRecording {
            try text.write(to: root.appending(path: path), atomically: true, encoding: .utf8)
        }
        let expected = (try? Self.text(path)) ?? ""
        #expect(
            text == expected, "\(path) differs; RECORD=1 records it",
            sourceLocation: sourceLocation)
    }
}
