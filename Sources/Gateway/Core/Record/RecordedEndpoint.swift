package import HTTP

/// The names behind the numbers of a record: those of the endpoint that a request was matched with,
/// under the configuration that it began with.
///
/// Made once per endpoint when a chain is built, so that a record needs one reference and no text.
package final class RecordedEndpoint: Sendable {
    package struct Call: Sendable {
        package let name: String
        package let backend: String
        package let method: Method
        /// Its path as configured, with `{name}` for each value.
        package let path: String
        /// Host and port, in the order of the configuration.
        package let hosts: [FieldValue]
        /// The same hosts.
        package let servers: [Server]
        /// The indices of the calls whose values it needs.
        package let needs: [Int]

        package init(
            name: String, backend: String, method: Method = .get, path: String = "/",
            hosts: [FieldValue], servers: [Server] = [], needs: [Int] = []
        ) {
            self.name = name
            self.backend = backend
            self.method = method
            self.path = path
            self.hosts = hosts
            self.servers = servers
            self.needs = needs
        }
    }

    /// A host of a backend.
    package struct Server: Sendable {
        /// A name, or an address without brackets.
        package let address: String
        /// Nil for a unix socket.
        package let port: UInt16?

        package init(address: String, port: UInt16?) {
            self.address = address
            self.port = port
        }
    }

    /// `GET /products/{id}`
    package let name: String
    /// Its responses are held back by `min_duration`, so its times must not be shown.
    package let isPadded: Bool
    /// By call index.
    package let calls: [Call]
    /// The embedder's number of each call, by call index: plain numbers, so that counting a call does
    /// not touch its names. Empty if the embedder does not number calls.
    package let callSlots: [Int]

    package init(name: String, isPadded: Bool, calls: [Call], callSlots: [Int] = []) {
        self.name = name
        self.isPadded = isPadded
        self.calls = calls
        self.callSlots = callSlots
    }
}
