/// How often a rate limit granted and refused requests: one object for each limit and worker, which
/// a reload passes on to the new plan's limit with the same name.
final class LimitCounts {
    var granted = 0
    var refused = 0
    /// Granted requests that a later limit refused.
    var refunded = 0
}

/// The counts of one limit.
package struct LimitUsage: Sendable, Equatable {
    package let name: String
    package let granted: Int
    package let refused: Int
    package let refunded: Int

    package init(name: String, granted: Int, refused: Int, refunded: Int) {
        self.name = name
        self.granted = granted
        self.refused = refused
        self.refunded = refunded
    }

    /// The sum of two workers.
    package func adding(_ other: LimitUsage) -> LimitUsage {
        LimitUsage(
            name: name, granted: granted &+ other.granted, refused: refused &+ other.refused,
            refunded: refunded &+ other.refunded)
    }
}
