import Gateway
import Testing

@testable import Assembly

@Suite struct ConfigDigestTests {
    private func digest(_ path: String, _ contents: [(String, String)]) -> String {
        ConfigDigest(
            of: path, contents: contents.map { (path: $0.0, bytes: Array($0.1.utf8)) }
        ).description
    }

    private let files = [("/etc/t/a.yaml", "version: 1"), ("/etc/t/parts/b.yaml", "x")]

    @Test func isTheSameForTheSameFiles() {
        let expected = digest("/etc/t/a.yaml", files)
        #expect(expected.wholeMatch(of: /[0-9a-f]{16}/) != nil)
        #expect(digest("/etc/t/a.yaml", files.reversed()) == expected)
        #expect(
            digest("a.yaml", [("a.yaml", "version: 1"), ("parts/b.yaml", "x")]) == expected)
    }

    @Test func differsWithNamesAndContents() {
        let others = [
            digest("/etc/t/a.yaml", [files[0]]),
            digest("/etc/t/a.yaml", [files[0], ("/etc/t/parts/b.yaml", "y")]),
            digest("/etc/t/a.yaml", [files[0], ("/etc/t/parts/c.yaml", "x")]),
            digest(
                "/etc/t/a.yaml", [("/etc/t/a.yaml", "x"), ("/etc/t/parts/b.yaml", "version: 1")]
            ),
            digest("/etc/t/a.yaml", []),
        ]
        #expect(Set(others + [digest("/etc/t/a.yaml", files)]).count == 6)
    }

    /// Compared with another implementation of SHA-256 (Python's hashlib).
    @Test func isThePrefixOfSHA256() {
        #expect(digest("a.yaml", []) == "e3b0c44298fc1c14")
        #expect(digest("a.yaml", [("a.yaml", "one")]) == "24d5abf66a845195")
    }

    /// A file that is missing, such as an optional one, and variables do not count.
    @Test func coversTheFilesOfARecording() throws {
        func recorded(_ text: String, variable: String) -> ConfigDigest {
            let files = ConfigFiles(
                read: { path throws(ConfigFileError) in
                    guard path == "/c/a.yaml" else { throw .notFound }
                    return Array(text.utf8)
                },
                list: { _ throws(ConfigFileError) in throw .notFound })
            let recording = ConfigRecording(files: files) { _ in variable }
            _ = try? recording.files.read("/c/a.yaml")
            _ = try? recording.files.read("/c/missing.yaml")
            _ = recording.environment("HOST")
            return recording.recorded("/c/a.yaml", processors: 1).digest
        }
        let digest = recorded("one", variable: "x")
        #expect(digest == recorded("one", variable: "y"))
        #expect(digest != recorded("two", variable: "x"))
        #expect(digest == ConfigDigest(of: "a.yaml", contents: [("a.yaml", Array("one".utf8))]))
    }
}
