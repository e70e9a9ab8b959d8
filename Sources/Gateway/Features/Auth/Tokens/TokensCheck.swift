import Basics
import JOSE
import YAMLReader

/// The rules for `jwt`.
extension ConfigCheck {
    mutating func checkTokens() {
        for authenticator in config.authenticators {
            guard let jwt = authenticator.jwt else { continue }
            let title = "authenticator '\(authenticator.name.value)'"
            checkClaims(of: jwt, title)
            checkAlgorithms(of: jwt, title)
            if let keys = jwt.keys { checkKeys(keys, of: jwt, title) }
        }
        for endpoint in config.endpoints { checkTokenName(in: endpoint) }
    }

    private mutating func checkClaims(of jwt: Config.JWT, _ title: String) {
        checkNames(
            jwt.issuer, "issuer", title,
            ofAny: "accepts tokens of every issuer whose keys these are, also those without 'iss'")
        checkNames(
            jwt.audience, "audience", title,
            ofAny: "accepts tokens that the issuer made for other services")
        if let leeway = jwt.leeway, leeway.value > .seconds(300) {
            problems.error(at: leeway.location, "'leeway' of \(title) must be at most 5m")
        }
    }

    private mutating func checkNames(
        _ accepted: Located<Config.JWT.AcceptedNames>?, _ key: String, _ title: String,
        ofAny effect: String
    ) {
        guard let accepted else { return }
        guard let names = accepted.value.names else {
            return problems.warning(
                at: accepted.location, "'\(key): any' of \(title) \(effect)")
        }
        if names.isEmpty {
            problems.error(at: accepted.location, "'\(key)' of \(title) must not be empty")
        }
        if names.contains(where: { $0.value == "any" }) {
            problems.warning(
                at: accepted.location,
                "'\(key)' of \(title): 'any' in a list is the name of an \(key); write '\(key): any' to accept"
                    + " every one")
        }
    }

    private mutating func checkAlgorithms(of jwt: Config.JWT, _ title: String) {
        var seen: Set<SignatureAlgorithm> = []
        for algorithm in jwt.algorithms {
            if !seen.insert(algorithm.value).inserted {
                problems.warning(
                    at: algorithm.location,
                    "'algorithms' of \(title) has \(algorithm.value.rawValue) twice")
            }
            if algorithm.value.isSlow {
                problems.warning(
                    at: algorithm.location,
                    "a signature of \(algorithm.value.rawValue) takes the worker about ten times as"
                        + " long as one of ES256")
            }
        }
    }

    // MARK: Keys

    private mutating func checkKeys(
        _ keys: Config.TokenKeys, of jwt: Config.JWT, _ title: String
    ) {
        checkSymmetry(of: keys, jwt, title)
        checkFetch(of: keys, title)
        if let file = keys.file { checkFile(file, of: jwt, title) }
        if let secret = keys.secret { checkSecret(secret, of: jwt, title) }
        guard !keys.isFetched else { return checkTimes(of: keys, title) }
        for (name, location) in [
            ("refresh", keys.refresh?.location), ("stale", keys.stale?.location),
            ("unknown_kid", keys.unknownKid?.location),
        ] {
            guard let location else { continue }
            problems.error(
                at: location, "'\(name)' of \(title) applies only to keys of 'url' or 'from'")
        }
    }

    /// HMAC needs a secret, and a secret is used for nothing else.
    private mutating func checkSymmetry(
        of keys: Config.TokenKeys, _ jwt: Config.JWT, _ title: String
    ) {
        guard
            !["url", "from", "file", "secret"].contains(where: {
                unread.contains($0, of: keys.location)
            })
        else { return }
        if let encoding = keys.encoding, keys.secret == nil {
            problems.error(
                at: encoding.location, "'encoding' of \(title) applies only to 'secret'")
        }
        guard !unread.contains("algorithms", of: jwt.location) else { return }
        let isSymmetric = keys.isSecret(for: jwt)
        if keys.secret != nil, jwt.algorithms.isEmpty {
            problems.error(
                at: keys.location,
                "\(title) has a 'secret', so it needs 'algorithms' with HS256, HS384 or HS512")
        }
        for algorithm in jwt.algorithms
        where algorithm.value.isSymmetric != isSymmetric {
            let name = algorithm.value.rawValue
            problems.error(
                at: algorithm.location,
                isSymmetric
                    ? "\(name) of \(title) needs public keys, not a secret"
                    : "\(name) of \(title) needs 'keys: { secret }' or a file with a secret; a public"
                        + " key is no secret")
        }
    }

