import Basics
import Promises
import Reactor

/// Makes the streams of connections to the store: looks its name up, tries its addresses in order,
/// and secures the connection where the settings require it.
struct RESPConnector {
    let settings: RESPSettings
    let loop: any Loop

    /// The most addresses of a name that one attempt tries; they share the time.
    private static let addressesMax = 4

    /// A new stream. Rejects with `RESPFailure`; cancelling cancels the attempt. The client limits
    /// its time.
    func connect() -> LocalPromise<any ByteStream> {
        let plain = plain()
        guard let security = settings.security else { return plain.mapError { RESPFailure($0) } }
        let (host, loop) = (settings.host, loop)
        return plain.then { security.secure($0, host, loop) }.mapError { RESPFailure($0) }
    }

    private func plain() -> LocalPromise<any ByteStream> {
        switch settings.destination {
        case .unix(let path): return loop.connect(to: .unix(path: path))
        case .host(let host, let port):
            let deadline = loop.now + settings.connectTimeout
            return loop.resolve(host).then { addresses in
                dialFirst(of: addresses.prefix(Self.addressesMax), port, until: deadline)
            }
        }
    }

    /// Connects to the first address that accepts; each gets an equal share of the remaining time.
    private func dialFirst(
        of addresses: ArraySlice<IPAddress>, _ port: UInt16, until deadline: Instant
    ) -> LocalPromise<any ByteStream> {
        guard let address = addresses.first else { return loop.local.error(RESPFailure.noAddress) }
        let attempt = loop.connect(to: .ip(address, port: port))
        let rest = addresses.dropFirst()
        guard !rest.isEmpty else { return attempt }
        return attempt.timeout((deadline - loop.now) / addresses.count)
            .recover { _ in dialFirst(of: rest, port, until: deadline) }
    }
}
