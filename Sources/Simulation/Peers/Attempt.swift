import Basics
import SimReactor

/// One request as a backend got it, with everything that became of it.
final class Attempt {
    /// Counted over the whole run, in order of arrival.
    let number: Int
    let backend: Int
    /// The gateway's core that sent it.
    let core: String
    let message: Message
    /// The client request's.
    let mark: String
    let call: CallKey
    /// Its place among the attempts of that call.
    let ordinal: Int
    let act: Act
    let serial: String
    let arrived: Instant
    /// The connection, with the place of the request and the answer in what went over it.
    let stream: SimStream
    let requestStart: Int
    let answerStart: Int
    /// Requests on the same connection before this one.
    let before: Int
    /// Where the first byte stands that the backend had said unasked on this connection before.
    let unasked: Int?
    /// No request came between that and this one.
    let isFirstAfterUnasked: Bool
    /// When the backend was told that nobody waits any more.
    var givenUp: Instant?
    var isAnswered = false

    init(
        number: Int, backend: Int, core: String, message: Message, mark: String, call: CallKey,
        ordinal: Int, act: Act, serial: String, arrived: Instant, stream: SimStream,
        requestStart: Int, answerStart: Int, before: Int, unasked: Int?, isFirstAfterUnasked: Bool
    ) {
        self.number = number
        self.backend = backend
        self.core = core
        self.message = message
        self.mark = mark
        self.call = call
        self.ordinal = ordinal
        self.act = act
        self.serial = serial
        self.arrived = arrived
        self.stream = stream
        self.requestStart = requestStart
        self.answerStart = answerStart
        self.before = before
        self.unasked = unasked
        self.isFirstAfterUnasked = isFirstAfterUnasked
    }

    /// Whether nobody can tell whose answer is whose here.
    var isPoisoned: Bool { unasked != nil }

    /// Whether the gateway had read something unasked before it used the connection. Only the first
    /// use can be held against it: what it took for that one's answer was in its turn.
    var isReckless: Bool {
        guard let unasked, isFirstAfterUnasked, let read = stream.said.read(at: unasked) else {
            return false
        }
        return read < sent
    }

    /// When the gateway sent its first byte.
    var sent: Instant { stream.heard.written(at: requestStart) ?? arrived }

    /// When the gateway read the last byte of the answer; nil if it never did.
    var read: Instant? {
        guard case .answer = act.outcome, act.answerLength > 0,
            let last = stream.said.read(at: answerStart + act.answerLength - 1)
        else { return nil }
        guard act.endsWithConnection else { return last }
        // The end is a part of it, and the gateway closes when it is told so.
        guard let told = stream.said.closed, let closed = stream.said.abandoned, told <= closed
        else { return nil }
        return closed
    }

    /// When the gateway was done with it: it had the answer, or let go of the connection.
    var ended: Instant? {
        [read, stream.heard.closed, stream.said.abandoned].compactMap { $0 }.min()
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
