package import HTTP

/// The names behind the numbers of a record: the names of the endpoint that a request was matched with,
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

    /// The name in logs and metrics: `GET /products/{id}`.
    package let name: String
    /// The path of its route.
    package let path: String
    /// Its responses are held back by `min_duration`, so its times must not be shown.
    package let isPadded: Bool
    /// By call index.
    package let calls: [Call]
    package let slots: Slots

    package init(
        name: String, path: String = "", isPadded: Bool, calls: [Call], slots: Slots = Slots()
    ) {
        self.name = name
        self.path = path
        self.isPadded = isPadded
        self.calls = calls
        self.slots = slots
    }

    /// The embedder's numbers of an endpoint's calls and of their hosts: plain numbers, so that counting
    /// touches no names. Empty if the embedder counts nothing. A class, so that counting retains one object.
    package final class Slots: Sendable {
        /// By call index.
        package let calls: [Int]
        /// Where the hosts of each call begin in `hosts`.
        private let firstHosts: [Int]
        /// All endpoints share it.
        private let hosts: [Int]
        /// Its only call passes the bodies of the request and of the response through.
        package let isProxied: Bool

        package init(
            calls: [Int] = [], firstHosts: [Int] = [], hosts: [Int] = [], isProxied: Bool = false
        ) {
            self.calls = calls
            self.firstHosts = firstHosts
            self.hosts = hosts
            self.isProxied = isProxied
        }

        /// The number of the host that an attempt was handed to; nil if there is none.
        package func host(of attempt: AttemptRecord) -> Int? {
            let call = Int(attempt.call)
            guard let host = attempt.host, firstHosts.indices.contains(call) else { return nil }
            let index = firstHosts[call] + Int(host)
            return hosts.indices.contains(index) ? hosts[index] : nil
        }
    }
}
