import Basics
import GatewayConfig
import HTTP
import HTTPClient
import JOSE
import Promises
import Reactor

/// Fetches the JWK Set of an issuer, through a pool of its own or as a call to a backend.
struct KeySetRequest {
    private let server: Server
    private let target: Target

    private enum Server {
        case pool(Pool, host: FieldValue)
        case backend(Backend)
    }

    /// Of one fetch.
    private static let timeout = Duration.seconds(5)

    init(_ plan: IssuerKeysPlan, _ backends: [Backend], _ pools: ConnectionPools) {
        target = plan.target
        switch plan.server {
        case .backend(let backend): server = .backend(backends[backend.index])
        case .origin(let origin, let security):
            var settings = PoolSettings()
            settings.security = security
            // One fetch runs at a time, and the next one is minutes away.
            settings.maxIdle = 1
            settings.idleTimeout = .seconds(5)
            server = .pool(
                pools.pool(for: origin, settings: settings), host: origin.hostFieldValue)
        }
    }

    /// - Parameter entityTag: that of the set which is in use; the response may be 304 then
    func send(_ entityTag: FieldValue?) -> LocalPromise<ClientResponse> {
        var fields: Fields = ["Accept": "application/jwk-set+json, application/json"]
        if let entityTag { fields.append("If-None-Match", entityTag) }
        switch server {
        case .pool(let pool, let host):
            return pool.send(
                ClientRequest(
                    method: .get, target: target, host: host, fields: fields,
                    responseBytesMax: KeySet.sizeMax)
            ).timeout(Self.timeout, error: KeySetTimeout(limit: Self.timeout))
        case .backend(let backend):
            return backend.sendOwn(target, fields, responseBytesMax: KeySet.sizeMax)
                .timeout(Self.timeout, error: KeySetTimeout(limit: Self.timeout))
        }
    }
}

/// The issuer has not responded in time.
private struct KeySetTimeout: Error {
    let limit: Duration
}

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
            // The memory of verified tokens stays valid as long as the set is the same.
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
            for directive in String(value.bytes).split(separator: ",") {
                let parts = directive.split(separator: "=", maxSplits: 1)
                guard parts.count == 2, parts[0].trimmed.lowercased() == "max-age",
                    let seconds = UInt32(parts[1].trimmed.filter { $0 != "\"" })
                else { continue }
                let age = self["Age"].flatMap { UInt32(String($0.bytes)) } ?? 0
                return .seconds(Swift.max(0, Int64(seconds) - Int64(age)))
            }
        }
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: String { filter { $0 != " " && $0 != "\t" } }
}
