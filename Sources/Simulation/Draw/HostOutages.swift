import Basics
import Reactor
import Rehearsal
import SimReactor

/// What befalls the hosts of a run from outside: they refuse, fall silent, lose their names, fall
/// ill; with the times, for those who must know whether a failure had a reason.
struct HostOutages {
    enum Kind {
        case refuses, silent, nameFails, nameMoves
        /// It answers with 5xx, or ends the connection instead.
        case ill
        /// Its certificate is for another host.
        case wrongCertificate
        /// It ends TLS handshakes, or does not answer them.
        case failsHandshakes, silentHandshakes

        /// Who is asked then does not get to know of it.
        var isUnseen: Bool { self != .ill && self != .nameMoves }
    }

    struct Spell {
        let kind: Kind
        let host: DrawnHost
        /// Milliseconds since the run began.
        let from: Int
        let to: Int

        var isForGood: Bool { to >= 10_000 }
    }

    let spells: [Spell]

    /// How long a look-up hangs, in milliseconds: longer than any limit on connecting.
    static let hangingLookUp = 2000

    /// For how long after a spell names may still have no address, in milliseconds: a look-up that
    /// began at its end hangs, and its failure is remembered.
    static let nameMemory =
        hangingLookUp + Int(NameSettings().notFoundTTL.inNanoseconds / 1_000_000)

    /// - Parameters:
    ///   - secure: those of the hosts that have TLS
    ///   - fixed: what happens in any case
    init(
        _ dice: RandomSource, _ rates: FaultRates, hosts: [DrawnHost], secure: [DrawnHost],
        besides fixed: [Spell] = []
    ) {
        var spells = fixed
        for (index, host) in hosts.enumerated() {
            let dice = dice.dice("weather", index)
            func draw(_ kind: Kind, _ fault: Fault, factor: Double = 3) {
                guard dice.chance(min(0.8, rates[fault] * factor)) else { return }
                let from = dice.number(-100...300)
                spells.append(
                    Spell(
                        kind: kind, host: host, from: max(0, from),
                        to: max(0, from) + dice.pick([20, 100, 400, 100_000])))
            }
            draw(.refuses, .refusals)
            draw(.silent, .silentHosts)
            if host.isName {
                draw(.nameFails, .nameFailures)
                draw(.nameMoves, .nameChanges)
            }
            draw(.ill, .illHosts)
            if secure.contains(host) {
                draw(.wrongCertificate, .badCertificates, factor: 6)
                draw(dice.chance(0.7) ? .failsHandshakes : .silentHandshakes, .failedHandshakes)
            }
        }
        self.spells = spells
    }

    func isIll(_ host: DrawnHost, at milliseconds: Double) -> Bool {
        spells.contains {
            $0.kind == .ill && $0.host == host && Double($0.from) <= milliseconds
                && ($0.isForGood || milliseconds < Double($0.to))
        }
    }

    /// Whether one of these hosts was ever asked without getting to know of it.
    func hides(_ hosts: [DrawnHost]) -> Bool {
        spells.contains { $0.kind.isUnseen && hosts.contains($0.host) }
    }

    /// Whether such a thing can have mattered to somebody who asked one of these hosts in this time.
    func any(_ kinds: [Kind], of hosts: [DrawnHost], from: Int, to: Int) -> Bool {
        spells.contains { spell in
            kinds.contains(spell.kind) && hosts.contains(spell.host) && spell.from <= to
                && spell.to >= from
        }
    }
}

extension DrawnHost {
    /// Where it listens: as long as its name has not moved, and afterwards.
    func address(of backend: Int, moved: Bool = false) -> SocketAddress {
        let local: UInt32 = 0x7F00_0001
        let named = 0x0A00_0000 + UInt32(backend) << 8 + UInt32(port) % 10 + (moved ? 0x1_0000 : 0)
        return .ip(.v4(isName ? named : local), port: port)
    }
}
