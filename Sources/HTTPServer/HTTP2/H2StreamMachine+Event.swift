import HTTP
import HTTP2

/// The input and the output of `H2StreamMachine`: events with all data that decisions need, and the actions of its
/// stream.
extension H2StreamMachine {
    enum Event {
        /// The head is not a valid request.
        case headRejected
        /// The client has ended its side.
        case clientEnded
        /// The reader of the request's body starts, pauses, resumes or cancels it.
        case bodyDemandChanged(BodyDemand)
        /// The call of the service that started to read has returned.
        case deliveryBegan
        /// The stored bytes were passed on.
        case storedDelivered
        /// The response to the request is ready; its body may follow.
        case responseReady(ResponseForm)
        /// The rest of a streamed response does not arrive.
        case responseBroken
        /// The end of the response was sent.
        case responseSent
        /// The body has taken too long.
        case deadlinePassed
        /// The memory is used up, and the service has paused the body.
        case memoryShort
        /// A limit is short, and the exchange waits for its client.
        case waitingEnded
        /// The stream or the connection has ended.
        ///
        /// - Parameters:
        ///   - hasSentBody: bytes of the response's body were sent
        ///   - status: for the log, if no response was begun
        case clientLost(hasSentBody: Bool, status: UInt16)
    }

    /// The properties of a request that the machine needs.
    struct Facts {
        /// It asks for another protocol on its stream (RFC 8441 4).
        var isTunnel = false
        var expectsContinue = false
        /// The head states the length of the body, or that there is none.
        var statesLength = true
        /// Trailers arrived behind the body.
        var hasTrailers = false
    }

    /// The body with which a request begins.
    enum Content {
        case empty
        /// The stored bytes are all of it.
        case stored
        /// A source delivers it.
        case streamed
    }

    /// What happens to a received piece of the body, and to the client's credit (RFC 9113 5.2).
    enum PieceUse {
        /// The service gets it, and the client credit for the stream and the connection.
        case deliver
        /// The client gets no credit until the service reads it, so that the window bounds the memory.
        case store
        /// The client gets credit for other streams only.
        case drop
    }

    /// How the response reaches the client.
    enum ResponseForm {
        /// Head and body at once.
        case complete
        /// The body follows piece by piece.
        case streamed
        /// DATA carries another protocol (RFC 8441 5).
        case tunnel
    }

    enum Action: Equatable {
        /// Report `deliveryBegan` when the present call has returned.
        case beginDelivery(sendsContinue: Bool, growsWindow: Bool)
        /// Pass on the stored bytes.
        case deliverStored
        /// The body is complete.
        case endBody
        /// Write the head of the response, and with it the body unless that is streamed.
        case sendResponse
        /// Cancel the running exchange and send a rejection.
        ///
        /// - Parameter isCharged: the client is at fault
        case reject(Rejection, isCharged: Bool = false)
        /// Record the end of the response, and reset the stream; `clientLost` follows.
        case reset(H2Code, isCharged: Bool = false, StreamEnd? = nil)
        /// End the exchange of a client that does not take its response, and reset the stream.
        case endSlowExchange
        /// End the exchange behind its response, and reset what is left of the stream.
        case endExchange
        /// End the exchange, whose response is incomplete.
        case cutOffResponse
        /// End the exchange, which has no response.
        case cancelExchange(status: UInt16)
    }

    /// What a client may be slow with.
    enum ClientPart {
        /// It sends the body of the request.
        case body
        /// It takes the response.
        case response
    }
}
