// swift-tools-version: 6.2
import PackageDescription

// `script/bench heads` copies this package to a build folder, and links the sources of the gateway there.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableExperimentalFeature("Lifetimes"),
    .strictMemorySafety(),
]

let package = Package(
    name: "head-bench",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "CByteClasses"),
        .target(name: "Basics", swiftSettings: settings),
        .target(name: "Promises", swiftSettings: settings),
        .target(
            name: "HTTP", dependencies: ["CByteClasses", "Promises", "Basics"],
            swiftSettings: settings),
        .target(name: "Peers", linkerSettings: [.linkedLibrary("http_parser")]),
        .executableTarget(
            name: "HeadBench", dependencies: ["HTTP", "Basics", "Peers"], swiftSettings: settings),
    ]
)
