import Basics

/// Why the gateway refused a request without a look at its contents: the member `reason` of the
/// problem, a field of the access log, and the label of a metric.
package enum RefusalReason: UInt8, Sendable, CaseIterable {
    /// The client's address is denied, or not among those that are allowed.
    case address
    /// The request is for a host that the gateway does not serve.
    case host

    /// In the order of `rawValue`.
    package var name: StaticString {
        switch self {
        case .address: "address"
        case .host: "host"
        }
    }

    package var status: Status {
        switch self {
        case .address: .forbidden
        case .host: .misdirectedRequest
        }
    }
}

extension Problem {
    /// A problem with the member `reason`.
    package init(_ reason: RefusalReason, instance: RequestID) {
        var json: [UInt8] = []
        json.append(UInt8(ascii: "\""))
        json.append(literal: reason.name)
        json.append(UInt8(ascii: "\""))
        self = Problem(reason.status, instance: instance).with("reason", json: Bytes(json))
    }
}
