import Basics
import Foundation
import TLS

/// The files of `Tests/Fixtures/tls`.
enum Certificates {
    /// Empty if there is none of that name.
    static func file(_ name: String) -> [UInt8] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/tls")
        return (try? Data(contentsOf: folder.appending(path: name))).map { [UInt8]($0) } ?? []
    }

    /// `backend.test`, 127.0.0.1.
    static func server() throws -> TLSServerContext {
        try TLSServerContext(
            TLSIdentity(
                certificate: Bytes(file("server.pem")), key: Bytes(file("server.key"))))
    }
}
