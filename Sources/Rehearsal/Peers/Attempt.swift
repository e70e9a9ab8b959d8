package import Basics

/// A request of a call as a host received it.
package final class Attempt: HostRequest {
    /// Number and mark of the client's request that the call belongs to.
    package let request: Int
    package let mark: String
    package let call: CallKey
    /// Counts the attempts of the call, from 0.
    package let ordinal: Int

    package init(
        request: Int, mark: String, call: CallKey, ordinal: Int, _ message: PeerMessage,
        at target: BackendHost, script: ScriptedResponse, arrived: Instant,
        on position: ConnectionPosition
    ) {
        self.request = request
        self.mark = mark
        self.call = call
        self.ordinal = ordinal
        super.init(message, at: target, script: script, arrived: arrived, on: position)
    }
}

/// Identifies a drawn call: the first segment of its path, `g0e1c2`.
package struct CallKey: Equatable {
    package let generation: Int
    package let endpoint: Int
    package let call: Int

    package init(generation: Int, endpoint: Int, call: Int) {
        (self.generation, self.endpoint, self.call) = (generation, endpoint, call)
    }

    package init?(_ text: Substring) {
        var numbers: [Int] = []
        var rest = text
        for letter in ["g", "e", "c"] {
            guard rest.hasPrefix(letter) else { return nil }
            rest = rest.dropFirst()
            let digits = rest.prefix { $0.isNumber }
            guard let number = Int(digits) else { return nil }
            numbers.append(number)
            rest = rest.dropFirst(digits.count)
        }
        guard rest.isEmpty else { return nil }
        self.init(generation: numbers[0], endpoint: numbers[1], call: numbers[2])
    }

    package var text: String { "g\(generation)e\(endpoint)c\(call)" }
}
