import Basics
import HTTP
import HTTPClient
import JOSE
import JSONText
import Promises
import Reactor
import TLS

/// Checks tokens (`jwt`) on one worker.
final class TokenCheck: CredentialCheck {
    private let plan: TokenPlan
    /// The name of the authenticator.
    private let name: Bytes
    private let loop: any Loop
    private let keys: Keys
    /// Whether the authenticator of a reload has taken over the keys.
    private var isReplaced = false
    private let verified: VerifiedTokens
    /// The generation of keys that the remembered tokens were verified with.
    private var generation = 0
    private let hasher = SHA256Hasher()

    /// How long a request waits for a fetch of keys.
    private static let waitMax = Duration.seconds(1)

    private enum Keys {
        case fixed(KeySet)
        case issuer(IssuerKeys)
        /// None, because nothing is verified.
        case none
    }

    /// - Parameter former: the check of the same name before a reload
    init(
        _ plan: TokenPlan, name: String, _ surroundings: AuthSurroundings,
        replacing former: TokenCheck?
    ) {
        self.plan = plan
        self.name = Bytes(name)
        loop = surroundings.loop
        let hasSameKeys = former?.plan.keys == plan.keys
        let isUnchanged = former?.plan == plan
        verified =
            former.flatMap { isUnchanged ? $0.verified : nil }
            ?? VerifiedTokens(sizeMax: plan.rememberedMax)
        generation = former.flatMap { isUnchanged ? $0.generation : nil } ?? 0
        guard case .issuer(let issuer) = plan.keys else {
            // `check` has read the same file.
            keys = (try? plan.configuredKeys()).map(Keys.fixed) ?? .none
            return
        }
        keys =
            surroundings.keyFetching == .never
            ? .none
            : .issuer(
                Self.keys(
                    of: issuer, for: plan.rules.algorithms, name, surroundings,
                    replacing: hasSameKeys ? former : nil))
    }

    /// The keys of an issuer: the former check's object, if it has the same issuer, else a new one.
    private static func keys(
        of issuer: IssuerKeysPlan, for algorithms: [SignatureAlgorithm], _ name: String,
        _ surroundings: AuthSurroundings, replacing former: TokenCheck?
    ) -> IssuerKeys {
        let request = KeySetRequest(issuer, surroundings.backends, surroundings.pools)
        let log = KeyLog(
            authenticator: Bytes(name), algorithms: algorithms, log: surroundings.log)
        guard let former, case .issuer(let keys) = former.keys else {
            let keys = IssuerKeys(
                issuer.rules, loop: surroundings.loop, fetch: request.fetch, report: log.record)
            if surroundings.keyFetching == .always { keys.start() }
            return keys
        }
        keys.continueWith(request.fetch, log.record)
        if former.plan.rules.algorithms != algorithms {
            keys.latest.map { log.recordUselessKeys($0.keys) }
        }
        former.isReplaced = true
        return keys
    }

    /// Stops fetching keys, unless another authenticator has taken them over.
    func stop() {
        if case .issuer(let keys) = keys, !isReplaced { keys.stop() }
    }

    /// The age of the keys in seconds; nil if they are not fetched, or not yet.
    var keysAge: Int64? {
        guard case .issuer(let keys) = keys else { return nil }
        return keys.age.map { $0.inNanoseconds / 1_000_000_000 }
    }

    // MARK: Checking

    var guesses: GuessRule { .limited }

    func result(of token: Bytes, _ context: RequestContext, until end: Instant) -> AuthResult {
        guard !token.isEmpty else { return .refused(AuthRefusal(.malformed, cause: .empty)) }
        guard token.count <= CompactJWS.sizeMax else {
            return .refused(AuthRefusal(.malformed, cause: .tooLong))
        }
        let hash = plan.rememberedMax > 0 ? hasher.words(of: token) : nil
        if let keys = usableKeys {
            if let hash, let known = rememberedResult(hash) { return known }
            return parse(token) { verify($0, hash, with: keys, waitUntil: end) }
        }
        return parse(token) { token in
            if let refusal = refusalWithoutKey(of: token) { return .refused(refusal) }
            return wait(for: token, hash, until: end) ?? refusedForLackOfKeys
        }
    }

