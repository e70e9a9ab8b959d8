/// A body that a simulated peer sends in pieces.
package struct StreamedBody {
    /// In bytes; at least one.
    package let sizes: [Int]
    /// Milliseconds before each piece but the first.
    package let pauses: [Int]

    package init(sizes: [Int], pauses: [Int]) {
        self.sizes = sizes
        self.pauses = pauses
    }

    package var byteCount: Int { sizes.reduce(0, +) }

    /// The content of a piece, which does not matter.
    static func piece(_ size: Int) -> [UInt8] { Array(repeating: UInt8(ascii: "x"), count: size) }
}
