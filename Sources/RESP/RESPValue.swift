package import Basics

/// A reply of the store, in the types of RESP2.
package enum RESPValue: Sendable, Equatable {
    /// A short text such as `OK`.
    case simple(Bytes)
    /// A refusal: a word in capitals such as `READONLY`, then a text.
    case error(Bytes)
    case integer(Int64)
    /// Any bytes.
    case bulk(Bytes)
    /// The null bulk string or the null array, which mean the same.
    case null
    case array([RESPValue])
}

/// The limits of a reply: they bound the memory that a store can make the gateway use.
package struct RESPLimits: Sendable, Equatable {
    /// One reply with its lengths and line ends, in bytes.
    ///
    /// 1 MiB and 64 KiB: a value of 1 MiB and the array around it.
    package var valueBytes = 1024 * 1024 + 64 * 1024

    /// Arrays in arrays.
    ///
    /// 8: the replies to the commands in use have one or two.
    package var depth = 8

    /// The elements of all arrays of one reply.
    ///
    /// 16,384: an element takes several times its bytes in memory, and replies have a few dozen.
    package var elements = 16 * 1024

    package init() {}
}

/// Why a reply is not RESP2, or is beyond a limit.
package enum RESPError: Error, Sendable, Hashable {
    /// The first byte of a value is not a type of RESP2.
    case type
    /// A number is not decimal, or does not fit into 64 bits.
    case number
    /// A length is negative and not -1.
    case length
    /// A line does not end with CR LF.
    case lineEnd
    /// A bulk string is not followed by CR LF.
    case stringEnd
    case tooLarge
    case tooDeep
    case tooManyElements
}

extension RESPError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .type: "a value of an unknown type"
        case .number: "an invalid number"
        case .length: "a negative length"
        case .lineEnd: "a line that does not end with CR LF"
        case .stringEnd: "a string that is longer than its length"
        case .tooLarge: "a reply that is too large"
        case .tooDeep: "arrays that are nested too deeply"
        case .tooManyElements: "arrays with too many elements"
        }
    }
}
