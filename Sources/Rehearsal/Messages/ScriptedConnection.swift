/// One connection of a simulated client: its requests, sent one after the other.
package struct ScriptedConnection {
    package let number: Int
    /// Microseconds since the run began.
    package let start: Int
    package let requests: [ScriptedRequest]
    /// The client closes the connection after the last response; otherwise it waits until the gateway
    /// closes it.
    package let closesWhenDone: Bool
    /// The client uses HTTP/2 with prior knowledge.
    package let usesHTTP2: Bool

    package init(
        number: Int, start: Int, requests: [ScriptedRequest], closesWhenDone: Bool,
        usesHTTP2: Bool = false
    ) {
        self.number = number
        self.start = start
        self.requests = requests
        self.closesWhenDone = closesWhenDone
        self.usesHTTP2 = usesHTTP2
    }
}
