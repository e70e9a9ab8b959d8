// swift-tools-version: 6.2
import PackageDescription

/// Debug builds can make each call of libuv's fail (Sources/CUV/calls.h); other builds contain none of it.
let faults: [CSetting] = [.define("TRIBUTARY_FAULTS", .when(configuration: .debug))]

/// A full static build (the Dockerfile's) links Debian's libuv_a.a, by the name that pkg-config knows.
let libuv = Context.environment["STATIC_LIBUV"] != nil ? "libuv-static" : "libuv"

/// A library of the system, and its package in Debian, Homebrew and Fedora.
func system(_ name: String, _ library: String, apt: String, brew: String, yum: String) -> Target {
    .systemLibrary(
        name: name, pkgConfig: library, providers: [.apt([apt]), .brew([brew]), .yum([yum])])
}

/// Code that several test targets share, or that a developer starts: it lies in Tests.
func support(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/\(name)")
}

/// The targets of the fuzzer: a test that replays its corpora, or, for `script/fuzz`, the fuzzer.
let fuzzing: Target = {
    let dependencies: [Target.Dependency] = [
        "KrakenD", "TestCertificates", "Assembly", "SimReactor",
    ]
    guard Context.environment["TRIBUTARY_FUZZ"] != nil else {
        return .testTarget(
            name: "FuzzTests", dependencies: dependencies,
            exclude: ["Corpora", "Fuzz.swift", "Verdicts.swift"])
    }
    return .executableTarget(
        name: "fuzz", dependencies: dependencies, path: "Tests/FuzzTests",
        exclude: ["Corpora", "Mutator.swift", "ReplayTests.swift", "HTTP2SeedTests.swift"])
}()

