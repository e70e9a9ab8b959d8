package import YAMLReader

extension Config {
    /// `listen:`, the address for clients: only an address, or a block.
    package struct Listen: AddressBlock {
        package let location: SourceLocation
        package var address: Located<ListenAddress>?
        package var mode: Located<UInt16>?
        package var group: Located<String>?

        init(location: SourceLocation) {
            self.location = location
        }
    }

    /// `admin:`, the address of the admin pages: only an address, or a block.
    package struct Admin: AddressBlock {
        package let location: SourceLocation
        package var address: Located<ListenAddress>?
        /// Names that are accepted in `Host`, besides addresses and `localhost`.
        package var hosts: [Located<String>] = []
        /// The secret that requests present; nil if none is needed.
        package var token: Located<String>?
        package var mode: Located<UInt16>?
        package var group: Located<String>?

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
