// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that building the library does not fetch the libraries that it is compared with.
let package = Package(
    name: "promise-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "tributary", path: "../.."),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    ],
    targets: [
        // The folder is a symbolic link: the tests of the library use it, too.
        .target(name: "MallocCounter"),
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
