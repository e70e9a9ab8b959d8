import Basics
import HTTP
import Reactor

/// `auth_failures`: limits how many credentials of one address are refused as malformed or untrusted,
/// and so the guesses of an attacker and the cost of checking them.
///
/// Its buckets are a table of the process, which survives reloads. It is its own: a client that fills
/// the table of the rate limits must not make the gateway forget failures.
final class AuthFailureLimit {
    private let bucket: TokenBucket
    private let cells: LimitCells
    private let hashKey: KeyedHash.Key
    private let mask: AddressMask
    private let proxies: TrustedProxies
    private let loop: any Loop

    /// As problems name it. No rate limit can have this name.
    static let name: StaticString = "auth_failures"

    init(
        _ bucket: TokenBucket, _ table: LimitTable, _ mask: AddressMask, _ proxies: TrustedProxies,
        loop: any Loop
    ) {
        self.bucket = bucket
        cells = table.failureCells
        hashKey = table.hashKey
        self.mask = mask
        self.proxies = proxies
        self.loop = loop
    }

    /// The refusal if the limit of the client's address is reached, without counting anything.
    func refusal(of head: RequestHead, _ context: RequestContext) -> AuthRefusal? {
        let key = key(head, context)
        guard !cells.allows(key, of: bucket, at: loop.now) else { return nil }
        return refusal(cells.arrival(of: key, in: bucket, at: loop.now))
    }

    /// Counts a refused credential; the refusal that replaces it if the limit was reached before.
    func countFailure(of head: RequestHead, _ context: RequestContext) -> AuthRefusal? {
        let charge = cells.charge(key(head, context), of: bucket, at: loop.now)
        return charge.isGranted ? nil : refusal(charge.arrival)
    }

    private func key(_ head: RequestHead, _ context: RequestContext) -> UInt64 {
        var hash = KeyedHash(hashKey)
        // The hash of a rate limit begins with the length of its name, which is not 0.
        hash.combine(0 as UInt64)
        hash.combine(Self.name.span)
        hash.combine(mask.network(of: context.clientAddress(of: head, proxies).host))
        return hash.value
    }

    private func refusal(_ arrival: Int64) -> AuthRefusal {
        let wait = bucket.wait(for: 1, arrival, at: TokenBucket.time(of: loop.now))
        return AuthRefusal(.quota, retryAfter: TokenBucket.seconds(wait))
    }
}
