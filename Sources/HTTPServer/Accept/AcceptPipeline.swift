import HTTP
import Reactor

/// The way of a listener's connections from their acceptance to their first request: a list of stages, each
/// of which gets a stream, with what was already read from it, and passes on a stream, or ends it.
///
/// The present stage of a connection is an object in the server's table; the object of the next stage, in
/// the end a connection that serves requests, takes its slot. The server holds the pipeline of each
/// listener, and connections that have begun hold theirs after a reload. Immutable.
final class AcceptPipeline {
    let server: ServerContext
    let table: ConnectionTable
    /// In the order in which connections pass them.
    private let stages: [any AcceptStage]
    /// Whether a handshake is one of them.
    let hasTLS: Bool
    /// What is known about a connection without TLS.
    private let plainFacts: ConnectionFacts?
    /// Of the listener.
    private let number: UInt16

    init(
        _ stages: [any AcceptStage], plainFacts: ConnectionFacts?, number: Int,
        of server: ServerContext, in table: ConnectionTable
    ) {
        self.number = UInt16(clamping: number)
        self.stages = stages
        hasTLS = stages.contains { $0 is TLSStage }
        self.plainFacts = plainFacts
        self.server = server
        self.table = table
    }

    /// Begins with a connection that was accepted and admitted.
    ///
    /// - Parameter client: the client that it counts for
    func begin(_ stream: any ByteStream, for client: ClientCounts.Client?) {
        passOn(input(stream, client))
    }

    private func input(
        _ stream: any ByteStream, _ client: ClientCounts.Client?, isRefused: Bool = false
    ) -> StageInput {
        StageInput(
            stream, slot: table.count,
            Acceptance(
                server: server, table: table, client: client, facts: plainFacts,
                isRefused: isRefused, listener: number))
    }

    /// Passes a connection on to its next stage; behind the last one, its requests are served.
    ///
    /// - Parameter received: bytes that were read from the stream, and that the stage did not use
    func passOn(_ input: StageInput, _ received: Span<UInt8> = Span()) {
        var input = input
        guard input.nextStage < stages.count else { return serve(input, received) }
        let stage = stages[input.nextStage]
        input.nextStage += 1
        let connection = stage.connection(for: input, in: self)
        table.store(connection)
        connection.begin(received)
    }

    private func serve(_ input: StageInput, _ received: Span<UInt8>) {
        switch input.applicationProtocol {
        case .http1: begin(connection(for: input), input, received)
        case .http2:
            let connection = H2ServerConnection(
                input.stream, input.acceptance, slot: input.slot)
            guard let connection else { return end(input) }
            begin(connection, input, received)
        }
    }

    private func begin(
        _ connection: some ServingConnection, _ input: StageInput, _ received: Span<UInt8>
    ) {
        table.store(connection)
        input.isBeingRead ? connection.takeOver(received) : connection.startReading()
    }

    /// Memory is short.
    private func end(_ input: StageInput) {
        input.stream.close()
        table.remove(table.connections[input.slot])
    }

    /// Rejects a connection that has begun with something else than a request; what was read is dropped.
    func reject(_ input: StageInput, _ rejection: Rejection) {
        let connection = connection(for: input)
        table.store(connection)
        connection.rejectOpened(rejection)
    }

    /// Rejects a connection that is one too many, before its first stage. It lingers for a moment, so that a
    /// reset does not destroy its 503.
    func refuse(
        _ stream: any ByteStream, for client: ClientCounts.Client?, _ limit: ServerLosses.Refusal
    ) {
        let connection = connection(for: input(stream, client, isRefused: true))
        table.store(connection)
        connection.startReading()
        connection.handle(.rejected(.overloaded(limit)))
    }

    private func connection(for input: StageInput) -> ServerConnection {
        ServerConnection(input.stream, input.acceptance, slot: input.slot)
    }
}

/// A connection behind the last stage.
private protocol ServingConnection: ServedConnection {
    /// Starts to read a stream that no stage has read.
    func startReading()

    /// Takes over a stream whose former delegate has read these bytes.
    func takeOver(_ bytes: Span<UInt8>)
}

extension ServerConnection: ServingConnection {}
extension H2ServerConnection: ServingConnection {}
