import Basics
import HTTP
import HTTPClient
import JOSE

/// The keys of an issuer, as they were fetched.
struct IssuerKeySet {
    let keys: KeySet
    /// The text of the set, and its `ETag`.
    let text: Bytes
    let entityTag: FieldValue?
}

/// The keys of an issuer on one worker: fetched at the start or when a token needs them, refreshed in
/// the background, and fetched once more when a token has an unknown `kid`.
typealias IssuerKeys = RefreshedValue<IssuerKeySet>

extension IssuerKeySet {
    /// The set in a response to `KeySetRequest`; throws a `KeySetFailure`.
    ///
    /// - Parameter former: the set that is in use; nil if there is none
    static func fetched(
        _ result: Result<ClientResponse, any Error>, replacing former: IssuerKeySet?
    ) throws(KeySetFailure) -> Fetched<IssuerKeySet> {
        let response = try response(result)
        let lifetime = response.fields.keyLifetime
        let isConfirmed = response.status.code == 304 && former != nil
        guard isConfirmed || response.status.code == 200 else {
            throw KeySetFailure("status \(response.status.code)")
        }
        // The same set: tokens that were verified with it stay remembered.
        guard !isConfirmed, response.content != former?.text else {
            return Fetched(changed: nil, lifetime: lifetime)
        }
        do throws(KeySetError) {
            let keys = try KeySet(jwkSet: response.content)
            return Fetched(
                changed: IssuerKeySet(
                    keys: keys, text: response.content, entityTag: response.fields["ETag"]),
                lifetime: lifetime)
        } catch {
            throw KeySetFailure("the response \(error)")
        }
    }

    private static func response(
        _ result: Result<ClientResponse, any Error>
    ) throws(KeySetFailure) -> ClientResponse {
        switch result {
        case .success(let response): return response
        case .failure(let error as KeySetTimeout):
            throw KeySetFailure("no response within \(error.limit.spelled)")
        case .failure(let error): throw KeySetFailure("\(CallFailure(error).kind.facts.name)")
        }
    }
}

/// Why a fetch has no set, in words for the log.
struct KeySetFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension Fields {
    /// The `max-age` of the response, less its `Age` (RFC 9111 sections 4.2.1 and 4.2.3); nil
    /// without one.
    fileprivate var keyLifetime: Duration? {
        for value in all(.cacheControl) {
            for directive in value.bytes.parts(separatedBy: UInt8(ascii: ",")) {
                guard let equals = directive.span.firstOffset(of: UInt8(ascii: "=")),
                    directive[0..<equals].trimmed.span.equalsIgnoringCase("max-age"),
                    let seconds = directive[(equals + 1)..<directive.count].wholeSeconds
                else { continue }
                let age = self["Age"]?.bytes.wholeSeconds ?? 0
                return .seconds(Swift.max(0, Int64(seconds) - Int64(age)))
            }
        }
        return nil
    }
}

extension Bytes {
    /// A number of seconds, which may be in quotes (RFC 9111 section 5.2).
    fileprivate var wholeSeconds: UInt32? { UInt32(String(trimmed).filter { $0 != "\"" }) }
}
