package import Reactor

/// How the TLS handshakes of clients ended. Plain numbers of one worker.
package struct HandshakeCounts: Sendable, Equatable {
    package enum Outcome: Sendable, Equatable {
        case succeeded(SecureSession.Version, isResumed: Bool)
        /// An alert of either side, or the end of the connection.
        case failed
        /// `handshake_timeout`
        case timedOut
        /// The client sent HTTP without TLS.
        case plainText
        /// The server ended it.
        case cancelled

        fileprivate var index: Int {
            switch self {
            case .succeeded(let version, let isResumed): version.rawValue * 2 + (isResumed ? 1 : 0)
            case .failed: 4
            case .timedOut: 5
            case .plainText: 6
            case .cancelled: 7
            }
        }

        /// All outcomes.
        package static var all: [Outcome] {
            SecureSession.Version.allCases.flatMap { version in
                [false, true].map { Outcome.succeeded(version, isResumed: $0) }
            } + [.failed, .timedOut, .plainText, .cancelled]
        }
    }

    private var counts = [Int](repeating: 0, count: Outcome.all.count)

    package init() {}

    package subscript(outcome: Outcome) -> Int { counts[outcome.index] }

    mutating func record(_ outcome: Outcome) { counts[outcome.index] &+= 1 }

    /// Adds the counts of another worker.
    package mutating func add(_ other: HandshakeCounts) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
    }
}
