import Basics
import GatewayConfig
import HTTP
import HTTPClient
import JOSE

/// The keys in a response, or why it has none.
enum KeySetResponse {
    case changed(KeySet, text: Bytes, entityTag: FieldValue?, lifetime: Duration?)
    case unchanged(lifetime: Duration?)
    /// The reason in words.
    case failed(String)

    /// - Parameter text: the set that is in use; nil if there is none
    init(_ result: Result<ClientResponse, any Error>, current text: Bytes?) {
        switch result {
        case .failure(let error as KeySetTimeout):
            self = .failed("no response within \(error.limit.spelled)")
        case .failure(let error): self = .failed("\(CallFailure(error).kind.facts.name)")
        case .success(let response):
            let lifetime = response.fields.keyLifetime
            if response.status.code == 304, text != nil {
                self = .unchanged(lifetime: lifetime)
                return
            }
            guard response.status.code == 200 else {
                self = .failed("status \(response.status.code)")
                return
            }
            // The same set: tokens that were verified with it stay remembered.
            guard response.content != text else {
                self = .unchanged(lifetime: lifetime)
                return
            }
            do throws(KeySetError) {
                self = .changed(
                    try KeySet(jwkSet: response.content), text: response.content,
                    entityTag: response.fields["ETag"], lifetime: lifetime)
            } catch {
                self = .failed("the response \(error)")
            }
        }
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
