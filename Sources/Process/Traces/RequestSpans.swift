import Assembly
import Basics
import Gateway
import HTTP
import HTTPServer

/// The spans of one request: of the request itself, of its calls, and of their attempts; names and
/// attributes by OpenTelemetry's semantic conventions for HTTP.
///
/// The attributes of this project begin with `tributary.`. A span has no text from clients but the path,
/// the host and the ids: no query, no other headers, no bodies. `url.full` of attempts is left out, because
/// the target that was sent may have values of the client, and no record keeps it.
struct RequestSpans {
    let request: TracedRequest
    /// Of the request's span.
    private let id: UInt64
    /// By call index.
    private let callIDs: [UInt64]
    private let entropy: Entropy

    /// - Parameter entropy: for the ids of spans that no other process knows
    init(_ request: TracedRequest, _ entropy: Entropy) {
        self.request = request
        self.entropy = entropy
        id = entropy.nextSpanID()
        callIDs = request.calls.map { _ in entropy.nextSpanID() }
    }

    /// Appends the spans.
    func append(to spans: inout [OTLPSpan]) {
        appendRequest(to: &spans)
        guard let endpoint = request.endpoint else { return }
        for (index, call) in request.calls.enumerated()
        where call.hasSpan && endpoint.calls.indices.contains(index) {
            append(call, index, endpoint.calls[index], to: &spans)
        }
        var attemptCounts = request.calls.map { _ in 0 }
        for place in request.attempts.placesWithSpans {
            let attempt = request.attempts[place]
            let index = Int(attempt.call)
            guard attemptCounts.indices.contains(index), endpoint.calls.indices.contains(index)
            else { continue }
            append(
                attempt, at: place, number: attemptCounts[index], endpoint.calls[index], to: &spans)
            attemptCounts[index] += 1
        }
    }

    private func time(_ moment: Moment) -> Int64 {
        request.began &+ Int64(moment.microseconds) * 1_000
    }

    private func span(
        _ kind: OTLPSpan.Kind, _ name: String, id: UInt64, parentID: UInt64, from began: Moment,
        to ended: Moment, isError: Bool, problem: Bytes? = nil
    ) -> OTLPSpan {
        // What still ran at the end of the request ended with it.
        let ended = ended.hasHappened ? ended : request.ended
        let began = began.hasHappened ? began : ended
        return OTLPSpan(
            trace: request.trace, id: id, parentID: parentID, kind: kind, name: name,
            began: time(began), ended: time(ended), isError: isError, problem: problem)
    }

    // MARK: The request

    private func appendRequest(to spans: inout [OTLPSpan]) {
        let method = request.method.conventionalName
        let route = request.endpoint?.path
        let span = span(
            .server, route.map { "\(method ?? "HTTP") \($0)" } ?? method ?? "HTTP", id: id,
            parentID: request.trace.parentID, from: Moment(microseconds: 0), to: request.ended,
            isError: errorType != nil)
        span.append(to: &spans) { list in
            list.append(attribute: "http.request.method", method ?? "_OTHER")
            if method == nil {
                list.append(
                    attribute: "http.request.method_original", request.method.description)
            }
            list.append(attribute: "url.scheme", request.client.scheme)
            list.append(attribute: "url.path", String(request.path))
            if let server = request.client.server {
                list.append(attribute: "server.address", server.address)
                if let port = server.port { list.append(attribute: "server.port", Int(port)) }
            }
            if let client = request.client.address {
                list.append(attribute: "client.address", client)
            }
            if let route { list.append(attribute: "http.route", route) }
            if isAnswered {
                list.append(attribute: "http.response.status_code", Int(request.status))
            }
            list.append(attribute: "network.protocol.version", request.version.text)
            if let errorType { list.append(attribute: "error.type", errorType) }
            list.append(attribute: "tributary.outcome", request.outcome.name)
            list.append(attribute: "tributary.request_id", request.id.description)
        }
    }

    /// Whether a status was sent.
    private var isAnswered: Bool {
        request.status != ServerHooks.ExchangeEnd.clientGone
            && request.status != ServerHooks.ExchangeEnd.cutOff
    }

    /// Only what the server did not do is an error of its span; a status below 500 is not.
    private var errorType: String? {
        switch request.outcome {
        case .failed: "\(request.status)"
        case .truncated, .cutOff: "\(request.outcome.name)"
        case .ok, .partial, .rejected, .clientGone: nil
        }
    }

