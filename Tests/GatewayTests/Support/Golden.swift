import Foundation
import Testing

/// Texts that are kept in files and read by people.
///
/// With `RECORD=1` in the environment they are written anew, to be read before they are committed.
enum Golden {
    /// The folder with `Package.swift`.
    static let root = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static var isRecording: Bool { ProcessInfo.processInfo.environment["RECORD"] == "1" }

    /// The text of a file, by its path from the root.
    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// The names in a folder with such an end, sorted.
    static func names(in folder: String, endingIn suffix: String) -> [String] {
        let all = try? FileManager.default.contentsOfDirectory(
            atPath: root.appending(path: folder).path)
        return (all ?? []).filter { $0.hasSuffix(suffix) }.sorted()
    }

    /// The file says exactly this.
    static func expect(
        _ path: String, says text: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        if isRecording {
            try text.write(to: root.appending(path: path), atomically: true, encoding: .utf8)
        }
        let kept = (try? Self.text(path)) ?? ""
        #expect(
            text == kept, "\(path) says something else; RECORD=1 writes it anew",
            sourceLocation: sourceLocation)
    }
}
