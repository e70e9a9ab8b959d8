import Basics
import HTTP
import Reactor

/// A client's connection between two stages.
struct StageInput {
    var stream: any ByteStream
    /// The index in the server's table.
    var slot: Int
    var acceptance: Acceptance
    /// The protocol of its requests, as far as the stages know.
    var applicationProtocol = ApplicationProtocol.http1
    /// Whether a stage has begun to read the stream, so that the next one replaces its delegate.
    private(set) var isBeingRead = false
    /// The index of the stage that follows.
    var nextStage = 0

    init(_ stream: any ByteStream, slot: Int, _ acceptance: Acceptance) {
        self.stream = stream
        self.slot = slot
        self.acceptance = acceptance
    }

    /// Reads the stream from now on.
    mutating func read(for delegate: any ByteStreamDelegate) {
        if isBeingRead {
            stream.replaceDelegate(with: delegate)
        } else {
            isBeingRead = true
            stream.startReading(for: delegate)
        }
    }

    /// Another stream, which no stage has begun to read, takes the place of the present one.
    mutating func replaceStream(with stream: any ByteStream) {
        self.stream = stream
        isBeingRead = false
    }
}

/// A step between the acceptance of a connection and its first request. A listener has one for all its
/// connections. A listener of today has one stage at most; that a stage can pass on bytes to the next one is
/// for the PROXY protocol, and tested with a stage of the tests.
protocol AcceptStage {
    /// The connection during this stage, which has not begun.
    func connection(for input: StageInput, in pipeline: AcceptPipeline) -> any AcceptingConnection
}

/// A connection during a stage: it has no requests yet, and sends nothing that may stay unread.
protocol AcceptingConnection: ServedConnection {
    var input: StageInput { get set }
    var pipeline: AcceptPipeline { get }

    /// Begins the stage, in the server's table.
    ///
    /// - Parameter received: bytes that an earlier stage has read from the stream
    func begin(_ received: Span<UInt8>)
}

extension AcceptingConnection {
    var slot: Int {
        get { input.slot }
        set { input.slot = newValue }
    }

    var acceptance: Acceptance { input.acceptance }

    var exchanges: [Exchange] { [] }

    func closeUnread() {}

    func readsOutput(now: Instant) -> Bool { true }
}
