import HTTP
import Reactor
import Testing

@testable import HTTPClient

@Suite struct OriginTests {
    @Test(
        arguments: [
            ("catalog.internal", 7001, "catalog.internal:7001", "catalog.internal:7001"),
            ("catalog.internal", 80, "catalog.internal", "catalog.internal:80"),
            // An absolute name is looked up as it is; `Host` and SNI have no dot.
            ("catalog.internal.", 7001, "catalog.internal:7001", "catalog.internal.:7001"),
            ("catalog.internal.", 80, "catalog.internal", "catalog.internal.:80"),
            ("127.0.0.1", 7001, "127.0.0.1:7001", "127.0.0.1:7001"),
            ("::1", 7001, "[::1]:7001", "[::1]:7001"),
            ("2001:DB8:0::1", 80, "[2001:db8::1]", "[2001:db8::1]:80"),
        ] as [(String, UInt16, String, String)])
    func describesHostAndPort(host: String, port: UInt16, hostField: String, text: String) {
        let origin = Origin(host: host, port: port)
        #expect(origin.hostField == hostField && origin.description == text)
        #expect(origin.hostFieldValue == FieldValue(hostField))
    }

    @Test func unixSocketHasTheHostLocalhost() {
        let origin = Origin(unixPath: "/run/a.sock")
        #expect(origin.hostField == "localhost" && origin.description == "unix:/run/a.sock")
    }

    @Test func namesDifferingOnlyInCaseAreOneOrigin() {
        #expect(Origin(host: "A.test", port: 1) == Origin(host: "a.TEST", port: 1))
        #expect(Origin(host: "a.test", port: 1) != Origin(host: "a.test", port: 2))
        #expect(Origin(host: "::1", port: 1) == Origin(host: "0:0:0:0:0:0:0:1", port: 1))
    }

    @Test func certificateNameHasNoDotAtItsEnd() {
        #expect(Origin(host: "a.test.", port: 443, default: .https).host == "a.test")
        #expect(Origin(host: "a.test", port: 443, default: .https).host == "a.test")
    }

    @Test func invalidHostHasAnEmptyFieldValue() {
        #expect(Origin(host: "a\r\nX: y", port: 1).hostFieldValue == "")
    }
}
