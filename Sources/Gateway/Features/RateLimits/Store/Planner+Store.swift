import Basics
import RESP
import Reactor
import TLS

// Compiles `store`.
extension Planner {
    /// Nil if no limit uses it.
    var store: StorePlan? {
        get throws(PlanError) {
            guard config.rateLimits.contains(where: \.isShared), let store = config.store,
                let url = store.url?.value
            else { return nil }
            var settings = RESPSettings(destination: RESPSettings.Destination(url))
            if case .host(_, _, _, let database) = url { settings.database = database }
            settings.security = try security(of: store)
            settings.credentials = store.password.map { password in
                RESPCredentials(
                    user: store.username.map { Bytes($0.value) }, password: Bytes(password.value))
            }
            settings.timeout = store.timeout?.value ?? PlanDefaults.storeTimeout
            settings.connectTimeout =
                store.connectTimeout?.value ?? PlanDefaults.storeConnectTimeout
            return StorePlan(
                settings: settings, prefix: store.prefix?.value ?? PlanDefaults.storePrefix,
                url: store.url?.written ?? "\(url)")
        }
    }

    private func security(of store: Config.Store) throws(PlanError) -> StreamSecurity? {
        guard store.isSecure else { return nil }
        do throws(TLSSettingsError) {
            return try contexts.context(
                for: try TLSSettings(store.tls, systemTrust: config.systemTrust)
            ).security
        } catch {
            throw PlanError("\(store.location): TLS settings that passed the check: \(error)")
        }
    }
}

extension RESPSettings.Destination {
    init(_ url: Config.StoreURL) {
        self =
            switch url {
            case .host(let host, let port, _, _): .host(host, port: port)
            case .unix(let path): .unix(path: path)
            }
    }
}
