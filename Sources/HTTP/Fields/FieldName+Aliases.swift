package import Basics

// Names of fields as the names of variables: CGI, WSGI, Rack and PHP write `X-User` and `X_User` as
// `HTTP_X_USER` (RFC 3875 4.1.18), so that a backend takes one field for the other.
extension FieldName {
    /// The name with hyphens in place of all bytes but letters and digits: equal for fields that such
    /// servers confuse.
    package var hyphenated: FieldName { FieldName(span.hyphenated) ?? self }
}

extension Span<UInt8> {
    /// `FieldName.hyphenated`
    package var hyphenated: Bytes {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for index in indices {
            let byte = self[index]
            let isAlphanumeric =
                byte &- UInt8(ascii: "0") < 10 || (byte | 0x20) &- UInt8(ascii: "a") < 26
            bytes.append(isAlphanumeric ? byte : UInt8(ascii: "-"))
        }
        return Bytes(bytes)
    }
}
