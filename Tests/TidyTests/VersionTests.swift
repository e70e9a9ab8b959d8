import Foundation
import Testing

/// The version is one, wherever it is written.
@Suite struct VersionTests {
    private static func text(_ path: String) throws -> String {
        try String(contentsOf: Sources.root.appending(path: path), encoding: .utf8)
    }

    /// What `tributary version` prints.
    private static func version() throws -> String {
        let source = try text("Sources/HTTP/Head/Product.swift")
        let match = try #require(source.firstMatch(of: /static let version = "(\d+\.\d+\.\d+)"/))
        return String(match.1)
    }

    @Test func theChangelogBeginsWithTheVersion() throws {
        let sections = try Self.text("CHANGELOG.md").matches(of: /\n## (\S+)( \(unreleased\))?\n/)
        #expect(try sections.first.map { String($0.1) } == Self.version())
        #expect(sections.count > 1)
    }

    /// An entry is one line.
    @Test func anEntryOfTheChangelogHasAtMostTwentyWords() throws {
        let lines = try Self.text("CHANGELOG.md").split(separator: "\n")
        let entries = lines.filter { $0.hasPrefix("- ") }
        #expect(entries.count > 100)
        for entry in entries {
            #expect(entry.dropFirst(2).split(separator: " ").count <= 20, "\(entry)")
        }
        #expect(!lines.contains { $0.hasPrefix("  ") })
    }

    @Test func theImageHasTheVersion() throws {
        let version = try Self.version()
        #expect(try Self.text("Dockerfile").contains("\nARG VERSION=\(version)\n"))
    }

    /// The lines that a user of the library copies into a manifest.
    @Test func theLibrarysReadmeInstallsThisVersion() throws {
        let page = try Self.text("Sources/Promises/README.md")
        #expect(try page.contains("exact: \"\(Self.version())\""))
        #expect(page.contains(".product(name: \"Promises\", package: \"tributary\")"))
        let manifest = try Self.text("Package.swift")
        #expect(manifest.contains("name: \"tributary\",\n"))
        #expect(manifest.contains(".library(name: \"Promises\", targets: [\"Promises\"])"))
    }

    /// The language version in the first line of the manifest is the least that builds the package.
    @Test func theLibrarysReadmeNamesTheSwiftVersion() throws {
        let first = try #require(try Self.text("Package.swift").split(separator: "\n").first)
        let tools = try #require(first.firstMatch(of: /swift-tools-version: (\d+\.\d+)/))
        #expect(try Self.text("Sources/Promises/README.md").contains("Swift \(tools.1) or newer"))
    }
}
