package import Basics

/// A key with its text, made once where a plan is compiled.
package struct JSONName: Sendable {
    /// What the key means, unescaped.
    package let plain: Bytes
    /// The key with quotes and colon.
    package let written: Bytes

    package init(_ name: String) {
        plain = Bytes(name)
        var key: [UInt8] = []
        key.append(jsonKey: name)
        written = Bytes(key)
    }
}
