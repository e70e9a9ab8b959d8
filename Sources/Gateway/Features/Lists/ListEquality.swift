import Basics
import HTTP
import HTTPClient
import JSONText

// When requests of a list are equal, and when a result of a batch belongs to an element.

extension ClientRequest {
    /// Equal for requests that are equal byte for byte.
    var identity: [UInt8] {
        var identity: [UInt8] = []
        identity.append(copying: target.text.span)
        for (name, value) in fields {
            identity.append(UInt8(ascii: "\n"))
            identity.append(name)
            identity.append(UInt8(ascii: ":"))
            identity.append(value)
        }
        identity += [UInt8(ascii: "\n"), UInt8(ascii: "\n")]
        if case .bytes(let content) = body { identity.append(content) }
        return identity
    }
}

extension JSONSlice {
    /// Equal for equal values of one type, as in conditions; nil for null, objects and arrays.
    var matchKey: [UInt8]? {
        switch kind {
        case .string: return text.map { [UInt8(ascii: "s")] + $0.array }
        case .boolean: return bytes.array
        case .number:
            var key = [UInt8(ascii: "n")]
            DecimalText(bytes.span)?.appendCanonical(to: &key)
            return key
        case .null, .object, .array: return nil
        }
    }
}
