import Basics
import HTTP
import Promises
import Reactor

extension ServerConnection {
    /// A request is there, with its body if `whole` has it.
    func begin(_ head: RequestHead, _ whole: Bytes?) {
        let exchange = Exchange(head, on: server.loop, client: client, budget: server.budget)
        body = IncomingBody(head.framing, for: exchange)
        running = RunningExchange(
            Request(head: head, body: whole.map { .together($0) } ?? arrivingBody()), exchange)
        handle(.requestBegan(facts(of: head, isWhole: whole != nil)))
    }

    private func facts(of head: RequestHead, isWhole: Bool) -> ServerStateMachine.Facts {
        var facts = ServerStateMachine.Facts(keepsAlive: head.keepsAlive)
        guard !isWhole else { return facts }
        facts.body = head.expectsContinue ? .awaitingContinue : .arriving
        if case .length(let length) = head.framing {
            facts.bodyMayBeDiscarded = length <= server.settings.discardedBytes
        }
        return facts
    }

    private func arrivingBody() -> RequestBody {
        let core = server.loop.core
        return .arriving { [weak self] limit in
            self?.collectBody(upTo: limit) ?? core.cancelled()
        }
    }

    private func collectBody(upTo limit: Int) -> Local<Bytes> {
        let promise = body.collect(upTo: limit, on: server.loop.core)
        if body.isWanted { handle(.bodyWanted) }
        return promise
    }

    /// Hands the request to the service.
    func serve() {
        guard let running else { return }
        server.requestsInFlight += 1
        guard server.requestsInFlight <= server.settings.requestsInFlight,
            running.exchange.hold(running.request.heldBytes)
        else {
            return answer(ErrorResponses.busy(running.exchange.id, server.settings))
        }
        let answer = server.service(running.request, running.exchange)
        running.answer = answer
        answer.whenSettled { [self] result in settled(result) }
    }

    private func settled(_ result: Result<Response, any Error>) {
        // Nothing runs any more when it was given up.
        guard let exchange = running?.exchange else { return }
        switch result {
        case .success(let response): answer(response)
        // A service that fails without an answer is a mistake of ours.
        case .failure: answer(ErrorResponses.failure(exchange.id))
        }
    }

    private func answer(_ response: Response) {
        running?.response = response
        if server.isDraining { handle(.drainRequested) }
        handle(.answerReady)
    }

    /// Writes the answer that is there.
    func sendAnswer(keepsAlive: Bool) {
        guard let ended = running, let response = ended.response else { return }
        running = nil
        server.requestsInFlight -= 1
        let circumstances = ResponseWriter.Circumstances(
            ended.exchange.id, to: ended.request.head, keepsAlive: keepsAlive,
            unixTime: server.loop.unixTime)
        let bytes = server.writer.write(response, circumstances, to: stream)
        tell(ended, status: response.status.code, bytes)
        ended.exchange.end()
        let unsent = stream.unsentBytes
        countHeld(unsent: unsent)
        handle(.answerSent(waitsForClient: unsent > 0))
    }

    /// Answers that what came is no request, too large, or too slow, and gives up what runs.
    func refuse() {
        // The client's end in the middle of a message is a fault of the message, not of its speed.
        if machine.clientHasEnded, wireError == nil, !isShed { wireError = .cutShort }
        let id = running?.exchange.id ?? RequestID(from: server.loop.entropy)
        let response =
            isShed
            ? ErrorResponses.busy(id, server.settings)
            : wireError.map { ErrorResponses.answer(to: $0, id) } ?? ErrorResponses.tooSlow(id)
        if running == nil {
            server.hooks.refused(response.status, stream.peer)
        } else {
            giveUp(status: response.status.code)
        }
        write(response, id)
    }

    /// Tells the client that there are too many connections; no request is waited for.
    func turnAway() {
        let id = RequestID(from: server.loop.entropy)
        let response = ErrorResponses.busy(id, server.settings)
        server.hooks.refused(response.status, stream.peer)
        write(response, id)
        handle(.turnedAway)
    }

    private func write(_ response: Response, _ id: RequestID) {
        let circumstances = ResponseWriter.Circumstances(
            id, to: nil, keepsAlive: false, unixTime: server.loop.unixTime)
        _ = server.writer.write(response, circumstances, to: stream)
    }

    /// Cancels what the service does and tells the log.
    func giveUp(status: UInt16) {
        guard let ended = running else { return }
        running = nil
        server.requestsInFlight -= 1
        ended.answer?.cancel()
        // After the cancellation, so that whoever waited for the body has withdrawn from it.
        body = .none
        ended.exchange.end()
        tell(ended, status: status, 0)
    }

    private func tell(_ ended: RunningExchange, status: UInt16, _ bytes: Int) {
        server.hooks.exchangeEnded(
            ServerHooks.Ended(
                exchange: ended.exchange, request: ended.request.head, status: status,
                bodyBytes: bytes))
    }
}

extension Request {
    /// What is in memory of it when it begins.
    fileprivate var heldBytes: Int {
        let lines = head.fields.heldBytes
        if case .complete(let bytes) = body { return lines + bytes.count }
        return lines
    }
}

extension RequestBody {
    /// A body that came together with its head.
    fileprivate static func together(_ bytes: Bytes) -> RequestBody {
        bytes.isEmpty ? .none : .complete(bytes)
    }
}
