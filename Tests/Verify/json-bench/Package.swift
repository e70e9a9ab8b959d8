// swift-tools-version: 6.2
import PackageDescription

// `script/bench json` copies this package to a build folder, and links the sources of the gateway and
// those of yyjson there.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
    // The benchmark chooses between internal implementations.
    .unsafeFlags(["-enable-testing"]),
]

let package = Package(
    name: "json-bench",
    targets: [
        .target(name: "CByteClasses"),
        .target(name: "Basics", swiftSettings: settings),
        .target(
            name: "JSONText", dependencies: ["CByteClasses", "Basics"], swiftSettings: settings),
        .target(
            name: "Peers", cSettings: [.unsafeFlags(["-O3"])],
            cxxSettings: [.unsafeFlags(["-O3"])],
            linkerSettings: [.linkedLibrary("simdjson"), .linkedLibrary("stdc++")]),
        .executableTarget(
            name: "JSONBench", dependencies: ["JSONText", "Basics", "Peers"],
            swiftSettings: [
                .swiftLanguageMode(.v6), .enableExperimentalFeature("Lifetimes"),
            ]),
    ],
    cxxLanguageStandard: .cxx17
)
