import Peers

@testable import JSONText

/// A way to validate a text.
struct Scanner: Sendable {
    let name: String
    /// Whether the text is valid. The array has sixty-four more bytes than the count says.
    let validates: @Sendable (_ padded: [UInt8], _ count: Int) -> Bool

    static let withoutBlocks = Scanner(name: "without blocks") { text, count in
        let text = text.span.extracting(..<count)
        return (try? JSONScanner(text, depthMax: 512).wholeText()) != nil
    }

    /// What the gateway does: blocks for long texts only.
    static let gateway = Scanner(name: "Tributary") { text, count in
        (try? JSONSlice.range(in: text.span.extracting(..<count))) != nil
    }

    static let inBlocks = BlockClassifier.all.enumerated().map { index, classifier in
        Scanner(name: instructions(index)) { text, count in
            let text = text.span.extracting(..<count)
            return BlockScanner(text, depthMax: 512, classifier).wholeText() != nil
        }
    }

    static let peers = [
        Scanner(name: "simdjson") { text, count in
            text.withUnsafeBufferPointer { peer(simdjson_validates, $0, count) }
        },
        Scanner(name: "yyjson") { text, count in
            text.withUnsafeBufferPointer { peer(yyjson_validates, $0, count) }
        },
    ]

    static let all = [withoutBlocks] + inBlocks + [gateway] + peers

    private static func instructions(_ index: Int) -> String {
        #if arch(x86_64)
            ["SSE2", "AVX2", "AVX-512"][index]
        #elseif arch(arm64)
            "NEON"
        #else
            "blocks"
        #endif
    }
}

private func peer(
    _ validates: (UnsafePointer<UInt8>, Int) -> Int32, _ text: UnsafeBufferPointer<UInt8>,
    _ count: Int
) -> Bool {
    guard let start = text.baseAddress else { return false }
    return validates(start, count) != 0
}
