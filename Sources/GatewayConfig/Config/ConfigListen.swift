package import YAMLReader

extension Config {
    /// `listen:`, where clients connect: an address alone, or a block.
    package struct Listen: AddressBlock {
        package let location: SourceLocation
        package var address: Located<ListenAddress>?
        package var mode: Located<UInt16>?
        package var group: Located<String>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// `admin:`, where the admin pages are served: an address alone, or a block.
    package struct Admin: AddressBlock {
        package let location: SourceLocation
        package var address: Located<ListenAddress>?
        /// Names by which requests may reach it, beside addresses and `localhost`.
        package var hosts: [Located<String>] = []
        package var mode: Located<UInt16>?
        package var group: Located<String>?

        init(location: SourceLocation) {
            self.location = location
        }
    }
}

/// What `listen` and `admin` have in common: an address, and for a unix socket the permissions of
/// its file.
package protocol AddressBlock: Sendable {
    var location: SourceLocation { get }
    var address: Located<Config.ListenAddress>? { get set }
    /// The permission bits of the socket's file.
    var mode: Located<UInt16>? { get set }
    /// The name or number of the group that owns the socket's file.
    var group: Located<String>? { get set }
}
