import CNGHTTP2
import HTTP

/// Receives header blocks, and reports the heads and trailers in them.
extension H2Session {
    /// The head of a HEADERS frame arrived. False ends the connection.
    func headersBegan(on id: Int32) -> Bool {
        guard role == .server else { return true }
        return switch clientIDs.use(id) {
        case .new: true
        case .known: stream(id) != nil || charge(.frame)
        case .leftOut: endConnection(.invalidFrame, .protocolError)
        }
    }

    /// A header block begins. Returns 0 or an error of nghttp2.
    func blockBegan(_ frame: nghttp2_frame) -> Int32 {
        block.removeAll()
        guard isFull, frame.headers.cat == NGHTTP2_HCAT_REQUEST else { return 0 }
        let isRefused = refuseStream(frame.hd.stream_id)
        return isRefused
            ? NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
            : NGHTTP2_ERR_CALLBACK_FAILURE.rawValue
    }

    /// The next field of a block. False ends the connection.
    func fieldReceived(_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool {
        block.append(name, value)
        guard block.decodedBytes > limits.heads.headerBytes + limits.excessHeadBytes else {
            return true
        }
        return endConnection(.headTooLarge, .enhanceYourCalm)
    }

    /// A header block is complete. False ends the connection.
    func headReceived(
        _ id: Int32, _ category: nghttp2_headers_category, _ endsStream: Bool
    ) -> Bool {
        switch category {
        case NGHTTP2_HCAT_REQUEST:
            // It took more work than others, and is not served.
            if block.exceedsLimits, !charge(.reset) { return false }
            let stream = addStream(id)
            stream.isHeadRequest = block.isHeadRequest
            events?.requestReceived(stream, requestHead(endsStream), endsStream: endsStream)
        case NGHTTP2_HCAT_RESPONSE, NGHTTP2_HCAT_HEADERS:
            guard let stream = stream(id) else { return true }
            if role == .server || stream.hasReceivedHead {
                return trailersReceived(stream)
            } else {
                return responseReceived(stream, endsStream)
            }
        default: break
        }
        return true
    }

    private func requestHead(_ endsStream: Bool) -> Result<RequestHead, WireError> {
        do throws(WireError) {
            return .success(try block.request(endsStream: endsStream))
        } catch {
            return .failure(error)
        }
    }

    private func trailersReceived(_ stream: H2Stream) -> Bool {
        let trailers: Fields
        do throws(WireError) {
            trailers = try block.trailers()
        } catch {
            return refuse(stream, error)
        }
        stream.handler?.bodyEnded(trailers: trailers)
        return true
    }

    private func responseReceived(_ stream: H2Stream, _ endsStream: Bool) -> Bool {
        let head: ResponseHead
        do throws(WireError) {
            head = try block.response(hasBody: !endsStream && !stream.isHeadRequest)
        } catch {
            return refuse(stream, error)
        }
        stream.hasReceivedHead = !head.status.isInterim
        stream.handler?.responseReceived(head, endsStream: endsStream)
        return true
    }

    /// A head or trailers beyond the limits, or with a value that only this side refuses. False ends
    /// the connection.
    private func refuse(_ stream: H2Stream, _ fault: WireError) -> Bool {
        stream.fault = fault
        stream.isMalformed = true
        reset(stream, .protocolError)
        events?.invalidFrameReceived()
        return role == .client || charge(.reset)
    }
}
