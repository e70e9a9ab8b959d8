package import Basics

/// A key in both forms, made once when a plan is compiled.
package struct JSONName: Sendable {
    /// The key, unescaped.
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
