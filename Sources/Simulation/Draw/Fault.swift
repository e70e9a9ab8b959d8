import Rehearsal

/// A place where a run may go wrong, by its name.
package enum Fault: String, CaseIterable, Sendable, Hashable {
    // The network.
    case splitReads = "split_reads"
    case stalls
    case smallWindows = "small_windows"

    // A host, before anything is sent to it.
    case refusals
    case silentHosts = "silent_hosts"
    case nameFailures = "name_failures"
    case nameChanges = "name_changes"

    // A backend's answer: there is none, or not all of it.
    case hangs
    case closes
    case resets
    case resetsMidHead = "resets_mid_head"
    case resetsMidBody = "resets_mid_body"
    case truncations

    // A backend's answer: it is wrong.
    case badStatus = "bad_status"
    case badJSON = "bad_json"
    case badShape = "bad_shape"
    case wrongLengths = "wrong_lengths"
    case malformed
    case hugeAnswers = "huge_answers"
    case smuggled

    // A backend's answer: it is right, and strange.
    case slowAnswers = "slow_answers"
    case drips
    case oddAnswers = "odd_answers"
    case idleLosses = "idle_losses"

    // Clients.
    case badRequests = "bad_requests"
    case slowRequests = "slow_requests"
    case slowReaders = "slow_readers"
    case halfCloses = "half_closes"
    case vanishing
    case pipelining
    case bursts

    // The operator.
    case reloads
    case drains

    // A host among several.
    case illHosts = "ill_hosts"

    // A host with TLS.
    case badCertificates = "bad_certificates"
    case failedHandshakes = "failed_handshakes"

    /// Its place among all.
    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// How likely each fault is in one run: most do not happen at all, so that those that do are seen by
/// themselves too.
struct FaultRates {
    private var rates: [Double]

    init(_ dice: RandomSource, without: [Fault]) {
        rates = Fault.allCases.map { fault in
            let dice = dice.dice("fault", fault.number)
            let rate = dice.chance(0.45) ? dice.pick([0.02, 0.1, 0.1, 0.3]) : 0
            return without.contains(fault) ? 0 : rate
        }
    }

    subscript(fault: Fault) -> Double { rates[fault.number] }

    /// The same, with no other faults than these.
    func limited(to faults: Set<Fault>) -> FaultRates {
        var copy = self
        for fault in Fault.allCases where !faults.contains(fault) { copy.rates[fault.number] = 0 }
        return copy
    }

    /// Those that can happen.
    var active: [Fault] { Fault.allCases.filter { self[$0] > 0 } }
}
