import YAMLReader

extension Config {
    /// `clients:`, whose word counts about where a request comes from.
    struct Clients: Sendable {
        let place: Place
        var trustedProxies: [Placed<Proxy>] = []
        var addressFrom: Placed<TrustedProxies.Source>?

        init(place: Place) {
            self.place = place
        }

        /// One of `trusted_proxies:`.
        enum Proxy: Sendable, Hashable {
            case network(AddressPrefix)
            /// Every peer on a unix socket.
            case unix
        }
    }

    /// `forwarded:` of a backend or a call: which headers tell the backend who the client is.
    enum Forwarded: String, Sendable, CaseIterable { case off, x, rfc7239, both }
}
