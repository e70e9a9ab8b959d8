import Basics
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

    /// The time limit of one fetch.
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

    /// - Parameter former: the set that is in use; a 304 confirms it
    func fetch(replacing former: IssuerKeySet?) -> LocalPromise<Fetched<IssuerKeySet>> {
        send(former?.entityTag).mapResult { try IssuerKeySet.fetched($0, replacing: former) }
    }

    private func send(_ entityTag: FieldValue?) -> LocalPromise<ClientResponse> {
        var fields: Fields = [.accept: "application/jwk-set+json, application/json"]
        if let entityTag { fields.append("If-None-Match", entityTag) }
        switch server {
        case .pool(let pool, let host):
            return pool.send(
                ClientRequest(
                    method: .get, target: target, host: host, fields: fields.namingProduct(),
                    responseBytesMax: KeySet.sizeMax)
            ).timeout(Self.timeout, error: KeySetTimeout(limit: Self.timeout))
        case .backend(let backend):
            return backend.sendOwn(target, fields, responseBytesMax: KeySet.sizeMax)
                .timeout(Self.timeout, error: KeySetTimeout(limit: Self.timeout))
        }
    }
}

/// The issuer has not responded in time.
struct KeySetTimeout: Error {
    let limit: Duration
}
