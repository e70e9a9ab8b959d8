// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that building the library does not fetch the libraries that it is compared
// with. Counting allocations does not fetch them either.
let onlyAllocations = Context.environment["ONLY_ALLOCATIONS"] != nil

let package = Package(
    name: "promise-benchmarks",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "RequestCounter", type: .dynamic, targets: ["RequestCounter"])
    ],
    dependencies: [.package(name: "tributary", path: "../..")],
    targets: [
        // The folder is a symbolic link: the tests of the library use it, too.
        .target(name: "MallocCounter"),
        // Loaded into the gateway by Tests/Verify/request_costs.py.
        .target(name: "RequestCounter", dependencies: ["MallocCounter"]),
        .executableTarget(
            name: "Allocations",
            dependencies: ["MallocCounter", .product(name: "Promises", package: "tributary")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
        .executableTarget(
            name: "ReleaseChecks",
            dependencies: [.product(name: "Promises", package: "tributary")],
            swiftSettings: [.swiftLanguageMode(.v6)]),
    ]
)

if !onlyAllocations {
    package.dependencies += [
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2")
    ]
    package.targets += [
        .executableTarget(
            name: "Benchmarks",
            dependencies: [
                "MallocCounter",
                .product(name: "Promises", package: "tributary"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
}
