import Foundation
import Testing

/// The dependencies between the targets: an import may only go to a lower row (the table of
/// docs/contribute/architecture.md).
@Suite struct DependencyTests {
    /// Every target in `Sources`, by the row of that table, the lowest row first.
    static let rows: [Set<String>] = [
        ["CUV", "COpenSSL", "CYAML", "CNGHTTP2", "CByteClasses"],
        ["Basics", "Promises"],
        [
            "HTTP", "Reactor", "JSONText", "Patterns", "System", "PromiseOperators",
            "PromisesDispatch",
        ],
        ["TLS", "UVReactor", "SimReactor", "YAMLReader", "JOSE", "RESP", "HTTP2"],
        ["HTTPClient"],
        ["Gateway", "HTTPServer"],
        ["KrakenD"],
        ["Assembly"],
        ["Rehearsal", "Process"],
        ["Simulation", "tributary"],
        ["cluster-simulation"],
    ]

    /// Modules from outside of the project.
    static let foreign: Set = [
        "ArgumentParser", "Darwin", "Dispatch", "Glibc", "Musl", "Synchronization",
    ]

    /// The targets and system modules that each target may import, beside the standard library.
    static let allowed: [String: Set<String>] = [
        "Basics": ["Synchronization"],
        // The system's C library only identifies threads.
        "Promises": ["Synchronization", "Glibc", "Musl", "Darwin"],
        "PromiseOperators": ["Promises"],
        "PromisesDispatch": ["Promises", "Dispatch"],
        "JSONText": ["CByteClasses", "Basics"],
        "HTTP": ["CByteClasses", "Promises", "Basics"],
        "Reactor": ["Promises", "Basics"],
        "HTTPClient": ["HTTP2", "HTTP", "Reactor", "Promises", "Basics"],
        "System": ["CUV", "Promises", "Basics", "Glibc", "Darwin"],
        "UVReactor": ["CUV", "System", "Reactor", "Promises", "Basics", "Synchronization"],
        "SimReactor": ["Reactor", "Promises", "Basics"],
        "TLS": ["COpenSSL", "Reactor", "Promises", "Basics"],
        "YAMLReader": ["CYAML", "Promises", "Basics"],
        "HTTP2": ["CNGHTTP2", "HTTP", "Basics"],
        "RESP": ["Reactor", "Promises", "Basics"],
        "JOSE": ["COpenSSL", "JSONText", "Basics"],
        "Patterns": ["Basics"],
        // For the buckets of rate limits, which all workers share.
        "Gateway": [
            "HTTP", "HTTPClient", "JOSE", "JSONText", "Patterns", "RESP", "TLS",
            "YAMLReader", "Reactor", "Promises", "Basics", "Synchronization",
        ],
        "KrakenD": [
            "Gateway", "HTTP", "JOSE", "JSONText", "Patterns", "TLS", "YAMLReader", "Reactor",
            "Basics",
        ],
        "HTTPServer": ["HTTP2", "HTTP", "Reactor", "Promises", "Basics"],
        "Assembly": [
            "Gateway", "HTTPServer", "HTTPClient", "HTTP", "TLS", "JSONText",
            "Reactor", "Promises", "Basics", "Synchronization",
        ],
        "Process": [
            "Assembly", "Gateway", "HTTPServer", "HTTPClient",
            "HTTP", "JSONText", "TLS", "UVReactor", "System", "Reactor", "Promises", "Basics",
            "Glibc", "Darwin",
        ],
        "Rehearsal": [
            "Assembly", "SimReactor", "Gateway", "HTTP", "RESP", "Reactor",
            "Promises", "Basics",
        ],
        // Of nghttp2 only the decoder of header blocks, for peers that read what the gateway sends.
        "Simulation": [
            "Rehearsal", "Assembly", "SimReactor", "Gateway", "HTTP", "JOSE",
            "TLS", "Reactor", "Promises", "Basics", "CNGHTTP2",
        ],
        "cluster-simulation": ["Simulation", "ArgumentParser", "Glibc", "Darwin"],
        "tributary": [
            "Process", "Rehearsal", "Assembly", "Gateway", "KrakenD",
            "HTTPServer", "HTTPClient", "HTTP", "HTTP2", "YAMLReader", "UVReactor", "System", "TLS",
            "JSONText", "Reactor", "Promises", "Basics", "ArgumentParser", "Glibc",
            "Darwin",
        ],
    ]

