import Basics
import HTTP
import JSONText

/// The failures that a response reports: the member `_gateway`, or a header.
struct FailureReport {
    /// The member's name, reserved: a backend's member of that name is dropped.
    static let name = JSONName(Config.Endpoint.Report.key)

    private let entries: [ReportedFailure]
    private let exposesDetails: Bool

    /// Whether nothing failed. A value dropped by a collision leaves the response complete.
    let isComplete: Bool

    init(failures: [ReportedFailure], dropped: [ReportedFailure], exposesDetails: Bool) {
        isComplete = failures.isEmpty
        // A sum of arrays allocates, even if both are empty.
        entries = dropped.isEmpty ? failures : failures + dropped
        self.exposesDetails = exposesDetails
    }

    /// Adds the member unless there is nothing to report.
    func add(to body: inout JSONObjectBuilder) {
        guard !entries.isEmpty else { return }
        // The name is reserved, so it cannot collide.
        _ = body.add(Self.name) { bytes in
            bytes.append(
                literal: isComplete
                    ? #"{"complete":true,"failures":"# : #"{"complete":false,"failures":"#)
            bytes.append(failures: entries, exposingDetails: exposesDetails)
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// The value of `Gateway-Failures`; nil if there is nothing to report.
    var field: FieldValue? {
        guard !entries.isEmpty else { return nil }
        var text: [UInt8] = []
        text.append(failuresField: entries)
        return FieldValue(Bytes(text))
    }
}
