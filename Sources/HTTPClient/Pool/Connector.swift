import Basics
import Promises
import Reactor

/// Makes connections to one origin: looks its name up, if it has one, and tries the addresses, each
/// new connection beginning with another one, all within the pool's `connectTimeout`. Owned by its pool.
final class Connector {
    private let loop: any Loop
    private let origin: Origin
    private let settings: PoolSettings
    private var order = AddressOrder()
    /// Nil for an address, and while the loop closes.
    private let name: AddressRefresher?

    init(_ origin: Origin, _ settings: PoolSettings, loop: any Loop) {
        self.loop = loop
        self.origin = origin
        self.settings = settings
        name =
            if case .name(let host, _) = origin.destination {
                AddressRefresher(host, settings, loop: loop)
            } else {
                nil
            }
    }

    /// Refreshes the addresses before they expire, while `isInUse`.
    ///
    /// - Parameter use: receives the addresses that are known, several times within their time to live
    func refreshAddresses(
        while isInUse: @escaping () -> Bool, _ use: @escaping ([IPAddress]) -> Void
    ) {
        name?.isInUse = isInUse
        name?.onCheck = use
    }

    /// Stops refreshing addresses.
    func stop() { name?.stop() }

    /// Whether the host name could not be resolved; false for an address.
    var isUnresolved: Bool { name?.isUnresolved ?? false }

    /// Makes a new connection. Rejects with `ClientFailure`; cancelling cancels the attempt.
    ///
    /// - Parameter protocols: offered in the TLS handshake
    func connect(offering protocols: ApplicationProtocols) -> LocalPromise<any ByteStream> {
        switch origin.destination {
        case .address(let address):
            return dial(address, within: settings.connectTimeout, protocols)
        case .name(_, let port):
            let deadline = loop.now + settings.connectTimeout
            return addresses().then { addresses in
                self.dialFirst(
                    of: addresses.prefix(self.settings.addressesTried), port, until: deadline,
                    protocols)
            }
        }
    }

    private func addresses() -> LocalPromise<[IPAddress]> {
        guard let name else { return loop.local.error(ClientFailure.lookup(.cancelled)) }
        return name.addresses()
            .mapError { ($0 as? IOFailure).map(ClientFailure.lookup) ?? $0 }
            .timeout(settings.connectTimeout, error: self.timeoutFailure(.dnsError))
            .map { addresses in
                self.order.sort(addresses, at: self.loop.now) { self.loop.entropy.below($0) }
            }
    }

    /// Connects to the first address that accepts; each gets an equal share of the remaining time.
    private func dialFirst(
        of addresses: ArraySlice<IPAddress>, _ port: UInt16, until deadline: Instant,
        _ protocols: ApplicationProtocols
    ) -> LocalPromise<any ByteStream> {
        guard let address = addresses.first else {
            return loop.local.error(ClientFailure(.dnsError, .noAddress, wasSent: false))
        }
        let share = (deadline - loop.now) / addresses.count
        return dial(.ip(address, port: port), within: share, protocols).recover { error in
            if (error as? ClientFailure)?.isLocal == true { throw error }
            self.order.recordFailure(address, at: self.loop.now)
            let rest = addresses.dropFirst()
            guard rest.isEmpty else {
                return self.dialFirst(of: rest, port, until: deadline, protocols)
            }
            self.name?.markUnreachable()
            throw error
        }
    }

    private func dial(
        _ address: SocketAddress, within limit: Duration, _ protocols: ApplicationProtocols
    ) -> LocalPromise<any ByteStream> {
        let plain = loop.connect(to: address)
            .mapError { ($0 as? IOFailure).map(ClientFailure.connect) ?? $0 }
        return secured(plain, protocols).timeout(
            limit, error: self.timeoutFailure(.connectionTimeout))
    }

    /// Secures the connection where the settings require it.
    private func secured(
        _ plain: LocalPromise<any ByteStream>, _ protocols: ApplicationProtocols
    ) -> LocalPromise<any ByteStream> {
        guard let security = settings.security else { return plain }
        return plain.then { stream in
            security.secure(stream, self.origin.host, self.loop, offering: protocols)
                .mapError { ($0 as? IOFailure).map(ClientFailure.secure) ?? $0 }
        }
    }

    private func timeoutFailure(_ kind: ClientFailure.Kind) -> ClientFailure {
        let milliseconds = settings.connectTimeout.inNanoseconds / 1_000_000
        return ClientFailure(kind, .limit(Int(milliseconds)), wasSent: false)
    }
}
