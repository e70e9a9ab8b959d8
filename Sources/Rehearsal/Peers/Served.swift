package import Basics
package import SimReactor

/// One request as a host of a backend got it, with everything that became of it: a call's, or a check
/// of its health.
package class Served {
    /// Who was asked.
    package let asked: AskedPlace
    /// The gateway's core that sent it.
    package let worker: String
    package let message: PeerMessage
    package let act: Act
    package let arrived: Instant
    /// The connection, with the place of the request and the answer in what went over it.
    private let place: ServedPlace
    /// When the backend was told that nobody waits any more.
    package var givenUp: Instant?
    package var isAnswered = false

    package init(
        _ message: PeerMessage, at asked: AskedPlace, act: Act, arrived: Instant,
        on place: ServedPlace
    ) {
        self.asked = asked
        self.message = message
        self.act = act
        self.arrived = arrived
        self.place = place
        worker = place.stream.peerName ?? ""
    }

    package var backend: Int { asked.backend }
    package var host: Int { asked.host }
    package var stream: SimStream { place.stream }
    /// Requests on the same connection before this one.
    package var before: Int { place.before }
    package var answerStart: Int { place.answerStart }

    /// Whether nobody can tell whose answer is whose here.
    package var isPoisoned: Bool { place.unasked != nil }

    /// Whether the gateway had read something unasked before it used the connection. Only the first
    /// use can be held against it: what it took for that one's answer was in its turn.
    package var isReckless: Bool {
        guard let unasked = place.unasked, place.isFirstAfterUnasked,
            let read = stream.outgoingJournal.read(at: unasked)
        else { return false }
        return read < sent
    }

    /// When the gateway sent its first byte.
    package var sent: Instant { stream.incomingJournal.written(at: place.requestStart) ?? arrived }

    /// When the gateway read the last byte of the answer; nil if it never did.
    package var read: Instant? {
        guard case .answer = act.outcome, act.answerLength > 0,
            let last = stream.outgoingJournal.read(at: answerStart + act.answerLength - 1)
        else { return nil }
        // Without a length, the end of the connection completes the response. That the gateway closed
        // its side proves nothing: a cancelled call closes it, too.
        return act.endsWithConnection ? stream.outgoingJournal.endRead : last
    }

    /// When the gateway was done with it: it had the answer, or let go of the connection.
    package var ended: Instant? {
        [read, stream.incomingJournal.closed, stream.outgoingJournal.abandoned].compactMap { $0 }
            .min()
    }

    /// Ended by the backend before a byte of an answer.
    package var broke: Bool {
        if case .fails(.connectionTerminated) = act.outcome { true } else { false }
    }

    /// Met the end of a kept connection, so that the gateway may send it once more without a word.
    package var mayBeResent: Bool { before > 0 && broke }
}

/// A check of a host's health.
package final class Probe: Served {
    /// Of the configuration that asked for it, as its path says.
    package let generation: Int

    package init(
        generation: Int, _ message: PeerMessage, at asked: AskedPlace, act: Act, arrived: Instant,
        on place: ServedPlace
    ) {
        self.generation = generation
        super.init(message, at: asked, act: act, arrived: arrived, on: place)
    }

    /// Whether the host was found well; nil where nobody can tell, or while it runs.
    package var isGood: Bool? {
        guard !isPoisoned, ended != nil else { return nil }
        guard case .answer(let status, _, _) = act.outcome, read != nil else { return false }
        return (200..<300).contains(status)
    }
}

/// A host of a backend, by its place among those of the configuration.
package struct AskedPlace {
    package let backend: Int
    package let host: Int
    /// Stands before the path of every request.
    package let prefix: String

    package init(backend: Int, host: Int, prefix: String) {
        self.backend = backend
        self.host = host
        self.prefix = prefix
    }
}

/// Where on a connection a request stands.
package struct ServedPlace {
    package let stream: SimStream
    package let requestStart: Int
    package let answerStart: Int
    /// Requests on the same connection before this one.
    package let before: Int
    /// Where the first byte stands that the backend had said unasked on this connection before.
    package let unasked: Int?
    /// No request came between that and this one.
    package let isFirstAfterUnasked: Bool
}
