import Promises

/// The name of a file that was read, as an index into the names of the process.
///
/// A process keeps every name that it has seen, so that names stay valid in messages after a
/// reload. It reads the same few files again and again.
package struct FileName: Sendable, Hashable {
    private let index: UInt32

    /// Looks up the name, and adds a new one. Any thread may call it.
    package init(_ text: String) {
        index = Self.names.withLock { $0.index(of: text) }
    }

    package var text: String { Self.names.withLock { $0.texts[Int(index)] } }

    private static let names = Guarded(Names())

    private struct Names {
        var texts: [String] = []
        private var indices: [String: UInt32] = [:]

        mutating func index(of text: String) -> UInt32 {
            if let known = indices[text] { return known }
            let index = UInt32(texts.count)
            texts.append(text)
            indices[text] = index
            return index
        }
    }
}
