import Basics
import HTTP
import HTTPClient
import Reactor
import TLS

// Compiles the backends.
extension Planner {
    /// The plan of one backend, for one worker.
    func plan(_ backend: Config.Backend, _ index: Int) throws(PlanError) -> BackendPlan {
        BackendPlan(
            index: index,
            name: backend.name.value,
            hosts: try hosts(of: backend),
            fields: try fields(of: backend), shownFields: try shownFields(of: backend),
            balance: backend.balance?.value ?? PlanDefaults.balance,
            pool: pool(of: backend),
            concurrency: ConcurrencyLimitPlan(backend, share: share),
            breaker: backend.breaker.map { BreakerPlan($0) },
            eject: backend.eject.map { EjectPlan($0) },
            health: try HealthPlan(backend.health))
    }

    private func hosts(of backend: Config.Backend) throws(PlanError) -> [BackendPlan.Host] {
        guard !backend.hosts.isEmpty else { throw PlanError("\(backend.location): no host") }
        let security = try security(of: backend)
        return backend.hosts.map { located in
            let url = located.value
            let isSecure = url.scheme == .https
            let origin = Origin(
                host: url.host, port: url.port, default: isSecure ? .https : .http)
            let text = "\(url.scheme.rawValue)://\(origin.hostField)\(url.path)"
            return BackendPlan.Host(
                origin: origin, pathPrefix: url.path, url: text,
                shownURL: located.written ?? text,
                security: isSecure ? security : nil)
        }
    }

    private func security(of backend: Config.Backend) throws(PlanError) -> StreamSecurity? {
        guard backend.secureHost != nil else { return nil }
        do throws(TLSSettingsError) {
            return try contexts.context(
                for: try TLSSettings(backend.tls, systemTrust: config.systemTrust)
            ).security
        } catch {
            throw PlanError("\(backend.location): TLS settings that passed the check: \(error)")
        }
    }

    private func shownFields(
        of backend: Config.Backend
    ) throws(PlanError) -> [(name: FieldName, value: String)] {
        var fields: [(name: FieldName, value: String)] = []
        for header in backend.headers {
            fields.append((try fieldName(header.name), header.value.quoted))
        }
        return fields
    }

    private func fields(of backend: Config.Backend) throws(PlanError) -> Fields {
        var fields = Fields()
        for header in backend.headers {
            let name = try fieldName(header.name)
            guard let value = FieldValue(header.value.value) else {
                throw PlanError("\(header.value.location): not a header value")
            }
            fields.append(name, value)
        }
        return fields
    }

    func fieldName(_ name: Located<String>) throws(PlanError) -> FieldName {
        guard let fieldName = FieldName(name.value) else {
            throw PlanError("\(name.location): not a header name")
        }
        return fieldName
    }

    private func pool(of backend: Config.Backend) -> PoolSettings {
        var settings = PoolSettings()
        settings.maxIdle = share(backend.keepalive?.maxIdle?.value ?? PlanDefaults.maxIdle)
        settings.idleTimeout =
            backend.keepalive?.idleTimeout?.value ?? PlanDefaults.poolIdleTimeout
        settings.maxAge = backend.keepalive?.maxAge?.value ?? PlanDefaults.poolMaxAge
        settings.connectTimeout = config.connectTimeout(of: backend).value
        settings.dnsTTL = backend.dnsTTL?.value ?? PlanDefaults.dnsTTL
        settings.protocolChoice = protocolChoice(of: backend)
        settings.http2 = http2(of: backend)
        // Not less than the default: the keys limit clients in the first place.
        settings.limits.headerBytes = max(
            config.limits?.headerBytes?.value ?? 0, settings.limits.headerBytes)
        settings.limits.headerCount = max(
            config.limits?.headerCount?.value ?? 0, settings.limits.headerCount)
        return settings
    }

    private func protocolChoice(of backend: Config.Backend) -> ProtocolChoice {
        switch backend.protocolChoice?.value ?? PlanDefaults.backendProtocol {
        case .auto: .auto
        case .http1: .http1
        case .http2: .http2
        }
    }

    private func http2(of backend: Config.Backend) -> H2PoolSettings {
        var settings = H2PoolSettings()
        settings.maxStreams = backend.http2?.maxStreams?.value ?? PlanDefaults.backendStreams
        settings.maxConnections =
            backend.http2?.maxConnections?.value ?? PlanDefaults.backendConnections
        settings.pingAfter = backend.http2?.pingAfter?.value ?? PlanDefaults.pingAfter
        settings.pingTimeout = backend.http2?.pingTimeout?.value ?? PlanDefaults.pingTimeout
        return settings
    }

}
