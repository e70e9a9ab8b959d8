import Basics
import HTTP
import JSONText

/// A failure and its call, as reports list them.
struct ReportedFailure {
    /// Nil for a member of `put`.
    let call: CallPlan?
    let failure: CallFailure
    /// The host that the call was sent to last, with its port; known only where the endpoint
    /// exposes details.
    var host: FieldValue?
    /// Of a list, the elements that failed.
    var elements: FailedElements?
}

extension ReportedFailure {
    /// The first hundred of the keys: the backend decides how many there are.
    static func all(dropping keys: [String], of call: CallPlan) -> [ReportedFailure] {
        keys.prefix(100).map { ReportedFailure(call: call, failure: .collision(key: $0)) }
    }

    init(_ failed: FailedCall, of call: CallPlan) {
        self.init(
            call: call, failure: failed.failure, host: failed.host, elements: failed.elements)
    }
}

extension [UInt8] {
    /// Appends `[{"call":"stock","kind":"unexpected_status","status":500}, ...]`, compact.
    mutating func append(failures: [ReportedFailure], exposingDetails: Bool) {
        append(UInt8(ascii: "["))
        for (index, reported) in failures.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            append(reported, exposingDetails: exposingDetails)
        }
        append(UInt8(ascii: "]"))
    }

    /// - Parameter namesCall: whether the object has the name of the call
    mutating func append(
        _ reported: ReportedFailure, exposingDetails: Bool, namesCall: Bool = true
    ) {
        let failure = reported.failure
        append(UInt8(ascii: "{"))
        if namesCall, let call = reported.call {
            append(literal: #""call":"#)
            append(jsonString: call.name)
            append(UInt8(ascii: ","))
        }
        append(literal: #""kind":"#)
        append(jsonString: failure.kind.facts.name)
        if let status = failure.status {
            append(literal: #","status":"#)
            append(decimal: UInt(status.code))
        }
        if let limit = failure.limit {
            append(literal: #","limit_ms":"#)
            append(decimal: UInt64(Swift.max(0, limit.inNanoseconds / 1_000_000)))
        }
        if let name = failure.missingValue {
            append(literal: #","because":"#)
            append(jsonString: name)
        }
        if let key = failure.key {
            append(literal: #","key":"#)
            append(jsonString: key)
        }
        if let elements = reported.elements { append(elements) }
        if exposingDetails { appendDetails(of: reported) }
        append(UInt8(ascii: "}"))
    }

    private mutating func append(_ elements: FailedElements) {
        append(literal: #","count":"#)
        append(decimal: UInt(elements.count))
        guard !elements.first.isEmpty else { return }
        append(literal: #","first":["#)
        for (index, element) in elements.first.enumerated() {
            if index > 0 { append(UInt8(ascii: ",")) }
            append(decimal: UInt(element))
        }
        append(UInt8(ascii: "]"))
    }

    private mutating func appendDetails(of reported: ReportedFailure) {
        if let host = reported.host {
            append(literal: #","host":"#)
            append(jsonString: host.description)
        }
        if let detail = reported.failure.detail {
            append(literal: #","detail":"#)
            append(jsonString: detail)
        }
    }

    /// Appends the structured field of `report: header` (RFC 9651):
    /// `stock;kind=unexpected_status;status=500, reviews;kind=http_response_timeout`. The name is `*` for
    /// a member of `put`. Entries after 4 KiB are left out.
    mutating func append(failuresField failures: [ReportedFailure]) {
        for (index, reported) in failures.enumerated() where count < 4096 {
            if index > 0 { append(literal: ", ") }
            append(reported.call?.name ?? "*")
            append(literal: ";kind=")
            append(reported.failure.kind.facts.name)
            if let status = reported.failure.status {
                append(literal: ";status=")
                append(decimal: UInt(status.code))
            }
            if let elements = reported.elements {
                append(literal: ";count=")
                append(decimal: UInt(elements.count))
            }
        }
    }
}
