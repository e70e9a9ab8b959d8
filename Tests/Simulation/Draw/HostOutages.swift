import Basics
import Reactor
import Rehearsal
import SimReactor

/// The outages of hosts and names in a run, with their times: the checkers must know whether a
/// failure had a cause.
struct HostOutages {
    enum Kind {
        case refuses, silent, nameFails, nameMoves
        /// It responds 5xx, or ends the connection instead.
        case failsRequests
        /// Its certificate is for another host.
        case wrongCertificate
        /// It ends TLS handshakes, or does not respond to them.
        case failsHandshakes, silentHandshakes

        /// For the transcript.
        var text: String {
            switch self {
            case .refuses: "refuses connections"
            case .silent: "does not respond to connections"
            case .nameFails: "cannot be looked up"
            case .nameMoves: "moves to another address"
            case .failsRequests: "fails requests"
            case .wrongCertificate: "has a wrong certificate"
            case .failsHandshakes: "fails TLS handshakes"
            case .silentHandshakes: "does not respond to TLS handshakes"
            }
        }
    }

    struct Outage {
        let kind: Kind
        let host: DrawnHost
        /// Milliseconds since the run began.
        let from: Int
        let to: Int

        var isPermanent: Bool { to >= 10_000 }
    }

    let all: [Outage]

    /// How long a look-up hangs, in milliseconds: longer than any connect timeout.
    static let hangingLookUp = 2000

    /// For how long after an outage names may still have no address, in milliseconds: a look-up
    /// that began at its end hangs, and its failure is cached.
    static let nameFailureMemory =
        hangingLookUp + Int(NameSettings().notFoundTTL.inNanoseconds / 1_000_000)

    /// - Parameters:
    ///   - secure: the hosts with TLS
    ///   - fixed: outages that are not drawn
    init(
        _ random: RandomSource, _ rates: FaultRates, hosts: [DrawnHost], secure: [DrawnHost],
        including fixed: [Outage] = []
    ) {
        var outages = fixed
        for (index, host) in hosts.enumerated() {
            let random = random.derived("weather", index)
            func draw(_ kind: Kind, _ fault: Fault, factor: Double = 3) {
                guard random.chance(min(0.8, rates[fault] * factor)) else { return }
                let from = random.number(-100...300)
                outages.append(
                    Outage(
                        kind: kind, host: host, from: max(0, from),
                        to: max(0, from) + random.pick([20, 100, 400, 100_000])))
            }
            draw(.refuses, .refusals)
            draw(.silent, .silentHosts)
            if host.isName {
                draw(.nameFails, .nameFailures)
                draw(.nameMoves, .nameChanges)
            }
            draw(.failsRequests, .faultyHosts)
            if secure.contains(host) {
                draw(.wrongCertificate, .badCertificates, factor: 6)
                draw(random.chance(0.7) ? .failsHandshakes : .silentHandshakes, .failedHandshakes)
            }
        }
        all = outages
    }

    func failsRequests(_ host: DrawnHost, at milliseconds: Double) -> Bool {
        all.contains {
            $0.kind == .failsRequests && $0.host == host && Double($0.from) <= milliseconds
                && ($0.isPermanent || milliseconds < Double($0.to))
        }
    }

    /// Whether such an outage may have affected calls to one of the hosts in this interval.
    func hasOutage(_ kinds: [Kind], of hosts: [DrawnHost], from: Int, to: Int) -> Bool {
        all.contains { outage in
            kinds.contains(outage.kind) && hosts.contains(outage.host) && outage.from <= to
                && outage.to >= from
        }
    }
}

extension DrawnHost {
    /// The address that it listens on, before or after its name has moved.
    func address(of backend: Int, moved: Bool = false) -> SocketAddress {
        let local: UInt32 = 0x7F00_0001
        let named = 0x0A00_0000 + UInt32(backend) << 8 + UInt32(port) % 10 + (moved ? 0x1_0000 : 0)
        return .ip(.v4(isName ? named : local), port: port)
    }
}
