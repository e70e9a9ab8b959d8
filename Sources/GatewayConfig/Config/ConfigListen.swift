package import YAMLReader

extension Config {
    /// `listen:`, where clients connect: an address alone, or a block.
    package struct Listen: AddressBlock {
        package let place: Place
        package var address: Placed<ListenAddress>?
        package var mode: Placed<UInt16>?
        package var group: Placed<String>?

        init(place: Place) {
            self.place = place
        }
    }

    /// `admin:`, where the admin pages are served: an address alone, or a block.
    package struct Admin: AddressBlock {
        package let place: Place
        package var address: Placed<ListenAddress>?
        /// Names by which requests may reach it, beside addresses and `localhost`.
        package var hosts: [Placed<String>] = []
        package var mode: Placed<UInt16>?
        package var group: Placed<String>?

        init(place: Place) {
            self.place = place
        }
    }
}

/// What `listen` and `admin` have in common: an address, and for a unix socket the permissions of
/// its file.
package protocol AddressBlock: Sendable {
    var place: Place { get }
    var address: Placed<Config.ListenAddress>? { get set }
    /// The permission bits of the socket's file.
    var mode: Placed<UInt16>? { get set }
    /// The name or number of the group that owns the socket's file.
    var group: Placed<String>? { get set }
}