    private mutating func checkFetch(of keys: Config.TokenKeys, _ title: String) {
        if let url = keys.url {
            if url.value.server.scheme == .http, !url.value.server.isLoopback {
                problems.error(
                    at: url.location,
                    "'url' of \(title) must have https://: a modified set would accept any token")
            }
            if keys.needsSystemTrust, config.systemTrust == nil, wasRead {
                problems.error(
                    at: url.location,
                    "\(title) needs a list of trusted CA certificates, and this system has none:"
                        + " install ca-certificates, set SSL_CERT_FILE, or use 'from' with a backend"
                        + " that has 'tls: { ca: FILE }'")
            }
        }
        if let from = keys.from {
            if hasAllBackends, backend(named: from.value) == nil {
                let known = config.backends.map(\.name.value)
                problems.error(
                    at: from.location,
                    "there is no backend '\(from.quoted)'"
                        + Suggestion.hint(for: from.quoted, among: known))
            }
            if keys.get == nil, !unread.contains("get", of: keys.location) {
                problems.error(at: from.location, "'from' of \(title) needs 'get', a path")
            }
            checkIssuer(from, title)
        } else if let get = keys.get {
            problems.error(at: get.location, "'get' of \(title) applies only to keys of 'from'")
        }
    }

    /// Keys of an issuer over plain HTTP can be replaced on their way.
    private mutating func checkIssuer(_ from: Located<String>, _ title: String) {
        guard
            let host = backend(named: from.value)?.hosts.first(where: {
                $0.value.scheme == .http && !$0.value.isLoopback
            })
        else { return }
        problems.warning(
            at: host.location,
            "the keys of \(title) come from this host without encryption: a modified set would"
                + " accept any token")
    }

    private mutating func checkTimes(of keys: Config.TokenKeys, _ title: String) {
        let interval = keys.unknownKid?.value ?? PlanDefaults.keysUnknownKid
        let refresh = keys.refresh?.value ?? PlanDefaults.keysRefresh
        for (name, time) in [
            ("refresh", keys.refresh), ("stale", keys.stale), ("unknown_kid", keys.unknownKid),
        ] {
            guard let time, time.value > Self.keyTimeMax else { continue }
            problems.error(at: time.location, "'\(name)' of \(title) must be at most 30 days")
        }
        if interval < .seconds(1), let located = keys.unknownKid {
            problems.error(
                at: located.location, "'unknown_kid' of \(title) must be at least 1s")
        }
        if refresh < interval {
            problems.error(
                at: keys.refresh?.location ?? keys.unknownKid?.location ?? keys.location,
                "'refresh' of \(title) must be at least 'unknown_kid', which is"
                    + " \(interval.spelled)")
        }
    }

    private static let keyTimeMax = Duration.seconds(30 * 86_400)

    private mutating func checkSecret(
        _ secret: Located<String>, of jwt: Config.JWT, _ title: String
    ) {
        if secret.isVerbatim {
            problems.warning(
                at: secret.location,
                "'secret' of \(title) is written in the file; use ${file:/path} or ${NAME}, so that"
                    + " the file has no secret")
        }
        if secret.value.isPublicPEM {
            problems.error(
                at: secret.location,
                "'secret' of \(title) is a public key or a certificate in PEM, which is no secret: any"
                    + " client that knows it could sign tokens; use 'keys: { file }' and an algorithm such as RS256"
            )
        }
        guard let count = jwt.keys?.secretBytes?.count else {
            problems.error(
                at: secret.location,
                "'secret' of \(title) is not in the \(jwt.keys?.encoding?.value.rawValue ?? "") of"
                    + " 'encoding'")
            return
        }
        for algorithm in jwt.algorithms
        where algorithm.value.isSymmetric && count < algorithm.value.hashSize {
            problems.error(
                at: algorithm.location,
                "\(algorithm.value.rawValue) of \(title) needs a secret of at least"
                    + " \(algorithm.value.hashSize) bytes (RFC 7518, section 3.2)")
        }
    }

