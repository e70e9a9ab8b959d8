package import Basics
import Foundation
package import Promises
package import Reactor
package import TLS

/// The files of `Tests/Fixtures/tls`, which its script `make` made: a certificate authority; `server`
/// for `backend.test`, `*.wild.test`, 127.0.0.1 and ::1; `chain` behind one in between; `client`; and
/// `unknown`, of another authority; `common-name`, `other-kinds` and `odd-names`, which have the name
/// backend.test only where it does not count. All are good from 2020 to 2120.
package enum Certificates {
    package static func file(_ name: String) throws -> Bytes {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Fixtures/tls")
        return Bytes([UInt8](try Data(contentsOf: folder.appending(path: name))))
    }

    package static func identity(_ name: String) throws -> TLSIdentity {
        TLSIdentity(certificate: try file("\(name).pem"), key: try file("\(name).key"))
    }

    package static func trusting(
        _ authority: String? = "authority.pem", as client: String? = nil, name: String? = nil
    ) throws -> TLSClientContext {
        try TLSClientContext(
            TLSSettings(
                trust: try authority.map { .signed(by: try file($0)) } ?? .unverified,
                identity: try client.map { try identity($0) }, serverName: name))
    }

    package static func server(_ name: String = "server", asking: Bool = false) throws
        -> TLSServerContext
    {
        var settings = TLSServerSettings(certificates: [try identity(name)])
        if asking {
            settings.clients = TLSServerSettings.Clients(
                authorities: try file("authority.pem"), isRequired: true)
        }
        return try TLSServerContext(settings)
    }

    /// 2026-01-01, in seconds: the beginning of the simulated world.
    package static let now = 1_767_225_600
}

extension TLSServerContext {
    /// Performs the handshake and promises the TLS stream of a client, for scripted backends.
    package func accept(
        _ stream: any ByteStream, on loop: any Loop
    ) -> LocalPromise<any ByteStream> {
        accept(stream, on: loop, HandshakeProgress(HandshakeQueue(loop))).map { accepted in
            guard case .secure(let stream, _) = accepted else {
                throw IOFailure.tlsFailed("HTTP without TLS")
            }
            return stream
        }
    }
}
