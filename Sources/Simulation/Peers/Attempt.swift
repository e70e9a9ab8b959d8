import Basics

/// One request of a call's as a backend got it.
final class Attempt: Served {
    /// Counted over the whole run, in order of arrival.
    let number: Int
    /// The client request's.
    let mark: String
    let call: CallKey
    /// Its place among the attempts of that call.
    let ordinal: Int

    init(
        number: Int, mark: String, call: CallKey, ordinal: Int, _ message: Message,
        at asked: AskedPlace, act: Act, arrived: Instant, on place: ServedPlace
    ) {
        self.number = number
        self.mark = mark
        self.call = call
        self.ordinal = ordinal
        super.init(message, at: asked, act: act, arrived: arrived, on: place)
    }
}

/// Which call a backend's request belongs to: the first segment of its path, `g0e1c2`.
struct CallKey: Equatable {
    let generation: Int
    let endpoint: Int
    let call: Int

    init(generation: Int, endpoint: Int, call: Int) {
        (self.generation, self.endpoint, self.call) = (generation, endpoint, call)
    }

    init?(_ text: Substring) {
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

    var text: String { "g\(generation)e\(endpoint)c\(call)" }
}