let package = Package(
    name: "tributary",
    // What the standard library's atomics need. On Linux any system that Swift 6.2 runs on.
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Promises", targets: ["Promises"]),
        .library(name: "PromiseOperators", targets: ["PromiseOperators"]),
        .library(name: "PromisesDispatch", targets: ["PromisesDispatch"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2")
    ],
    targets: [
        // Row 0: system libraries.
        system("CUV", libuv, apt: "libuv1-dev", brew: "libuv", yum: "libuv-devel"),
        system("CYAML", "yaml-0.1", apt: "libyaml-dev", brew: "libyaml", yum: "libyaml-devel"),
        system("COpenSSL", "openssl", apt: "libssl-dev", brew: "openssl@3", yum: "openssl-devel"),
        system(
            "CNGHTTP2", "libnghttp2", apt: "libnghttp2-dev", brew: "libnghttp2",
            yum: "libnghttp2-devel"),
        // C: vector operations that Swift's SIMD types do not have.
        .target(name: "CByteClasses"),

        // Row 1.
        .target(name: "Basics"),
        .target(name: "Promises", exclude: ["README.md"]),

        // Row 2.
        .target(name: "PromiseOperators", dependencies: ["Promises"]),
        .target(name: "PromisesDispatch", dependencies: ["Promises"]),
        .target(name: "HTTP", dependencies: ["CByteClasses", "Promises", "Basics"]),
        .target(name: "Reactor", dependencies: ["Promises", "Basics"]),
        .target(name: "JSONText", dependencies: ["CByteClasses", "Basics"]),
        .target(name: "Patterns", dependencies: ["Basics"]),

        .target(name: "System", dependencies: ["CUV", "Promises", "Basics"], cSettings: faults),

        // Row 3.
        .target(name: "UVReactor", dependencies: ["System", "Reactor"], cSettings: faults),
        .target(name: "SimReactor", dependencies: ["Reactor"]),
        .target(name: "TLS", dependencies: ["COpenSSL", "Reactor"]),
        .target(name: "YAMLReader", dependencies: ["CYAML", "Promises", "Basics"]),
        .target(name: "JOSE", dependencies: ["COpenSSL", "JSONText"]),
        .target(name: "RESP", dependencies: ["Reactor"]),
        .target(name: "HTTP2", dependencies: ["CNGHTTP2", "HTTP"]),

        // Row 4.
        .target(name: "HTTPClient", dependencies: ["HTTP2", "Reactor"]),

        // Row 5.
        .target(
            name: "Gateway",
            dependencies: ["HTTPClient", "JOSE", "Patterns", "RESP", "TLS", "YAMLReader"]),
        .target(name: "HTTPServer", dependencies: ["HTTP2", "Reactor"]),

        // Row 6. Converts configurations of KrakenD.
        .target(name: "KrakenD", dependencies: ["Gateway"]),

        // Row 7.
        .target(name: "Assembly", dependencies: ["Gateway", "HTTPServer"]),

        // Row 8.
        .target(
            name: "Process",
            dependencies: ["Assembly", "UVReactor"],
            resources: [.embedInCode("Admin/Page")]),
        .target(name: "Rehearsal", dependencies: ["Assembly", "SimReactor"]),

        // Row 9.
        .executableTarget(
            name: "tributary",
            dependencies: [
                "Process", "Rehearsal", "KrakenD",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            plugins: ["Commit"]),
        .plugin(name: "Commit", capability: .buildTool()),

        // For developers: the simulation of random clusters.
        support("Simulation", ["Rehearsal"]),
        .executableTarget(
            name: "cluster-simulation",
            dependencies: [
                "Simulation", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Tests/cluster-simulation"),

        // For developers: run in a release build by `script/test`.
        .executableTarget(
            name: "Allocations", dependencies: ["MallocCounter", "Promises"],
            path: "Tests/Benchmarks/Sources/Allocations"),
        .executableTarget(
            name: "ReleaseChecks", dependencies: ["Promises"],
            path: "Tests/Benchmarks/Sources/ReleaseChecks"),

        // Tests, row by row.
        .testTarget(name: "BasicsTests", dependencies: ["Basics"]),
        .testTarget(
            name: "PromisesTests",
            dependencies: ["PromiseOperators", "PromisesDispatch", "MallocCounter"]),
        support("MallocCounter"),
        support("GuardedMemory"),
        support("TestCertificates", ["TLS"]),
        // The harness on the simulated network, the scripted backend and the scripted client.
        support("TestSupport", ["HTTP2", "SimReactor"]),
        .testTarget(name: "JSONTextTests", dependencies: ["JSONText", "GuardedMemory"]),
        .testTarget(name: "HTTPTests", dependencies: ["HTTP", "GuardedMemory"]),
        .testTarget(name: "HTTP2Tests", dependencies: ["TestSupport"]),
        .testTarget(
            name: "ReactorContractTests",
            dependencies: ["TestCertificates", "UVReactor", "SimReactor"]),
        .testTarget(name: "UVReactorTests", dependencies: ["UVReactor"], cSettings: faults),
        .testTarget(name: "TLSTests", dependencies: ["TestCertificates", "SimReactor"]),
        .testTarget(name: "JOSETests", dependencies: ["JOSE"]),
        .testTarget(
            name: "HTTPClientTests",
            dependencies: ["HTTPClient", "TestSupport", "TestCertificates"]),
        .testTarget(name: "HTTPServerTests", dependencies: ["HTTPServer", "TestSupport"]),
        .testTarget(name: "RESPTests", dependencies: ["RESP", "TestSupport"]),
        .testTarget(name: "YAMLReaderTests", dependencies: ["YAMLReader"]),
        .testTarget(name: "PatternsTests", dependencies: ["Patterns"]),
        .testTarget(name: "GatewayTests", dependencies: ["KrakenD", "HTTPServer", "TestSupport"]),
        // A whole gateway on the simulated network, for the tests of worker and process.
        support("WorkerSupport", ["Assembly", "TestSupport", "TestCertificates"]),
        .testTarget(name: "AssemblyTests", dependencies: ["Rehearsal", "WorkerSupport"]),
        .testTarget(name: "ProcessTests", dependencies: ["Process", "WorkerSupport"]),
        .testTarget(name: "RehearsalTests", dependencies: ["Rehearsal"]),
        .testTarget(
            name: "SimulationTests", dependencies: ["Simulation"], exclude: ["Mutations"]),
        // The tests run the executables as processes.
        .testTarget(name: "EndToEndTests", dependencies: ["tributary", "cluster-simulation"]),
        .testTarget(
            name: "TributaryTests",
            dependencies: [
                "tributary", .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        .testTarget(name: "TidyTests"),
        fuzzing,
    ]
)

// The tests of a change need not all be built: TRIBUTARY_TESTS names the targets, by a list with commas.
if let names = Context.environment["TRIBUTARY_TESTS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}

// Swift targets treat warnings as errors. Tests, and targets that stand on C or support tests, are without strict memory
// safety. Targets of the daemon have no checks of exclusivity at run time in a release: docs/contribute/decisions/0006-unchecked-exclusivity.md.
// The libraries have them, since SwiftPM accepts no unsafe flag in a dependency.
let libraries: Set = ["Promises", "PromiseOperators", "PromisesDispatch"]
let inC: Set = ["CByteClasses", "MallocCounter"]
let relaxed: Set = [
    "System", "UVReactor", "TLS", "YAMLReader", "JOSE", "HTTP2", "tributary", "fuzz",
    "Allocations", "ReleaseChecks", "GuardedMemory", "TestCertificates", "TestSupport",
    "WorkerSupport",
]
for target in package.targets
where target.type != .system && target.type != .plugin && !inC.contains(target.name) {
    let isStrict = target.type != .test && !relaxed.contains(target.name)
    target.swiftSettings =
        [
            .swiftLanguageMode(.v6), .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
            .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            .enableExperimentalFeature("Lifetimes"),
        ] + (isStrict ? [.strictMemorySafety()] : [])
    if libraries.contains(target.name) { continue }
    target.swiftSettings?.append(
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)))
}
