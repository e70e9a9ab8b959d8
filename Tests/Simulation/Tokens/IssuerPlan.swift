import Basics
import JOSE
import Rehearsal

/// Everything that a run with an issuer draws from its seed in advance: its keys over time, its
/// outages, and the requests with their tokens.
struct IssuerPlan {
    let random: RandomSource
    let workers: Int
    /// Seconds.
    let interval: Int
    let refresh: Int
    let stale: Int
    let leeway: Int
    let remembered: Int
    /// Whether responses have an `ETag`, and are 304 for a set that the gateway has.
    let hasTags: Bool
    let keys: [Key]
    let outages: [Outage]
    /// The longest time in which the issuer responds, in milliseconds.
    let slowest: Int

    /// Of the whole run, in milliseconds.
    static let length = 120_000
    static let issuer = "https://id.test/"

    /// A key of the issuer, and when its set has it.
    struct Key {
        let number: Int
        /// In milliseconds since the run began.
        let published: Int
        let removed: Int

        var id: String { "k\(number)" }

        func isPublished(at milliseconds: Double) -> Bool {
            milliseconds >= Double(published) && milliseconds < Double(removed)
        }

        var signer: TokenSigner? {
            TokenSigner(
                seed: [UInt8](repeating: UInt8(truncatingIfNeeded: number + 1), count: 32),
                keyID: id)
        }
    }

    struct Outage {
        let range: Range<Int>
        let kind: Kind

        enum Kind: CaseIterable { case refuses, hangs, fails, sendsGarbage }
    }

    /// Nil for most seeds, which have no issuer.
    init?(seed: UInt64) {
        let random = RandomSource(seed: seed).derived("issuer")
        guard random.chance(0.125) else { return nil }
        self.random = random
        workers = random.number(1...2)
        interval = random.pick([1, 2, 5, 20])
        refresh = max(interval, random.pick([2, 5, 20, 60]))
        stale = random.pick([0, 5, 30, 3600])
        leeway = random.pick([0, 0, 3])
        remembered = random.pick([0, 1, 1000, 1000])
        hasTags = random.chance(0.5)
        slowest = random.pick([0, 20, 700, 3000])
        keys = Self.keys(random.derived("keys"))
        outages = Self.outages(random.derived("outages"))
    }

    /// Each key is published for a while; the times of two keys may overlap, or leave a gap.
    private static func keys(_ random: RandomSource) -> [Key] {
        var keys = [Key(number: 0, published: 0, removed: random.number(10_000...length * 2))]
        while let last = keys.last, keys.count < 5, last.removed < length {
            let published = max(0, last.removed + random.number(-20_000...2_000))
            keys.append(
                Key(
                    number: keys.count, published: published,
                    removed: published + random.number(5_000...length)))
        }
        return keys
    }

    private static func outages(_ random: RandomSource) -> [Outage] {
        guard random.chance(0.5) else { return [] }
        return (0..<random.number(1...3)).map { _ in
            let start = random.chance(0.3) ? 0 : random.number(0...length)
            return Outage(
                range: start..<(start + random.number(100...40_000)),
                kind: random.pick(Outage.Kind.allCases))
        }
    }

    // MARK: Issuer

    func outage(at milliseconds: Double) -> Outage? {
        outages.first { $0.range.contains(Int(milliseconds)) }
    }

    /// The JWK Set at a time.
    func keySet(at milliseconds: Double) -> String {
        let keys = keys.filter { $0.isPublished(at: milliseconds) }
        return "{\"keys\":[\(keys.compactMap { $0.signer?.publicKey }.joined(separator: ","))]}"
    }

    // MARK: Requests

    /// A token, as the run knows it.
    struct Token {
        let key: Int
        /// In seconds since 1970.
        let expires: Int64
        let text: String
    }

    /// The tokens of the run; many requests use the same.
    ///
    /// - Parameter start: in seconds since 1970
    func tokens(from start: Int64) -> [Token] {
        let random = random.derived("tokens")
        // One key is never published.
        return (0..<12).compactMap { number in
            let key =
                random.chance(0.1)
                ? Key(number: keys.count, published: .max, removed: .max)
                : keys[random.number(0...keys.count - 1)]
            let expires = start + Int64(random.number(-10...Self.length * 2 / 1000))
            let payload =
                "{\"iss\":\"\(Self.issuer)\",\"aud\":\"shop\",\"sub\":\"s\(number)\",\"exp\":\(expires)}"
            guard let text = key.signer?.token(payload) else { return nil }
            return Token(key: key.number, expires: expires, text: String(text))
        }
    }

    /// The connections of clients. Each request has one of the tokens.
    func connections(_ tokens: [Token]) -> [ScriptedConnection] {
        let random = random.derived("traffic")
        var number = 0
        return (0..<random.number(2...6)).map { index in
            let requests = (0..<random.number(2...12)).map { _ in
                var request = ScriptedRequest(number: number, method: "GET")
                request.target = "/x"
                request.pause = random.pick([0, 1, 900, 5_000, 20_000])
                let token = random.number(0...tokens.count - 1)
                request.headers = [("Authorization", "Bearer \(tokens[token].text)")]
                if random.chance(0.1) {
                    request.afterSending = .closes(after: random.pick([0, 5]))
                }
                number += 1
                return request
            }
            return ScriptedConnection(
                number: index, start: random.number(0...20_000_000), requests: requests,
                closesWhenDone: true)
        }
    }

    // MARK: Configuration

    static let issuerPort: UInt16 = 7101
    static let servicePort: UInt16 = 7102

    var config: String {
        """
        version: 1
        listen: 127.0.0.1:8080
        limits: { idle_timeout: 200s }
        auth:
          customers:
            jwt:
              issuer: \(Self.issuer)
              audience: shop
              algorithms: [EdDSA]
              leeway: \(leeway)s
              remember: \(remembered)
              keys:
                url: "http://127.0.0.1:\(Self.issuerPort)/jwks"
                refresh: \(refresh)s
                stale: \(stale)s
                unknown_kid: \(interval)s
        defaults: { auth: customers }
        backends:
          service: { url: "http://127.0.0.1:\(Self.servicePort)" }
        endpoints:
          - { route: GET /x, calls: { one: { from: service, get: "/{token.sub}", required: true } } }
        """
    }
}
