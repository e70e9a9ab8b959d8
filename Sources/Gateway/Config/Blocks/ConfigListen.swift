package import YAMLReader

extension Config {
    /// An entry of `listen:`, an address for clients: only an address, or a block.
    package struct Listen: AddressBlock {
        package let location: SourceLocation
        /// For `listener` of endpoints.
        package var name: Located<String>?
        package var address: Located<ListenAddress>?
        package var mode: Located<UInt16>?
        package var group: Located<String>?
        /// Nil for unencrypted connections.
        package var tls: ListenTLS?
        package var protocols: Located<[Located<ClientProtocol>]>?
        package var redirect: Located<Redirect>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// An application protocol that clients may use.
    package enum ClientProtocol: String, Sendable, CaseIterable {
        case http1, http2
    }

    /// `redirect:`, where every request of a listener is sent.
    package struct Redirect: Sendable, Equatable {
        /// Nil for the default port of https.
        package let port: UInt16?
    }

    /// `admin:`, the address of the admin pages: only an address, or a block.
    package struct Admin: AddressBlock {
        package let location: SourceLocation
        package var address: Located<ListenAddress>?
        /// Names that are accepted in `Host`, in addition to addresses and `localhost`.
        package var hosts: [Located<String>] = []
        /// The secret that requests present, or `noToken`; nil if none is needed.
        package var token: Located<String>?
        package var mode: Located<UInt16>?
        package var group: Located<String>?

        /// The value of `token` of an address that other means protect; too short for a secret.
        static let noToken = "none"

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

/// The common part of `listen` and `admin`: an address, and the permissions of a unix socket's
/// file.
package protocol AddressBlock: Sendable {
    var location: SourceLocation { get }
    var address: Located<Config.ListenAddress>? { get set }
    /// The permission bits of the socket's file.
    var mode: Located<UInt16>? { get set }
    /// The name or number of the group that owns the socket's file.
    var group: Located<String>? { get set }
}

extension Config.Listen {
    /// The protocols that clients may use, in the order of preference.
    package var clientProtocols: [Config.ClientProtocol] {
        protocols?.value.map(\.value) ?? PlanDefaults.clientProtocols(hasTLS: tls != nil)
    }
}

extension Config.ClientProtocol {
    /// RFC 7301 6.
    package var nameInALPN: String {
        switch self {
        case .http1: "http/1.1"
        case .http2: "h2"
        }
    }
}

extension Config {
    /// Whether a listener requests client certificates; without one no client has an identity.
    package var verifiesClients: Bool { listen.contains { $0.tls?.clientCA != nil } }
}
