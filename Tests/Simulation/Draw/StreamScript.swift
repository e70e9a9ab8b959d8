/// What a simulated client does with one streamed request, beside its head.
struct StreamScript {
    var upload = BodyScript()
    /// Milliseconds from the head to the body, if the client does not wait for `100 Continue`.
    var uploadDelay = 0
    var reading = ReadingScript()
    var leaving: Leaving?
    /// It wants to switch to another protocol.
    var upgrades = false
    /// What it sends in the tunnel.
    var tunnel = BodyScript()

    /// The client ends the connection before the exchange is over.
    struct Leaving {
        var when: When
        var kind: Kind

        enum When {
            /// Milliseconds after the head.
            case after(Int)
            /// With so many bytes of the response's body.
            case receiving(Int)
        }

        enum Kind { case closes, resets, halfCloses }
    }
}

/// What a simulated host does with one streamed request.
struct StreamResponseScript {
    /// Before the final response, each after so many milliseconds.
    var interim: [(status: Int, delay: Int)] = []
    /// When the final response begins.
    var trigger = Trigger.head
    var delay = 0
    var outcome = Outcome.responds
    var status = 200
    var isHTTP10 = false
    var closesConnection = false
    var body = BodyScript()
    var fields: [(name: String, value: String)] = []
    var reading = ReadingScript()
    /// The connection ends so many milliseconds after a complete response.
    var idleLoss: Int?
    /// Switches to this protocol.
    var upgrade: String?

    /// Whether the gateway must not accept the switch: clients want `websocket`, in any case.
    var switchesWrongly: Bool { upgrade.map { $0.lowercased() != "websocket" } ?? false }

    enum Trigger: Equatable {
        /// The head of the request, whatever follows it.
        case head
        /// So many bytes of the request's body.
        case bytes(Int)
        /// The end of the request.
        case end
    }

    enum Outcome: Equatable {
        case responds
        /// No response: the connection stays open, is closed, or is reset.
        case silent, closes, resets
        /// A head that is not valid HTTP.
        case malformed
    }
}
