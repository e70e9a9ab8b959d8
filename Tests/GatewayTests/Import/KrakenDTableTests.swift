import Gateway
import Testing
import YAMLReader

@testable import KrakenD

/// The walker over a KrakenD object, with a table of its own.
@Suite struct KrakenDTableTests {
    private static let table: KrakenDTable =
        [
            "size": .written("limits.body", YAMLTree.bytes),
            "time": .written("limits.time", YAMLTree.duration),
            "other": .written("log.level", YAMLTree.name), "host": .converted,
            "mode": .checked { $0.text == "a" ? nil : "'mode' becomes a" },
            "cache threads": .note("there is none"), "colour": .warning("it has no colour"),
        ] + ["gate": .refused("closes"), "host": .warning("the first table wins")]

    private func node(_ text: String) throws -> DocumentNode {
        try JSONConfigSource.read(Array(text.utf8), file: "k.json")
    }

    private func reported(_ text: String) throws -> [String] {
        let findings = ImportFindings()
        Self.table.report(try node(text), findings)
        return findings.sorted.map(\.description)
    }

    @Test func reportsLostAndUnknownKeys() throws {
        #expect(
            try reported(#"{ "threads": 1, "colour": 2, "gate": 3, "new": 4, "telemetry/x": 5 }"#)
                == [
                    "k.json:1:3: note: 'threads' is left out: there is none",
                    "k.json:1:17: warning: 'colour' is left out: it has no colour",
                    "k.json:1:30: warning: 'gate' is left out: there is no equivalent",
                    "k.json:1:41: warning: 'new' is left out: there is no equivalent",
                    "k.json:1:51: note: 'telemetry/x' is left out: the admin address has /metrics",
                ])
    }

    @Test func reportsNeitherConvertedKeysNorComments() throws {
        #expect(
            try reported(#"{ "size": 1, "host": "a", "@note": 1, "_x": 1, "$y": 1, "": 1 }"#) == [])
    }

    @Test(arguments: [("a", []), ("b", ["k.json:1:11: warning: 'mode' becomes a"])])
    func reportsValuesThatAreLost(_ mode: String, _ expected: [String]) throws {
        #expect(try reported(#"{ "mode": "\#(mode)" }"#) == expected)
    }

    /// The order of the rows, not of the file; a value without a conversion writes nothing.
    @Test func writesTheMembersOfOneBlock() throws {
        let object = try node(#"{ "time": "2s", "other": "x", "size": 1024 }"#)
        let members = Self.table.members(of: object, in: "limits")
        #expect(YAMLTree.block(members).lines.map(\.text) == ["body: 1KiB", "time: 2s"])
        #expect(Self.table.members(of: try node(#"{ "size": -1 }"#), in: "limits").isEmpty)
    }

    @Test(arguments: [
        ("gate", "its 'gate' closes"), ("new", "its 'new' is not known"), ("colour", nil),
        ("host", nil), ("@new", nil),
    ])
    func refusesKeysThatChangeTheMeaning(_ key: String, _ expected: String?) throws {
        let object = try node(#"{ "\#(key)": 1 }"#)
        var refusal: String?
        do throws(Refusal) {
            try Self.table.checkSupport(of: object)
        } catch {
            refusal = error.message
        }
        #expect(refusal == expected)
    }
}
