/// How much is left of something limited.
@usableFromInline
package enum Shortage: Int, Sendable, Comparable {
    /// More than a quarter.
    case none
    /// A quarter or less.
    case low
    /// Nothing.
    case full

    /// - Parameter count: what is in use
    @inlinable
    package init(of count: Int, limit: Int) {
        self = count >= limit ? .full : count >= limit - limit / 4 ? .low : .none
    }

    @inlinable
    package static func < (left: Shortage, right: Shortage) -> Bool {
        left.rawValue < right.rawValue
    }
}