    /// The caller if the token was verified before with the same keys, so that checking it costs
    /// little.
    func rememberedCaller(of token: Bytes) -> Caller? {
        guard plan.rememberedMax > 0, token.count <= CompactJWS.sizeMax, usableKeys != nil,
            let hash = hasher.words(of: token), case .accepted(let caller)? = rememberedResult(hash)
        else { return nil }
        return caller
    }

    /// A token that was verified before with the same keys.
    private func rememberedResult(_ hash: SHA256Words) -> AuthResult? {
        if case .issuer(let keys) = keys, keys.generation != generation {
            verified.removeAll()
            generation = keys.generation
        }
        guard let entry = verified[hash] else { return nil }
        guard plan.rules.isCurrent(expires: entry.expires, now: unixSeconds) else {
            verified.remove(hash)
            return .refused(.expired)
        }
        return .accepted(entry.caller)
    }

    private func parse(_ token: Bytes, _ check: (CompactJWS) -> AuthResult) -> AuthResult {
        do throws(TokenFault) {
            return check(try CompactJWS(token))
        } catch {
            return .refused(AuthRefusal(error))
        }
    }

    /// - Parameter end: until when an unknown key may be fetched; nil if it has been
    private func verify(
        _ token: CompactJWS, _ hash: SHA256Words?, with keys: KeySet, waitUntil end: Instant?
    ) -> AuthResult {
        do throws(TokenFault) {
            let claims = try plan.rules.verify(token, with: keys, now: unixSeconds)
            let caller = caller(claims)
            if let hash {
                verified.insert(VerifiedTokens.Entry(caller: caller, expires: claims.expires), hash)
            }
            return .accepted(caller)
        } catch {
            if let end, case .untrusted(.unknownKey) = error,
                refusalWithoutKey(of: token) == nil, let later = wait(for: token, hash, until: end)
            {
                return later
            }
            return .refused(AuthRefusal(error))
        }
    }

    /// Why no key can make the token valid; nil if one may. Another issuer's token must neither wait
    /// for the keys of this one nor cause a fetch.
    private func refusalWithoutKey(of token: CompactJWS) -> AuthRefusal? {
        do throws(TokenFault) {
            _ = try plan.rules.checkWithoutKey(token, now: unixSeconds)
            return nil
        } catch {
            return AuthRefusal(error)
        }
    }

    /// Decides after a fetch of the keys; nil if none may start now.
    private func wait(
        for token: CompactJWS, _ hash: SHA256Words?, until end: Instant
    ) -> AuthResult? {
        guard case .issuer(let issuer) = keys,
            let fetch = issuer.waitForFetch(until: min(end, loop.now + Self.waitMax))
        else { return nil }
        return .later(
            fetch.map { [self] in
                guard let keys = usableKeys else { return refusedForLackOfKeys }
                // Another request may have verified the token meanwhile.
                if let hash, let known = rememberedResult(hash) { return known }
                return verify(token, hash, with: keys, waitUntil: nil)
            })
    }

    private var usableKeys: KeySet? {
        switch keys {
        case .fixed(let keys): keys
        case .issuer(let keys): keys.usable?.keys
        case .none: nil
        }
    }

    /// Without keys the gateway cannot decide; a request never passes for that reason.
    private var refusedForLackOfKeys: AuthResult {
        guard case .issuer(let issuer) = keys else { return .refused(.keysUnavailable) }
        return .refused(AuthRefusal(.keysUnavailable, retryAfter: issuer.retryAfter))
    }

    private var unixSeconds: Int64 { loop.unixTime / 1_000_000_000 }

    // MARK: Caller

    private func caller(_ claims: TokenClaims) -> Caller {
        Caller(
            authenticator: name, name: claims.payload.member(Self.subject)?.stringText,
            scopes: TokenScopes.scopes(in: claims.payload, plan.scopesClaims),
            claims: claims.payload.bytes)
    }

    private static let subject = Bytes("sub")
}
