import Reactor
import TLS

/// What makes the connections of one plan secure: once for all backends that ask for the same, since
/// reading the system's list of authorities takes longer than the rest of a plan.
final class PlannedSecurities {
    private var known: [(settings: TLSSettings, security: StreamSecurity)] = []

    func security(
        of backend: Config.Backend, in config: Config
    ) throws(PlanError) -> StreamSecurity {
        let settings = TLSSettings(of: backend, systemTrust: config.systemTrust)
        if let same = known.first(where: { $0.settings == settings }) { return same.security }
        do throws(TLSSettingsError) {
            let security = try TLSClientContext(settings).security
            known.append((settings, security))
            return security
        } catch {
            throw PlanError("\(backend.place): TLS settings that passed the check: \(error)")
        }
    }
}
