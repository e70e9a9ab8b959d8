import Basics
import HTTP

extension [UInt8] {
    /// Appends to a target, with or without a query of its own, the parameters of a client's query
    /// that have one of the names: repeated ones too, in the order of the request, decoded and
    /// encoded again.
    mutating func append(query: Bytes?, keeping names: [String]) {
        guard let query else { return }
        var separator = UInt8(ascii: contains(UInt8(ascii: "?")) ? "&" : "?")
        for parameter in QueryParameters(query) {
            guard let name = parameter.decodedName, names.contains(where: name.spells) else {
                continue
            }
            // A value with a broken escape goes on as the characters that the client wrote.
            let value = parameter.decodedValue ?? parameter.value
            append(separator)
            append(percentEncoding: name.span)
            append(UInt8(ascii: "="))
            append(percentEncoding: value.span)
            separator = UInt8(ascii: "&")
        }
    }
}

extension Bytes {
    fileprivate func spells(_ text: String) -> Bool {
        guard count == text.utf8.count else { return false }
        return text.utf8.enumerated().allSatisfy { index, byte in self[index] == byte }
    }
}
