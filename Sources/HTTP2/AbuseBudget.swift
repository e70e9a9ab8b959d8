import Basics

/// What a peer may spend on frames that cost it little and this side much: floods of PING and
/// SETTINGS (CVE-2019-9512, -9515, -9518), streams that are opened and reset (CVE-2023-44487) or
/// made invalid so that this side resets them (CVE-2025-8671).
///
/// 1,000 points, refilled by 100 per second. The time is a parameter.
struct AbuseBudget {
    /// In points.
    enum Cost: Int {
        /// A frame that asks for a response, or for work without progress.
        case frame = 1
        /// A stream that was reset, or that this side must reset.
        case reset = 5
    }

    private static let bucket = TokenBucket(count: 100, per: .seconds(1), burst: 1000)
    /// In points: a client that gets its responses may cancel some of its requests.
    private static let refundOfResponse = 2
    /// In points: peers that measure the connection, as gRPC's do, send a PING and a small
    /// WINDOW_UPDATE for a piece of a body.
    private static let refundOfPiece = 2

    /// When the budget will be full again, in units of the bucket.
    private var arrival: Int64 = 0

    /// Subtracts the cost; false if the budget is used up.
    mutating func charge(_ cost: Cost, at now: Instant) -> Bool {
        guard
            let new = Self.bucket?.arrival(
                charging: cost.rawValue, to: arrival, at: TokenBucket.time(of: now))
        else { return false }
        arrival = new
        return true
    }

    /// Returns the cost of a frame that made progress after all.
    mutating func refundFrame() { refund(Cost.frame.rawValue) }

    /// A response was delivered.
    mutating func responseDelivered() { refund(Self.refundOfResponse) }

    /// A piece of a streamed body was sent.
    mutating func pieceSent() { refund(Self.refundOfPiece) }

    private mutating func refund(_ points: Int) {
        guard let bucket = Self.bucket else { return }
        arrival = max(0, bucket.arrival(refunding: points, to: arrival))
    }
}