    private mutating func checkFile(
        _ file: Located<Config.File>, of jwt: Config.JWT, _ title: String
    ) {
        let isSecret = jwt.keys?.isSecret(for: jwt) == true
        let keys: KeySet
        do throws(KeySetError) {
            keys =
                isSecret
                ? try KeySet(secretFile: file.value.bytes) : try KeySet(file: file.value.bytes)
        } catch {
            problems.error(
                at: file.location, "'file' of \(title): '\(file.value.title)' \(error)")
            return
        }
        if isSecret, file.value.bytes.isLine {
            problems.warning(
                at: file.location,
                "the line end of '\(file.value.title)' is a part of the secret; with 'secret:"
                    + " ${file:...}' it is not")
        }
        for key in keys.unusable {
            problems.warning(
                at: file.location,
                "key \(key.position + 1) of '\(file.value.title)' \(key.reason), so it is not used")
        }
        guard !unread.contains("algorithms", of: jwt.location) else { return }
        let algorithms = jwt.acceptedAlgorithms
        if !keys.canVerify(algorithms) {
            let names = algorithms.map(\.rawValue).joined(with: "or")
            problems.error(
                at: file.location,
                "no key of '\(file.value.title)' can verify \(names): "
                    + keys.problems(with: algorithms).joined(separator: "; "))
        }
    }

    // MARK: References

    /// `token` refers to the claims where an authenticator reads tokens.
    private mutating func checkTokenName(in endpoint: Config.Endpoint) {
        guard !config.tokenAuthenticators(of: endpoint).isEmpty else { return }
        let message = "; {token.claim} refers to the claims of the token here"
        if let call = endpoint.calls.first(where: { $0.name.value == "token" }) {
            problems.error(
                at: call.name.location,
                "\(endpoint.title) has 'jwt', so no call can have the name 'token'" + message)
        }
        if endpoint.parameterNames.contains("token") {
            let param = endpoint.params.first { $0.name.value == "token" }
            problems.error(
                at: param?.name.location ?? endpoint.route?.location ?? endpoint.location,
                "\(endpoint.title) has 'jwt', so no parameter can have the name 'token'" + message)
        }
    }

    /// `{token.claim}` of a call, a condition or `headers`.
    mutating func checkClaim(
        _ reference: Located<TemplateText.Reference>, in endpoint: Config.Endpoint, _ uses: String
    ) {
        let readers = config.tokenAuthenticators(of: endpoint).map(\.name.value)
        let others = config.authRule(of: endpoint)?.any.map(\.value).filter {
            !readers.contains($0)
        }
        guard let other = others?.first, !reference.value.isOptional else { return }
        problems.warning(
            at: reference.location,
            uses + "a caller of authenticator '\(other)' has no token, so the value is missing")
    }
}

extension Config.TokenKeys {
    /// Whether they are secrets: a `file` is read as the algorithms need it.
    fileprivate func isSecret(for jwt: Config.JWT) -> Bool {
        secret != nil || file != nil && jwt.algorithms.contains { $0.value.isSymmetric }
    }
}

extension String {
    /// Whether it contains a public key or a certificate in PEM.
    fileprivate var isPublicPEM: Bool {
        split(separator: "\n").contains { line in
            line.contains("-----BEGIN ")
                && (line.contains("PUBLIC KEY-----") || line.contains("CERTIFICATE-----"))
        }
    }
}

extension Bytes {
    /// Whether it is a text other than JSON with a line end behind it, as editors write it.
    fileprivate var isLine: Bool {
        array.last == UInt8(ascii: "\n") && array.first != UInt8(ascii: "{")
            && String(validating: array, as: UTF8.self) != nil
    }
}
