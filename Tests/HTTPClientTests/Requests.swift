import Basics
import HTTP

@testable import HTTPClient

extension ClientRequest {
    /// A request with the usual values of tests.
    init(
        _ method: HTTP.Method = .get, _ path: String = "/", host: FieldValue = "a",
        body: Body = .described(length: nil), responseBytesMax: Int = 1000,
        keepsTrailers: Bool = false
    ) {
        guard let target = Target(path) else { preconditionFailure("\(path) is no target") }
        self.init(
            method: method, target: target,
            template: RequestTemplate(
                host: host, responseBytesMax: responseBytesMax, keepsTrailers: keepsTrailers),
            body: body)
    }
}
