import Basics
import HTTP
import Promises
import Reactor

extension ServerConnection {
    /// A request is there, with its body if `whole` has it.
    func begin(_ head: RequestHead, _ whole: Bytes?) {
        let exchange = Exchange(head, on: server.loop, client: client, budget: server.budget)
        noteBegin(at: exchange.began)
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
        noteEndOfWait()
        guard server.hasPermits, running.exchange.hold(running.request.heldBytes) else {
            return answerBusy()
        }
        if !running.request.body.isArriving { takePermit(for: running) }
        let answer = server.service(running.request, running.exchange)
        running.answer = answer
        // A service that waits for no body is at work.
        if !body.isWanted { takePermit(for: running) }
        answer.whenSettled { [self] result in settled(result, running) }
    }

    /// Takes a permit for the request that runs, whose body is complete now; false if there is none.
    func mayGoToWork() -> Bool {
        guard let running, !running.hasPermit else { return true }
        guard server.hasPermits else { return false }
        takePermit(for: running)
        return true
    }

    private func takePermit(for running: RunningExchange) {
        guard running === self.running, !running.hasPermit else { return }
        running.hasPermit = true
        server.requestsInFlight += 1
    }

    private func returnPermit(of ended: RunningExchange) {
        guard ended.hasPermit else { return }
        ended.hasPermit = false
        server.requestsInFlight -= 1
    }

    /// Answers the request that runs with 503, and cancels what the service does for it.
    func answerBusy() {
        guard let running else { return }
        running.answer?.cancel()
        body = .none
        answer(ErrorResponses.busy(running.exchange.id, server.settings))
    }

    /// Tells the reader of the body that its rest cannot be read. Its answer is the refusal, and a
    /// minimum duration counts from now.
    func rejectBody() {
        guard let running else { return }
        running.exchange.lastByte = server.loop.now
        takePermit(for: running)
        body.fail(wireError ?? .cutShort)
    }

    private func settled(_ result: Result<Response, any Error>, _ former: RunningExchange) {
        // Nothing runs any more when it was given up, and another request when it was answered here.
        guard running === former else { return }
        switch result {
        case .success(let response): answer(response)
        case .failure(let error as WireError):
            answer(ErrorResponses.answer(to: error, former.exchange.id))
        // A service that fails without an answer is an internal error.
        case .failure: answer(ErrorResponses.failure(former.exchange.id))
        }
    }

    private func answer(_ response: Response) {
        running?.response = response
        if server.isDraining { handle(.drainRequested(isSettled: false)) }
        handle(.answerReady)
    }

    /// Writes the answer that is there.
    func sendAnswer(keepsAlive: Bool) {
        guard let ended = running, let response = ended.response else { return }
        running = nil
        returnPermit(of: ended)
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
        let answersHead = running.map { $0.request.head.method == .head } ?? reader.asksHead
        let response =
            isShed
            ? ErrorResponses.busy(id, server.settings)
            : wireError.map { ErrorResponses.answer(to: $0, id) } ?? ErrorResponses.tooSlow(id)
        if running == nil {
            server.hooks.refused(response.status, stream.peer)
        } else {
            giveUp(status: response.status.code)
        }
        write(response, id, answersHead: answersHead)
    }

    /// Tells the client that there are too many connections; no request is waited for.
    func turnAway() {
        let id = RequestID(from: server.loop.entropy)
        let response = ErrorResponses.busy(id, server.settings)
        server.hooks.refused(response.status, stream.peer)
        write(response, id, answersHead: false)
        handle(.turnedAway)
    }

    private func write(_ response: Response, _ id: RequestID, answersHead: Bool) {
        let circumstances = ResponseWriter.Circumstances(
            refusing: id, answersHead: answersHead, unixTime: server.loop.unixTime)
        _ = server.writer.write(response, circumstances, to: stream)
    }

    /// Cancels what the service does and tells the log.
    func giveUp(status: UInt16) {
        guard let ended = running else { return }
        running = nil
        returnPermit(of: ended)
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
    fileprivate var isArriving: Bool { if case .arriving = self { true } else { false } }

    /// A body that came together with its head.
    fileprivate static func together(_ bytes: Bytes) -> RequestBody {
        bytes.isEmpty ? .none : .complete(bytes)
    }
}
