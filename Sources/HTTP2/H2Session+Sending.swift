package import Basics
import CNGHTTP2
package import HTTP

/// Requests, responses, bodies and resets.
extension H2Session {
    /// Sends a request on a new stream; nil if the connection takes no more.
    ///
    /// The peer's limit of streams delays the frame, so the caller should stay below it.
    ///
    /// - Parameter lines: the fields in the format of `Fields`, without `Host`
    package func sendRequest(
        _ request: H2RequestLine, lines: Span<UInt8>, endsStream: Bool,
        handler: any H2StreamEvents, at now: Instant
    ) -> H2Stream? {
        guard role == .client, failure == nil, nghttp2_session_check_request_allowed(raw) != 0
        else { return nil }
        let next = nghttp2_session_get_next_stream_id(raw)
        // nghttp2 creates its stream when the frame is sent.
        let stream = H2Stream(
            Int32(truncatingIfNeeded: next), index: streams.count, at: now)
        let data = Unmanaged.passUnretained(stream).toOpaque()
        let id = lines.withUnsafeBufferPointer { memory in
            request.withPseudoFields { method, scheme, authority, path in
                vector.removeAll()
                vector.append(":method", method)
                vector.append(":scheme", scheme)
                vector.append(":authority", authority)
                vector.append(":path", path)
                vector.append(lines: lines, in: memory)
                return vector.withFields { fields, count in
                    withBodySource(endsStream) {
                        nghttp2_submit_request(raw, nil, fields, count, $0, data)
                    }
                }
            }
        }
        guard id == stream.id else { return nil }
        stream.handler = handler
        stream.isHeadRequest = request.method == .head
        if endsStream { stream.outgoing.end = .submitted }
        streams.append(stream)
        return stream
    }

    /// Sends a response, or an interim one. Fails with a reset of the stream.
    ///
    /// - Parameters:
    ///   - lines: the fields in the format of `Fields`
    ///   - endsStream: there is no body
    package func sendResponse(
        _ status: Status, lines: Span<UInt8>, on stream: H2Stream, endsStream: Bool
    ) {
        guard stream.takesOutput else { return }
        let code = status.code
        let digits: [UInt8] = [
            UInt8(truncatingIfNeeded: 48 + code / 100),
            UInt8(truncatingIfNeeded: 48 + code / 10 % 10),
            UInt8(truncatingIfNeeded: 48 + code % 10),
        ]
        let result = lines.withUnsafeBufferPointer { memory in
            digits.withUnsafeBufferPointer { digits in
                vector.removeAll()
                vector.append(":status", digits)
                vector.append(lines: lines, in: memory)
                return vector.withFields { fields, count in
                    guard !status.isInterim else {
                        return nghttp2_submit_headers(
                            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, fields, count,
                            nil)
                    }
                    if endsStream { stream.outgoing.end = .submitted }
                    return withBodySource(endsStream) {
                        nghttp2_submit_response(raw, stream.id, fields, count, $0)
                    }
                }
            }
        }
        if result < 0 { reset(stream, .internalError) }
    }

    private func withBodySource(
        _ endsStream: Bool, _ body: (UnsafePointer<nghttp2_data_provider>?) -> Int32
    ) -> Int32 {
        guard !endsStream else { return body(nil) }
        var provider = Engine.bodySource
        return body(&provider)
    }

    /// Appends a complete body, which is not copied, and ends this side.
    package func sendBody(_ body: Bytes, on stream: H2Stream, at now: Instant) {
        guard stream.takesOutput else { return }
        stream.outgoing.append(body)
        bytesAppended(body.count, to: stream, at: now)
        endBody(of: stream, trailers: Fields())
    }

    /// Appends a piece of a body.
    package func sendPiece(_ piece: Span<UInt8>, on stream: H2Stream, at now: Instant) {
        guard stream.takesOutput, !piece.isEmpty else { return }
        stream.outgoing.append(copying: piece)
        bytesAppended(piece.count, to: stream, at: now)
        resume(stream)
    }

    private func bytesAppended(_ count: Int, to stream: H2Stream, at now: Instant) {
        if stream.outgoing.count == count {
            stream.queuedSince = now
            stream.lastTaken = now
            stream.sentWhenQueued = stream.sentBytes
        }
        queuedBytes += count
    }

    /// Ends this side behind the bytes that were appended.
    package func endBody(of stream: H2Stream, trailers: Fields) {
        guard stream.takesOutput, case .open = stream.outgoing.end else { return }
        stream.outgoing.end = trailers.isEmpty ? .plain : .trailers(trailers)
        guard stream.outgoing.count == 0 else { return resume(stream) }
        // nghttp2 could send the end of a request in front of its head.
        if stream.hasSentHead { submitEnd(of: stream) }
    }

    /// Submits the end of a stream of which no bytes are left. They alone wait for the windows of
    /// the peer (RFC 9113 5.2.1), but while a window is closed, nghttp2 does not call `bodyRead`.
    func submitEnd(of stream: H2Stream) {
        switch stream.outgoing.end {
        case .open, .submitted: return
        // `writeFrame` makes it an empty DATA frame.
        case .plain: submitTrailers(Fields(), on: stream)
        case .trailers(let trailers): submitTrailers(trailers, on: stream)
        }
        stream.outgoing.end = .submitted
    }

    private func resume(_ stream: H2Stream) {
        guard stream.outgoing.isDeferred else { return }
        stream.outgoing.isDeferred = false
        nghttp2_session_resume_data(raw, stream.id)
    }

    /// Called behind the last byte of a body.
    func submitTrailers(_ trailers: Fields, on stream: H2Stream) {
        let lines = trailers.wireText
        lines.withUnsafeBufferPointer { memory in
            vector.removeAll()
            vector.append(lines: lines, in: memory)
            vector.withFields { fields, count in
                _ = nghttp2_submit_trailer(raw, stream.id, fields, count)
            }
        }
    }

    /// Ends a stream whose peer has exceeded a limit, which costs the peer's budget.
    package func resetAndCharge(_ stream: H2Stream, _ code: H2Code, at now: Instant) {
        reset(stream, code)
        chargeReset(at: now)
    }

    /// Subtracts the cost of a reset from the peer's budget.
    package func chargeReset(at now: Instant) {
        self.now = now
        _ = charge(.reset)
    }

    /// Ends a stream at once, in both directions. It closes when the frame is sent.
    package func reset(_ stream: H2Stream, _ code: H2Code) {
        guard stream.takesOutput else { return }
        stream.isResetting = true
        queuedBytes -= stream.outgoing.count
        stream.outgoing.removeAll()
        nghttp2_submit_rst_stream(
            raw, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.number)
    }
}
