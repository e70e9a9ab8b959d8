import Basics

/// Names of members in camel case: a single underscore between two ASCII letters or digits goes, and a
/// letter after it becomes a capital. Leading, trailing and double underscores stay.
package enum CamelCase {
    package static func name(of key: String) -> String {
        changed(Bytes(key).span).map { String(decoding: $0, as: UTF8.self) } ?? key
    }

    /// The key in camel case; nil if it already is.
    ///
    /// - Parameter key: unescaped
    static func changed(_ key: Span<UInt8>) -> [UInt8]? {
        guard let first = firstSeparator(in: key) else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(key.count)
        result.append(copying: key.extracting(0..<first))
        var index = first
        while index < key.count {
            if isSeparator(at: index, in: key) {
                index += 1
                result.append(key[index].uppercased)
            } else {
                result.append(key[index])
            }
            index += 1
        }
        return result
    }

    private static func firstSeparator(in key: Span<UInt8>) -> Int? {
        var index = 1
        while index < key.count - 1 {
            if isSeparator(at: index, in: key) { return index }
            index += 1
        }
        return nil
    }

    private static func isSeparator(at index: Int, in key: Span<UInt8>) -> Bool {
        key[index] == UInt8(ascii: "_") && index > 0 && index < key.count - 1
            && key[index - 1].isLetterOrDigit && key[index + 1].isLetterOrDigit
    }
}

extension UInt8 {
    private var isLowercase: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }

    fileprivate var isLetterOrDigit: Bool {
        isLowercase || self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z")
            || self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9")
    }

    fileprivate var uppercased: UInt8 { isLowercase ? self - 0x20 : self }
}
