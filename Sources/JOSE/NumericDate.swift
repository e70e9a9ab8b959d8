import Basics
import JSONText

/// A time in a claim, in seconds since 1970 (RFC 7519 section 2): a number of JSON, which may have
/// a fraction and an exponent.
struct NumericDate {
    /// The last whole second that is not later.
    let floor: Int64
    /// The first whole second that is not earlier.
    let ceiling: Int64

    /// Nil if the value is not a number, or one too large for a double.
    ///
    /// Times beyond the bounds become the bounds, so that adding a leeway cannot overflow.
    init?(_ value: JSONSlice) {
        guard value.kind == .number, let number = Double(String(value.bytes)), number.isFinite
        else { return nil }
        let bounded = min(max(number, -Self.bound), Self.bound)
        floor = Int64(bounded.rounded(.down))
        ceiling = Int64(bounded.rounded(.up))
    }

    /// Thirty million years, in which every whole second is a double.
    private static let bound = 1e15
}
