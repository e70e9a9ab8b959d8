// swift-tools-version: 6.2
import PackageDescription

/// Every target is strict; those that stand on C take the settings without strict memory safety.
let onC: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
]
let strict: [SwiftSetting] = onC + [.strictMemorySafety()]

/// Debug builds can make each call of libuv's fail (Sources/CUV/calls.h); others know nothing of it.
let faults: [CSetting] = [.define("TRIBUTARY_FAULTS", .when(configuration: .debug))]

/// A full static build (the Dockerfile's) links Debian's libuv_a.a, by the name that pkg-config knows.
let libuv = Context.environment["STATIC_LIBUV"] != nil ? "libuv-static" : "libuv"

/// The commit that `tributary version` prints, where the build names one.
let commit: [CSetting] = {
    let commit = Context.environment["TRIBUTARY_COMMIT"] ?? ""
    let isSafe = commit.allSatisfy {
        $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0))
    }
    return commit.isEmpty || !isSafe
        ? [] : [.define("TRIBUTARY_COMMIT", to: "\"\(commit.prefix(64))\"")]
}()

/// The targets of the fuzzer: a test that replays its corpora, or, for `script/fuzz`, the fuzzer.
let fuzzing: Target = {
    let dependencies: [Target.Dependency] = [
        "Gateway", "KrakenD", "Patterns", "YAMLReader", "JSONText", "HTTP",
        "JOSE", "RESP", "TLS", "TestCertificates", "Assembly", "HTTPServer", "HTTPClient",
        "SimReactor",
        "Reactor", "Promises", "Basics",
    ]
    guard Context.environment["TRIBUTARY_FUZZ"] != nil else {
        return .testTarget(
            name: "FuzzTests", dependencies: dependencies,
            exclude: ["Corpora", "Fuzz.swift", "Verdicts.swift"],
            swiftSettings: onC)
    }
    return .executableTarget(
        name: "fuzz", dependencies: dependencies, path: "Tests/FuzzTests",
        exclude: ["Corpora", "Mutator.swift", "ReplayTests.swift", "HTTP2SeedTests.swift"],
        swiftSettings: onC)
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
        .systemLibrary(
            name: "CUV", pkgConfig: libuv,
            providers: [.apt(["libuv1-dev"]), .brew(["libuv"]), .yum(["libuv-devel"])]),
        .systemLibrary(
            name: "CYAML", pkgConfig: "yaml-0.1",
            providers: [.apt(["libyaml-dev"]), .brew(["libyaml"]), .yum(["libyaml-devel"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"]), .yum(["openssl-devel"])]),
        .systemLibrary(
            name: "CNGHTTP2", pkgConfig: "libnghttp2",
            providers: [
                .apt(["libnghttp2-dev"]), .brew(["libnghttp2"]), .yum(["libnghttp2-devel"]),
            ]),
        .systemLibrary(name: "CBuild"),
        // C: vector operations that Swift's SIMD types do not have.
        .target(name: "CByteClasses"),

        // Row 1.
        .target(name: "Basics", swiftSettings: strict),
        .target(name: "Promises", swiftSettings: strict),

        // Row 2.
        .target(name: "PromiseOperators", dependencies: ["Promises"], swiftSettings: strict),
        .target(name: "PromisesDispatch", dependencies: ["Promises"], swiftSettings: strict),
        .target(
            name: "HTTP", dependencies: ["CByteClasses", "Promises", "Basics"],
            swiftSettings: strict),
        .target(name: "Reactor", dependencies: ["Promises", "Basics"], swiftSettings: strict),
        .target(
            name: "JSONText", dependencies: ["CByteClasses", "Basics"], swiftSettings: strict),
        .target(name: "Patterns", dependencies: ["Basics"], swiftSettings: strict),

        .target(
            name: "System", dependencies: ["CUV", "Promises", "Basics"], cSettings: faults,
            swiftSettings: onC),

        // Row 3.
        .target(
            name: "UVReactor", dependencies: ["CUV", "System", "Reactor", "Promises", "Basics"],
            cSettings: faults, swiftSettings: onC),
        .target(
            name: "SimReactor", dependencies: ["Reactor", "Promises", "Basics"],
            swiftSettings: strict),
        .target(
            name: "TLS", dependencies: ["COpenSSL", "Reactor", "Promises", "Basics"],
            swiftSettings: onC),
        .target(
            name: "YAMLReader", dependencies: ["CYAML", "Promises", "Basics"], swiftSettings: onC),
        .target(
            name: "JOSE", dependencies: ["COpenSSL", "JSONText", "Basics"], swiftSettings: onC),
        .target(
            name: "RESP", dependencies: ["Reactor", "Promises", "Basics"], swiftSettings: strict),
        .target(name: "HTTP2", dependencies: ["CNGHTTP2", "HTTP", "Basics"], swiftSettings: onC),

        // Row 4.
        .target(
            name: "HTTPClient", dependencies: ["HTTP2", "HTTP", "Reactor", "Promises", "Basics"],
            swiftSettings: strict),

        // Row 5.
        .target(
            name: "Gateway",
            dependencies: [
                "HTTP", "HTTPClient", "JOSE", "JSONText", "Patterns", "RESP",
                "TLS", "YAMLReader", "Reactor", "Promises", "Basics",
            ],
            swiftSettings: strict),
        .target(
            name: "HTTPServer", dependencies: ["HTTP2", "HTTP", "Reactor", "Promises", "Basics"],
            swiftSettings: strict),

        // Row 6. Converts configurations of KrakenD.
        .target(
            name: "KrakenD",
            dependencies: [
                "Gateway", "HTTP", "JOSE", "JSONText", "Patterns", "TLS", "YAMLReader", "Reactor",
                "Basics",
            ],
            swiftSettings: strict),

        // Row 7.
        .target(
            name: "Assembly",
            dependencies: [
                "Gateway", "HTTPServer", "HTTPClient", "HTTP", "TLS", "JSONText",
                "Reactor", "Promises", "Basics",
            ],
            swiftSettings: strict),

        // Row 8.
        .target(
            name: "Process",
            dependencies: [
                "Assembly", "Gateway", "HTTPServer", "HTTPClient",
                "HTTP", "JSONText", "TLS", "UVReactor", "System", "Reactor", "Promises", "Basics",
            ],
            // `script/page` makes PageDocument.swift of them.
            exclude: ["Admin/Page/Source"],
            swiftSettings: strict),
        .target(
            name: "Rehearsal",
            dependencies: [
                "Assembly", "SimReactor", "Gateway", "HTTP", "RESP", "Reactor",
                "Promises", "Basics",
            ],
            swiftSettings: strict),

        // Row 9.
        .executableTarget(
            name: "tributary",
            dependencies: [
                "Process", "Rehearsal", "Assembly", "Gateway", "KrakenD",
                "HTTPServer", "HTTPClient", "HTTP", "HTTP2", "JSONText", "TLS", "YAMLReader",
                "UVReactor", "System", "Reactor", "Promises", "Basics", "CBuild",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            cSettings: commit, swiftSettings: onC),

        .target(
            name: "Simulation",
            dependencies: [
                "Rehearsal", "Assembly", "SimReactor", "Gateway", "HTTP", "JOSE",
                "TLS", "Reactor", "Promises", "Basics", "CNGHTTP2",
            ],
            swiftSettings: strict),

        // Row 10. For developers, and not in the image: the simulation of random clusters.
        .executableTarget(
            name: "cluster-simulation",
            dependencies: [
                "Simulation",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),

        // For developers: run in a release build by `script/test`.
        .executableTarget(
            name: "Allocations", dependencies: ["MallocCounter", "Promises"],
            path: "Tests/Benchmarks/Sources/Allocations", swiftSettings: onC),
        .executableTarget(
            name: "ReleaseChecks", dependencies: ["Promises"],
            path: "Tests/Benchmarks/Sources/ReleaseChecks", swiftSettings: onC),

        // Tests, row by row.
        .testTarget(name: "BasicsTests", dependencies: ["Basics"], swiftSettings: onC),
        .testTarget(
            name: "PromisesTests",
            dependencies: ["Promises", "PromiseOperators", "PromisesDispatch", "MallocCounter"],
            swiftSettings: onC),
        .target(name: "MallocCounter", path: "Tests/MallocCounter"),
        .target(name: "GuardedMemory", path: "Tests/GuardedMemory", swiftSettings: onC),
        .target(
            name: "TestCertificates", dependencies: ["TLS", "Reactor", "Promises", "Basics"],
            path: "Tests/TestCertificates", swiftSettings: onC),
        .target(
            // The harness on the simulated network, the scripted backend and the scripted client.
            name: "TestSupport",
            dependencies: ["HTTP2", "HTTP", "SimReactor", "Reactor", "Promises", "Basics"],
            path: "Tests/TestSupport", swiftSettings: onC),
        .testTarget(
            name: "JSONTextTests",
            dependencies: ["JSONText", "CByteClasses", "GuardedMemory", "Basics"],
            swiftSettings: onC),
        .testTarget(
            name: "HTTPTests", dependencies: ["HTTP", "GuardedMemory", "Promises", "Basics"],
            swiftSettings: onC),
        .testTarget(
            name: "HTTP2Tests", dependencies: ["HTTP2", "HTTP", "TestSupport", "Basics"],
            swiftSettings: onC),
        .testTarget(
            name: "ReactorContractTests",
            dependencies: [
                "TestCertificates", "TLS", "Reactor", "UVReactor", "SimReactor", "Promises",
                "Basics",
            ],
            swiftSettings: onC),
        .testTarget(
            name: "UVReactorTests",
            dependencies: ["CUV", "UVReactor", "System", "Reactor", "Promises", "Basics"],
            cSettings: faults, swiftSettings: onC),
        .testTarget(
            name: "TLSTests",
            dependencies: [
                "TestCertificates", "TLS", "COpenSSL", "SimReactor", "Reactor", "Promises",
                "Basics",
            ],
            swiftSettings: onC),
        .testTarget(
            name: "JOSETests", dependencies: ["JOSE", "JSONText", "Basics"], swiftSettings: onC),
        .testTarget(
            name: "HTTPClientTests",
            dependencies: [
                "HTTPClient", "HTTP", "TestSupport", "TestCertificates", "TLS", "SimReactor",
                "Reactor", "Promises", "Basics",
            ],
            swiftSettings: onC),
        .testTarget(
            name: "HTTPServerTests",
            dependencies: [
                "HTTPServer", "HTTP2", "HTTP", "TestSupport", "SimReactor", "Reactor", "Promises",
                "Basics",
            ],
            swiftSettings: onC),
        .testTarget(
            name: "RESPTests",
            dependencies: ["RESP", "TestSupport", "SimReactor", "Reactor", "Promises", "Basics"],
            swiftSettings: onC),
        .testTarget(
            name: "YAMLReaderTests", dependencies: ["YAMLReader", "Basics"], swiftSettings: onC),
        .testTarget(
            name: "PatternsTests", dependencies: ["Patterns", "Basics"], swiftSettings: onC),
        .testTarget(
            name: "GatewayTests",
            dependencies: [
                "Gateway", "KrakenD", "HTTPClient", "HTTPServer", "HTTP",
                "JOSE", "SimReactor", "JSONText", "Patterns", "RESP", "YAMLReader", "Reactor",
                "Promises", "Basics", "TestSupport",
            ],
            swiftSettings: onC),
        .target(
            // A whole gateway on the simulated network, for the tests of worker and process.
            name: "WorkerSupport",
            dependencies: [
                "Assembly", "Gateway", "HTTP", "JOSE", "TestSupport",
                "TestCertificates", "TLS", "SimReactor", "Reactor", "Promises", "Basics",
            ],
            path: "Tests/WorkerSupport", swiftSettings: onC),
        .testTarget(
            name: "AssemblyTests",
            dependencies: [
                "Assembly", "Rehearsal", "Gateway", "HTTPServer",
                "HTTP2", "HTTP", "JOSE", "WorkerSupport", "TestSupport", "TestCertificates", "TLS",
                "SimReactor", "Reactor", "Promises", "Basics",
            ],
            swiftSettings: onC),
        .testTarget(
            // In virtual time: its pages, exports and reports need only a loop.
            name: "ProcessTests",
            dependencies: [
                "Process", "Assembly", "Gateway", "HTTPServer", "HTTPClient",
                "HTTP", "WorkerSupport", "TestSupport", "TestCertificates", "TLS", "SimReactor",
                "Reactor", "Promises", "Basics",
            ],
            swiftSettings: onC),
        .testTarget(
            name: "RehearsalTests", dependencies: ["Rehearsal", "Gateway"],
            swiftSettings: onC),
        .testTarget(
            // The deliberate faults are applied to a copy of the code, never compiled in here.
            name: "SimulationTests",
            dependencies: ["Simulation", "Rehearsal", "Gateway"],
            exclude: ["Mutations"], swiftSettings: onC),
        .testTarget(
            // The executable is a dependency so that it is built; the tests run it as a process.
            name: "EndToEndTests", dependencies: ["tributary", "cluster-simulation"],
            swiftSettings: onC),
        .testTarget(
            // What the executable has of its own.
            name: "TributaryTests",
            dependencies: [
                "tributary",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: onC),
        .testTarget(name: "TidyTests", swiftSettings: onC),
        fuzzing,
    ]
)

// The tests of a change need not all be built: TRIBUTARY_TESTS names the targets, by a list with commas.
if let names = Context.environment["TRIBUTARY_TESTS"]?.split(separator: ",").map(String.init) {
    package.targets.removeAll { $0.type == .test && !names.contains($0.name) }
}
