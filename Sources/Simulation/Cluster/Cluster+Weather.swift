import Basics
import Reactor
import Rehearsal
import SimReactor

/// What the weather does to hosts and their names.
extension Cluster {
    /// A host that refuses or is silent for a while.
    func startWeather(of host: SimulatedHost, _ drawn: DrawnHost) {
        for spell in plan.weather.spells where spell.host == drawn {
            switch spell.kind {
            case .refuses:
                during(spell, { host.refuse() }, { try? host.listen() })
            case .silent:
                during(spell, { [network] in network.connectBehaviors[host.address] = .silent }) {
                    [network] in network.connectBehaviors[host.address] = nil
                }
            case .wrongCertificate: present(DrawnTLS.wrongIdentity, during: spell, at: host, drawn)
            case .failsHandshakes:
                present(DrawnTLS.broken(.fails, drawn), during: spell, at: host, drawn)
            case .silentHandshakes:
                present(DrawnTLS.broken(.silent, drawn), during: spell, at: host, drawn)
            case .nameFails, .nameMoves, .ill: break
            }
        }
    }

    /// A name that cannot be looked up, or means another host, for a while.
    func startWeather(ofName drawn: DrawnHost, _ backend: Int) {
        for spell in plan.weather.spells where spell.host == drawn {
            switch spell.kind {
            case .nameFails:
                let answer = plan.dice.dice("name", backend).pick([
                    SimNetwork.LookUpOutcome.fails(.hostNotFound),
                    .fails(.nameServiceFailed, after: .milliseconds(20)), .addresses([]),
                    .hangs(.milliseconds(HostOutages.hangingLookUp)),
                ])
                during(spell, { [network] in network.names[drawn.host] = answer }) {
                    [unowned self] in name(drawn, backend, moved: false)
                }
            case .nameMoves:
                during(spell, { [unowned self] in name(drawn, backend, moved: true) }) {
                    [unowned self] in name(drawn, backend, moved: false)
                }
            case .refuses, .silent, .ill, .wrongCertificate, .failsHandshakes, .silentHandshakes:
                break
            }
        }
    }

    private func present(
        _ identity: SimIdentity, during spell: HostOutages.Spell, at host: SimulatedHost,
        _ drawn: DrawnHost
    ) {
        let address = host.address
        during(spell, { [network] in network.identities[address] = identity }) {
            [network] in network.identities[address] = DrawnTLS.identity(of: drawn)
        }
    }

    private func during(
        _ spell: HostOutages.Spell, _ begin: @escaping () -> Void, _ end: @escaping () -> Void
    ) {
        outside.timer(after: .milliseconds(spell.from), begin)
        if !spell.isForGood { outside.timer(after: .milliseconds(spell.to), end) }
    }

    /// What the name means.
    func name(_ drawn: DrawnHost, _ backend: Int, moved: Bool) {
        guard case .ip(let address, _) = drawn.address(of: backend, moved: moved) else { return }
        network.names[drawn.host] = .addresses([address])
    }
}
