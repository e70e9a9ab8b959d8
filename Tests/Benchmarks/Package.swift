// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that nobody who builds the library fetches what it is compared with.
let package = Package(
    name: "promise-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "tributary", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        .target(name: "MallocCounter"),
        .executableTarget(
            name: "Allocations",
            dependencies: ["MallocCounter", .product(name: "Promises", package: "tributary")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "MallocCounter",
                .product(name: "Promises", package: "tributary"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)