    @Test func everyImportGoesToALowerRow() throws {
        for file in try Sources.all() {
            let allowed = try #require(Self.allowed[file.target], "no row for \(file.target)")
            for (number, line) in file.code {
                for module in Imports.modules(in: line) {
                    #expect(allowed.contains(module), "\(file):\(number): \(line)")
                }
            }
        }
    }

    @Test func theTableNamesEveryTarget() throws {
        let seen = Set(try Sources.all().map(\.target))
        #expect(seen == Set(Self.allowed.keys))
    }

    @Test func everyAllowedImportGoesDown() {
        var lower = Self.foreign
        for row in Self.rows {
            for target in row {
                let others = (Self.allowed[target] ?? []).subtracting(lower)
                #expect(others.isEmpty, "\(target) imports \(others) from its row or a higher one")
            }
            lower.formUnion(row)
        }
        #expect(lower.isSuperset(of: Self.allowed.keys))
    }

    @Test func architectureHasTheSameRows() throws {
        let document = try String(
            contentsOf: Sources.root.appending(path: "docs/contribute/architecture.md"),
            encoding: .utf8)
        var rows = [Set<String>](repeating: [], count: Self.rows.count)
        for line in document.matches(of: /\n\| (\d+) \| (`[^|]+) \|/) {
            let row = try #require(Int(line.1))
            try #require(rows.indices.contains(row))
            rows[row].formUnion(line.2.matches(of: /`([^`]+)`/).map { String($0.1) })
        }
        #expect(rows == Self.rows)
    }

    @Test(arguments: [
        "import Gateway", "public import Gateway", "package import Gateway",
        "internal import Gateway", "fileprivate import Gateway", "private import Gateway",
        "@testable import Gateway", "@preconcurrency package import Gateway",
        "@_spi(Tests) @testable internal import Gateway", "import struct Gateway.Plan",
        "package import class Gateway.GatewayService", "import Gateway.Plan",
        "import Gateway // for the plan", "import  Gateway", "import Basics; import Gateway",
    ])
    func anImportIsFoundInEveryForm(_ line: String) {
        #expect(Imports.modules(in: line).last == "Gateway")
    }

    @Test(arguments: [
        "let text = \"import Gateway\"", "// import Gateway", "#if canImport(Gateway)",
        "case import", "importGateway()",
    ])
    func otherLinesImportNothing(_ line: String) {
        #expect(Imports.modules(in: line).isEmpty)
    }

    /// In a file that imports the module, its name would mean the type.
    @Test func noTopLevelTypeHasTheNameOfAModule() throws {
        let modules = Self.rows.reduce(into: Set()) { $0.formUnion($1) }
        for file in try Sources.all() {
            for (number, name, _) in file.topLevelTypes {
                #expect(!modules.contains(name), "\(file):\(number): \(name)")
            }
        }
    }

    @Test func topLevelTypesAreFound() {
        let file = Sources.File(
            target: "X", path: "X.swift",
            lines: [
                "package final class A {", "    struct B {}", "}", "indirect enum C<Value> {}",
                "@frozen public struct D: E {}", "typealias F = Int", "// class G",
                "private actor H {}", "extension I {",
                "    struct J {}", "}", "#if os(Linux)", "    struct K {}", "#endif",
                "let text = \"struct L {\"", "/* struct M {} */ struct N {}",
            ])
        #expect(file.topLevelTypes.map(\.name) == ["A", "C", "D", "F", "H", "K", "N"])
        #expect(file.topLevelTypes.filter(\.isPrivate).map(\.name) == ["H"])
    }
}
