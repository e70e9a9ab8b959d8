package import Basics
import JSONText

/// The keys that tokens of an issuer can be signed with.
///
/// Not Sendable: every worker makes its own of the same text.
package final class KeySet {
    package let keys: [VerificationKey]
    /// The keys of the text that are not used.
    package let unusable: [Unusable]

    package struct Unusable: Equatable, Sendable {
        /// Counted from zero.
        package let position: Int
        package let reason: UnusableKey
    }

    /// The limits of a set, against issuers that send anything.
    package static let countMax = 100
    package static let sizeMax = 256 * 1024

    init(_ keys: [VerificationKey], unusable: [Unusable] = []) {
        self.keys = keys
        self.unusable = unusable
    }

    /// Reads a JWK Set (RFC 7517 section 5). It may have no usable key: an issuer that withdraws
    /// all of its keys sends such a set.
    package convenience init(jwkSet text: Bytes) throws(KeySetError) {
        guard text.count <= Self.sizeMax else { throw .tooLong }
        guard let root = Self.object(text) else { throw .notJSON }
        try self.init(set: root) { value throws(UnusableKey) in try JSONWebKey.key(of: value) }
    }

    private static func object(_ text: Bytes) -> JSONSlice? {
        let root = try? JSONSlice(validating: text, depthMax: StrictObject.depthMax)
        return root?.kind == .object ? root : nil
    }

    private convenience init(
        set root: JSONSlice, _ key: (JSONSlice) throws(UnusableKey) -> VerificationKey
    ) throws(KeySetError) {
        let lists = root.members.filter { $0.key.means(Name.keys) }
        guard lists.count == 1, lists[0].value.kind == .array else { throw .noKeys }
        let values = Array(lists[0].value.elements.prefix(Self.countMax + 1))
        guard values.count <= Self.countMax else { throw .tooManyKeys }
        self.init(values, key)
    }

    /// Reads secrets for HMAC: a JWK of the type `oct`, a set of them (RFC 7518 section 6.4), or the
    /// bytes of one secret.
    package convenience init(secretFile text: Bytes) throws(KeySetError) {
        guard text.count <= Self.sizeMax else { throw .tooLong }
        if let root = Self.object(text) {
            let read = { (value: JSONSlice) throws(UnusableKey) in
                try JSONWebKey.secret(of: value)
            }
            if root.member(Name.keyType) != nil {
                self.init([root], read)
            } else {
                try self.init(set: root, read)
            }
        } else {
            // Every client may know a public key, and could sign with it.
            guard !String(text).contains("-----BEGIN ") else { throw .publicSecret }
            self.init(secret: text)
        }
    }

    /// Reads public keys and certificates in PEM (RFC 7468); none of them has a `kid`.
    package convenience init(pem text: Bytes) throws(KeySetError) {
        guard text.count <= Self.sizeMax else { throw .tooLong }
        let blocks = PEMBlocks(text).read(max: Self.countMax + 1)
        guard !blocks.isEmpty else { throw .noPEM }
        guard blocks.count <= Self.countMax else { throw .tooManyKeys }
        self.init(blocks) { block throws(UnusableKey) in
            VerificationKey(.publicKey(try block.publicKey()))
        }
    }

    /// Reads a JWK Set or PEM; a brace at the beginning decides.
    package convenience init(file text: Bytes) throws(KeySetError) {
        let first = (0..<text.count).first { text[$0] > UInt8(ascii: " ") }.map { text[$0] }
        if first == UInt8(ascii: "{") {
            try self.init(jwkSet: text)
        } else {
            try self.init(pem: text)
        }
    }

    /// One secret for HMAC.
    package convenience init(secret: Bytes) {
        self.init([VerificationKey(.secret(SharedSecret(secret)))])
    }

    private convenience init<Value>(
        _ values: [Value], _ key: (Value) throws(UnusableKey) -> VerificationKey
    ) {
        var keys: [VerificationKey] = []
        var unusable: [Unusable] = []
        for (position, value) in values.enumerated() {
            do throws(UnusableKey) {
                keys.append(try key(value))
            } catch {
                unusable.append(Unusable(position: position, reason: error))
            }
        }
        self.init(keys, unusable: unusable)
    }

    // MARK: Selection

    /// The key that must have signed the token.
    ///
    /// With a `kid`, the key that has it, else a key that has none: if such a key does not verify the
    /// token, the key of this `kid` is unknown. Exactly one key must fit: several keys would give
    /// the sender of a token several attempts.
    package func key(
        for header: JOSEHeader, _ algorithm: SignatureAlgorithm
    ) throws(TokenFault) -> VerificationKey {
        guard let id = header.keyID else { return try key(for: header, algorithm, among: keys) }
        let named = keys.filter { $0.id == id }
        guard named.isEmpty else { return try key(for: header, algorithm, among: named) }
        do throws(TokenFault) {
            return try key(for: header, algorithm, among: keys.filter { $0.id == nil })
        } catch {
            throw .untrusted(.unknownKey(id))
        }
    }

    private func key(
        for header: JOSEHeader, _ algorithm: SignatureAlgorithm, among keys: [VerificationKey]
    ) throws(TokenFault) -> VerificationKey {
        let fitting = keys.filter { $0.fits(algorithm) }
        guard let key = fitting.first else {
            throw .untrusted(
                header.keyID.map { .keyDoesNotFit($0, algorithm) } ?? .unknownKey(nil))
        }
        guard fitting.count == 1 else { throw .untrusted(.severalKeys) }
        return key
    }
}

/// Why a text is not a set of keys.
package enum KeySetError: Error, Equatable, Sendable {
    case tooLong
    case notJSON
    case noKeys
    case tooManyKeys
    case noPEM
    case publicSecret
}

extension KeySetError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .tooLong: "is longer than \(KeySet.sizeMax / 1024) KiB"
        case .notJSON: "is not a JSON object"
        case .noKeys: "has no array 'keys'"
        case .tooManyKeys: "has more than \(KeySet.countMax) keys"
        case .noPEM: "is neither a JWK Set nor PEM"
        case .publicSecret: "is PEM, which is no secret for HS256, HS384 and HS512"
        }
    }
}