    // MARK: Calls

    private func append(
        _ call: CallRecord, _ index: Int, _ names: RecordedEndpoint.Call, to spans: inout [OTLPSpan]
    ) {
        var failure: String?
        if case .failed(let kind) = call.outcome { failure = kind.facts.name }
        // The body of a streamed response ends after the call has its head.
        let attempt = call.decidingAttempt.map { request.attempts[Int($0)] }
        let ended = max(call.ended, attempt?.ended ?? call.ended)
        let span = span(
            .internal, names.name, id: callIDs[index], parentID: id, from: call.began, to: ended,
            isError: failure != nil, problem: request.details.text(ofCall: index, attempt: nil))
        span.append(to: &spans) { list in
            list.append(attribute: "tributary.call", names.name)
            list.append(attribute: "tributary.backend", names.backend)
            list.append(attribute: "tributary.attempts", Int(call.attempts))
            if let failure { list.append(attribute: "error.type", failure) }
        }
    }

    // MARK: Attempts

    /// - Parameters:
    ///   - place: among the attempts of the request
    ///   - number: among the attempts of its call, from 0
    private func append(
        _ attempt: AttemptRecord, at place: Int, number: Int, _ names: RecordedEndpoint.Call,
        to spans: inout [OTLPSpan]
    ) {
        let failure = attempt.errorType
        let method = names.method.conventionalName
        let span = span(
            .client, "\(method ?? "HTTP") \(names.path)",
            // The backend knows the id of an attempt that was sent.
            id: attempt.spanID == 0 ? entropy.nextSpanID() : attempt.spanID,
            parentID: callIDs[Int(attempt.call)], from: attempt.began, to: attempt.ended,
            isError: failure != nil,
            problem: request.details.text(ofCall: Int(attempt.call), attempt: place))
        span.append(to: &spans) { list in
            list.append(attribute: "http.request.method", method ?? "_OTHER")
            if method == nil {
                list.append(attribute: "http.request.method_original", names.method.description)
            }
            list.append(attribute: "url.template", names.path)
            if let host = attempt.host, names.servers.indices.contains(Int(host)) {
                let server = names.servers[Int(host)]
                list.append(attribute: "server.address", server.address)
                if let port = server.port { list.append(attribute: "server.port", Int(port)) }
            }
            if attempt.status > 0 {
                list.append(attribute: "http.response.status_code", Int(attempt.status))
            }
            if attempt.sent.hasHappened {
                list.append(attribute: "network.protocol.version", attempt.version.text)
                list.append(attribute: "tributary.connection_reused", attempt.reusedConnection)
            }
            if number > 0 { list.append(attribute: "http.request.resend_count", number) }
            if let cause = attempt.cause.repetition {
                list.append(attribute: "tributary.repetition", cause)
            }
            if let failure { list.append(attribute: "error.type", failure) }
        } events: { list in
            append(event: "permitted", at: attempt.permitted, to: &list)
            append(event: "sent", at: attempt.sent, to: &list)
            append(event: "first_byte", at: attempt.firstByte, to: &list)
        }
    }

    /// A moment of an attempt, if it was reached.
    private func append(event name: String, at moment: Moment, to list: inout [OTLPEvent]) {
        guard moment.hasHappened else { return }
        list.append(OTLPEvent(name: name, time: time(moment)))
    }
}

extension AttemptRecord {
    /// The kind of its failure, or its status from 400 on; nil without an error.
    fileprivate var errorType: String? {
        if case .failed(let kind) = outcome { return kind.facts.name }
        return status >= 400 ? "\(status)" : nil
    }
}

extension AttemptRecord.Cause {
    /// Why it was made again; nil for a first attempt.
    fileprivate var repetition: StaticString? {
        switch self {
        case .first: nil
        case .retry: "retry"
        case .hedge: "hedge"
        case .otherHost: "other_host"
        }
    }
}

extension Method {
    /// Nil for one that the conventions do not know, so that clients cannot invent names of spans.
    fileprivate var conventionalName: String? {
        if case .other = self { nil } else { description }
    }
}

extension Entropy {
    /// Never zero (W3C Trace Context 3.2.2.4).
    fileprivate func nextSpanID() -> UInt64 { max(1, next()) }
}
