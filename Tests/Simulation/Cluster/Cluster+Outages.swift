import Basics
import Reactor
import Rehearsal
import SimReactor

/// Schedules the outages of hosts and names.
extension Cluster {
    /// Schedules the outages of a host.
    func scheduleOutages(of host: SimulatedHost, _ drawn: DrawnHost) {
        for outage in plan.hostOutages.all where outage.host == drawn {
            switch outage.kind {
            case .refuses:
                during(outage, { host.refuse() }, { try? host.listen() })
            case .silent:
                during(outage, { [network] in network.connectBehaviors[host.address] = .silent }) {
                    [network] in network.connectBehaviors[host.address] = nil
                }
            case .wrongCertificate: present(DrawnTLS.wrongIdentity, during: outage, at: host, drawn)
            case .failsHandshakes:
                present(DrawnTLS.broken(.fails, drawn), during: outage, at: host, drawn)
            case .silentHandshakes:
                present(DrawnTLS.broken(.silent, drawn), during: outage, at: host, drawn)
            case .nameFails, .nameMoves, .failsRequests: break
            }
        }
    }

    /// Schedules the outages of a host's name.
    func scheduleNameOutages(of drawn: DrawnHost, _ backend: Int) {
        for outage in plan.hostOutages.all where outage.host == drawn {
            switch outage.kind {
            case .nameFails:
                let answer = plan.random.derived("name", backend).pick([
                    SimNetwork.LookUpOutcome.fails(.hostNotFound),
                    .fails(.nameServiceFailed, after: .milliseconds(20)), .addresses([]),
                    .hangs(.milliseconds(HostOutages.hangingLookUp)),
                ])
                during(outage, { [network] in network.names[drawn.host] = answer }) {
                    [unowned self] in setAddress(ofName: drawn, backend, moved: false)
                }
            case .nameMoves:
                during(
                    outage, { [unowned self] in setAddress(ofName: drawn, backend, moved: true) }
                ) {
                    [unowned self] in setAddress(ofName: drawn, backend, moved: false)
                }
            case .refuses, .silent, .failsRequests, .wrongCertificate, .failsHandshakes,
                .silentHandshakes:
                break
            }
        }
    }

    private func present(
        _ identity: SimIdentity, during outage: HostOutages.Outage, at host: SimulatedHost,
        _ drawn: DrawnHost
    ) {
        let address = host.address
        during(outage, { [network] in network.identities[address] = identity }) {
            [network] in network.identities[address] = DrawnTLS.identity(of: drawn)
        }
    }

    private func during(
        _ outage: HostOutages.Outage, _ begin: @escaping () -> Void, _ end: @escaping () -> Void
    ) {
        peerLoop.timer(after: .milliseconds(outage.from), begin)
        if !outage.isPermanent { peerLoop.timer(after: .milliseconds(outage.to), end) }
    }

    /// Sets the address of a name.
    func setAddress(ofName drawn: DrawnHost, _ backend: Int, moved: Bool) {
        guard case .ip(let address, _) = drawn.address(of: backend, moved: moved) else { return }
        network.names[drawn.host] = .addresses([address])
    }
}
