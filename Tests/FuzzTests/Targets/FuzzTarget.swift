import Basics

/// One way in for hostile bytes, as a function that must hold for every input.
///
/// Two drive it: libFuzzer (`script/fuzz`), for as long as one likes, and `ReplayTests`, with the
/// corpora and some thousand mutations of them, at each run of the tests.
struct FuzzTarget: Sendable {
    let name: String
    /// Tokens that the format is made of: what a mutation puts in.
    let tokens: [String]
    /// What is wrong with how the input was taken; nil if nothing is. Must not trap, nor hang.
    let finding: @Sendable (_ input: [UInt8]) -> String?

    static let all: [FuzzTarget] = [
        .request, .response, .chunked, .json, .yamlConfig, .jsonConfig, .template, .pattern, .path,
    ]

    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}
