/// One attribute of a span or of a resource.
struct OTLPAttribute: Equatable {
    let key: String
    let value: Value

    enum Value: Equatable {
        case text(String)
        case number(Int)
        case flag(Bool)
    }
}

extension [OTLPAttribute] {
    mutating func append(attribute key: String, _ value: String) {
        append(OTLPAttribute(key: key, value: .text(value)))
    }

    mutating func append(attribute key: String, _ value: StaticString) {
        append(attribute: key, "\(value)")
    }

    mutating func append(attribute key: String, _ value: Int) {
        append(OTLPAttribute(key: key, value: .number(Swift.max(0, value))))
    }

    mutating func append(attribute key: String, _ value: Bool) {
        append(OTLPAttribute(key: key, value: .flag(value)))
    }
}

/// A moment of a span.
struct OTLPEvent {
    let name: String
    /// In nanoseconds since 1970.
    let time: Int64
}
