import Rehearsal

/// A kind of fault that runs inject; the raw value is its name on the command line.
package enum Fault: String, CaseIterable, Sendable, Hashable {
    // The network.
    case splitReads = "split_reads"
    case stalls
    case smallWindows = "small_windows"

    // Connections to a host.
    case refusals
    case silentHosts = "silent_hosts"
    case nameFailures = "name_failures"
    case nameChanges = "name_changes"

    // A backend's response is missing or incomplete.
    case hangs
    case closes
    case resets
    case resetsMidHead = "resets_mid_head"
    case resetsMidBody = "resets_mid_body"
    case truncations

    // A backend's response is wrong.
    case badStatus = "bad_status"
    case badJSON = "bad_json"
    case badShape = "bad_shape"
    case wrongLengths = "wrong_lengths"
    case malformed
    case hugeAnswers = "huge_answers"
    case smuggled

    // A backend's response is valid, but unusual.
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

    // One host of several fails.
    case faultyHosts = "ill_hosts"

    // A host with TLS.
    case badCertificates = "bad_certificates"
    case failedHandshakes = "failed_handshakes"

    // HTTP/2.
    case refusedStreams = "refused_streams"
    case shutdowns
    case frozenHosts = "frozen_hosts"
    case oddFrames = "odd_frames"

    /// Its index among all faults.
    var number: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// The probability of each fault in one run. Most are 0, so that the others also occur alone.
struct FaultRates {
    private var rates: [Double]

    init(_ random: RandomSource, without: [Fault]) {
        rates = Fault.allCases.map { fault in
            let random = random.derived("fault", fault.number)
            let rate = random.chance(0.45) ? random.pick([0.02, 0.1, 0.1, 0.3]) : 0
            return without.contains(fault) ? 0 : rate
        }
    }

    subscript(fault: Fault) -> Double { rates[fault.number] }

    /// The rates of these faults only.
    func limited(to faults: Set<Fault>) -> FaultRates {
        var copy = self
        for fault in Fault.allCases where !faults.contains(fault) { copy.rates[fault.number] = 0 }
        return copy
    }

    /// The faults with a rate above 0.
    var active: [Fault] { Fault.allCases.filter { self[$0] > 0 } }
}
