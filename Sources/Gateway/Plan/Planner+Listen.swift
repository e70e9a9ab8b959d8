import HTTP
import TLS

// Compiles the listeners.
extension Planner {
    var listeners: [ListenPlan] {
        get throws(PlanError) {
            guard !config.listen.isEmpty else {
                return [
                    ListenPlan(
                        address: .tcp(
                            host: PlanDefaults.listenHost, port: PlanDefaults.listenPort))
                ]
            }
            var plans: [ListenPlan] = []
            for listen in config.listen { plans.append(try plan(listen)) }
            return plans
        }
    }

    private func plan(_ listen: Config.Listen) throws(PlanError) -> ListenPlan {
        guard let socket = SocketPlan(listen) else {
            throw PlanError("\(listen.location): no address")
        }
        return ListenPlan(
            socket: socket, name: listen.name?.value,
            tls: try listen.tls.map { tls throws(PlanError) in
                try plan(tls, of: listen)
            },
            protocols: listen.clientProtocols,
            redirect: listen.redirect.map { HTTPSRedirect(port: $0.value.port) })
    }

    private func plan(
        _ tls: Config.ListenTLS, of listen: Config.Listen
    ) throws(PlanError) -> ListenTLSPlan {
        do throws(TLSServerSettingsError) {
            return ListenTLSPlan(
                context: try contexts.context(for: TLSServerSettings(tls, of: listen)),
                handshakeTimeout: tls.handshakeTimeout?.value ?? PlanDefaults.handshakeTimeout)
        } catch {
            throw PlanError("\(tls.location): TLS settings that passed the check: \(error)")
        }
    }
}
