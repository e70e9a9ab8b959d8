import Basics
import HTTP
import JSONText

/// What an answer says about what went wrong: the member `_gateway`, or a header.
struct Report {
    /// The member's name; no backend may bring it.
    static let name = JSONName("_gateway")

    private let entries: [ReportedFailure]
    private let exposesDetails: Bool

    /// Nothing failed. A value that was dropped by a collision leaves the answer complete.
    let isComplete: Bool

    init(failures: [ReportedFailure], dropped: [ReportedFailure], exposesDetails: Bool) {
        isComplete = failures.isEmpty
        entries = failures + dropped
        self.exposesDetails = exposesDetails
    }

    /// Adds the member, if there is anything to tell.
    func add(to body: inout JSONObjectBuilder) {
        guard !entries.isEmpty else { return }
        // The name is reserved, so nobody can have brought it.
        _ = body.add(Self.name) { bytes in
            bytes.append(
                literal: isComplete
                    ? #"{"complete":true,"failures":"# : #"{"complete":false,"failures":"#)
            bytes.append(failures: entries, exposingDetails: exposesDetails)
            bytes.append(UInt8(ascii: "}"))
        }
    }

    /// The value of `Gateway-Failures`; nil if there is nothing to tell.
    var field: FieldValue? {
        guard !entries.isEmpty else { return nil }
        var text: [UInt8] = []
        text.append(failuresField: entries)
        return FieldValue(Bytes(text))
    }
}
