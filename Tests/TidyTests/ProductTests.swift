import Foundation
import Testing

/// The libraries that other programs use, and what they bring along.
@Suite struct ProductTests {
    private static func manifest() throws -> Manifest {
        Manifest(
            try String(contentsOf: Sources.root.appending(path: "Package.swift"), encoding: .utf8))
    }

    /// A program that uses only the promises compiles and links nothing of the gateway, so it needs
    /// neither libuv nor OpenSSL nor libyaml.
    @Test(arguments: [
        ("Promises", ["Promises"]), ("PromiseOperators", ["PromiseOperators", "Promises"]),
        ("PromisesDispatch", ["PromisesDispatch", "Promises"]),
    ])
    func aLibraryNeedsOnlyThePromises(_ product: String, _ targets: [String]) throws {
        let manifest = try Self.manifest()
        #expect(manifest.closure(ofProduct: product) == Set(targets))
        #expect(manifest.systemLibraries == ["CUV", "COpenSSL", "CYAML", "CNGHTTP2"])
        #expect(manifest.closure(ofProduct: product).isDisjoint(with: manifest.systemLibraries))
    }

    @Test func thereAreNoOtherLibraries() throws {
        #expect(
            try Self.manifest().products.keys.sorted()
                == ["PromiseOperators", "Promises", "PromisesDispatch"])
    }

    /// The same search finds what the daemon needs.
    @Test func dependenciesOfDependenciesAreFound() throws {
        let text = try String(
            contentsOf: Sources.root.appending(path: "Package.swift"), encoding: .utf8)
        let withDaemon = Manifest(
            text + "\n.library(name: \"Daemon\", targets: [\"tributary\"])")
        let closure = withDaemon.closure(ofProduct: "Daemon")
        #expect(closure.isSuperset(of: ["CUV", "COpenSSL", "CYAML", "Promises", "ArgumentParser"]))
        #expect(!closure.contains("cluster-simulation"))
    }

    /// Without the dependency, the build fails only if it compiles the importing target first.
    @Test func everyImportIsADependency() throws {
        let manifest = try Self.manifest()
        var checked: Set<String> = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: Sources.root.path)
        where path.hasSuffix(".swift") && (path.hasPrefix("Tests/") || path.hasPrefix("Sources/")) {
            let target = String(path.split(separator: "/")[1])
            guard manifest.dependencies[target] != nil else { continue }
            let text = try String(
                contentsOf: Sources.root.appending(path: path), encoding: .utf8)
            let imported = text.split(separator: "\n").flatMap { Imports.modules(in: String($0)) }
                .filter { manifest.dependencies[$0] != nil }
            let missing = Set(imported).subtracting(manifest.closure(of: [target]))
            #expect(missing.isEmpty, "\(path) imports \(missing), which \(target) does not name")
            if !imported.isEmpty { checked.insert(target) }
        }
        #expect(checked.isSuperset(of: ["Gateway", "GatewayTests", "FuzzTests", "Simulation"]))
    }

    @Test func aNewDependencyOfThePromisesWouldBeFound() {
        let manifest = Manifest(
            """
            .library(name: "P", targets: ["P"]),
            .systemLibrary(name: "CX", pkgConfig: "x", providers: [.apt(["x-dev"])]),
            .target(name: "P", dependencies: ["B"], swiftSettings: strict),
            // .target(name: "B"),
            .target(
                name: "B", dependencies: ["CX", .product(name: "Y", package: "z")]),
            """)
        #expect(manifest.closure(ofProduct: "P") == ["P", "B", "CX", "Y"])
        #expect(manifest.systemLibraries == ["CX"])
    }
}
