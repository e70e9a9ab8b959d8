import HTTP

/// Why a request is worth a look after it has ended.
package struct RetentionReason: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// Answered with a status from 500 on, or broken off.
    package static let failed = RetentionReason(rawValue: 1)
    /// Answered without the parts of calls that failed.
    package static let partial = RetentionReason(rawValue: 2)
    /// It took longer than 99 of 100 requests of its endpoint.
    package static let slow = RetentionReason(rawValue: 4)
    /// Answered with a status from 400 to 499.
    package static let rejected = RetentionReason(rawValue: 8)
    /// The client disconnected before the response.
    package static let clientGone = RetentionReason(rawValue: 16)

    /// All of them with their names, in the order of their bits.
    package static let named: [(reason: RetentionReason, name: StaticString)] = [
        (.failed, "failed"), (.partial, "partial"), (.slow, "slow"), (.rejected, "rejected"),
        (.clientGone, "client_gone"),
    ]

    /// What an outcome alone gives reason for.
    init(_ outcome: RequestOutcome) {
        switch outcome {
        case .ok: self = []
        case .partial: self = .partial
        case .rejected: self = .rejected
        case .failed, .truncated, .cutOff: self = .failed
        case .clientGone: self = .clientGone
        }
    }
}

/// Limits how many requests one endpoint retains, so that an endpoint that fails all the time does not
/// overwrite the requests of the others.
struct RetentionLimit {
    /// In each second, for each reason.
    ///
    /// 20: enough to see what happens, and 256 KiB then keep some ten seconds of one bad endpoint.
    static let perSecond: UInt16 = 20

    private var second: Int64 = .min
    /// By the bit of the reason.
    private var used = SIMD8<UInt16>()
    /// Requests that were not retained, by the bit of the reason.
    private(set) var excess = SIMD8<UInt32>()

    /// The reasons that are within the limit; the others are counted as excess.
    mutating func admit(_ reasons: RetentionReason, second: Int64) -> RetentionReason {
        if second != self.second {
            self.second = second
            used = SIMD8()
        }
        var admitted: RetentionReason = []
        for bit in 0..<RetentionReason.named.count where reasons.rawValue >> UInt8(bit) & 1 == 1 {
            if used[bit] < Self.perSecond {
                used[bit] += 1
                admitted.insert(RetentionReason(rawValue: 1 << UInt8(bit)))
            } else {
                excess[bit] &+= 1
            }
        }
        return admitted
    }
}
