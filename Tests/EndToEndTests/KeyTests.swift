import Foundation
import Testing

extension EndToEnd {
    /// Keys from `tributary key new` to the running daemon.
    @Suite struct KeyTests {
        private let backend: Backend
        private let folder: Folder
        private let daemon: Daemon
        private let key: String

        private static let start =
            "log: { access: false }\nauth: { p: { api_key: { keys: keys.yaml } } }\n"

        init() throws {
            backend = try Backend()
            let new = try Command.run("key", "new", "ann", "--scope", "orders:read")
            key = try #require(new.key)
            folder = try Folder(["keys.yaml": new.output])
            daemon = try Daemon.serving(
                Self.start
                    + plain(backend).replacing("route: ", with: "auth: p\n    route: "), in: folder)
        }

        private func status(_ key: String?) throws -> Int {
            try daemon.request(
                "GET /plain", key.map { ["X-Api-Key: \($0)"] } ?? []
            ).status
        }

        @Test func newKeyIsAccepted() throws {
            #expect(try status(key) == 200)
            #expect(try status(nil) == 401)
            #expect(try status(key + "x") == 401)
        }

        /// An unusable file keeps the last good one; a removed key is refused after the reload.
        @Test func reloadReadsTheKeyFileAgain() throws {
            try folder.write("keys.yaml", "- { id: ann, hash: \"\(key)\" }\n")
            daemon.signal(SIGHUP)
            try daemon.logLine("reload failed; the last good configuration stays")
            let problem = try daemon.logLine("configuration", containing: "plain-text key")
            #expect("\(problem)".contains(key) == false)
            #expect(try status(key) == 200)

            let other = try Command.run("key", "new", "ben")
            try folder.write("keys.yaml", other.output)
            daemon.signal(SIGHUP)
            try daemon.logLine("configuration reloaded")
            // The workers install it one after another.
            let otherKey = try #require(other.key)
            try daemon.eventually("GET /plain", ["X-Api-Key: \(otherKey)"], is: 200)
            try daemon.eventually("GET /plain", ["X-Api-Key: \(key)"], is: 401)
        }

        @Test func invalidEntryShowsTheUsageOfTheCommand() throws {
            for result in [
                try Command.run("key", "new", "a b"),
                try Command.run("key", "new", "a", "--plan", ""),
            ] {
                #expect(result.status == 64 && result.output == "")
                #expect(result.errors.contains("Usage: tributary key new"), "\(result.errors)")
            }
        }

        @Test func newKeyIsShownOnStandardErrorOnly() throws {
            let first = try Command.run("key", "new", "ci", "--basic", "--plan", "gold")
            let second = try Command.run("key", "new", "ci", "--basic", "--plan", "gold")
            #expect(first.status == 0 && first.output.hasPrefix("- user: ci\n  hash: \"sha256:"))
            #expect(first.output.hasSuffix("\n  plan: gold\n"))
            let key = try #require(first.key)
            #expect(!first.output.contains(key))
            #expect(first.errors == "password of ci, shown only now: \(key)\n")
            #expect(second.key != first.key && second.output != first.output)
        }
    }
}

extension Command.Result {
    /// The key on standard error.
    fileprivate var key: String? {
        errors.firstMatch(of: /: (trb_[A-Za-z0-9_-]{43})\n/).map { String($0.1) }
    }
}
