/// A moment of a request: microseconds since its head was complete. Comparable with other moments of
/// the same request only.
///
/// Four bytes, so that a record with many moments is small. Saturates after 71 minutes.
package struct Moment: Sendable, Equatable, Comparable {
    package let microseconds: UInt32

    /// The event has not happened.
    package static let never = Moment(microseconds: .max)

    package init(microseconds: UInt32) {
        self.microseconds = microseconds
    }

    package static func < (left: Moment, right: Moment) -> Bool {
        left.microseconds < right.microseconds
    }

    package var hasHappened: Bool { self != .never }

    /// The time from an earlier moment to this one; nil if one of them has not happened.
    package func since(_ earlier: Moment) -> Duration? {
        guard hasHappened, earlier.hasHappened else { return nil }
        return .microseconds(Int64(microseconds) - Int64(earlier.microseconds))
    }
}
