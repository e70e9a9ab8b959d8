import Basics

/// One entry point for untrusted bytes, as a function that must hold for every input.
///
/// libFuzzer (`script/fuzz`) calls it for any time, and `ReplayTests` calls it with the corpora and
/// some thousand mutations in each test run.
struct FuzzTarget: Sendable {
    let name: String
    /// Tokens of the format, which mutations insert.
    let tokens: [String]
    /// A description of what is wrong with the result for an input; nil if nothing is. Must neither
    /// trap nor hang.
    let violation: @Sendable (_ input: [UInt8]) -> String?

    static let all: [FuzzTarget] = [
        .request, .response, .chunked, .json, .yamlConfig, .jsonConfig, .template, .pattern, .path,
        .token, .keySet, .resp, .hello, .proxy, .http2, .http2Backend,
    ]

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
