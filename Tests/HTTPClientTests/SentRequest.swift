import Basics
import HTTP
import Promises

@testable import HTTPClient

/// A sent request and its outcome.
final class SentRequest {
    let promise: LocalPromise<ClientResponse>
    /// Status and body, or the kind of the failure.
    private(set) var outcome: String?

    init(_ promise: LocalPromise<ClientResponse>) {
        self.promise = promise
        promise.whenSettled { result in
            switch result {
            case .success(let response):
                self.outcome = "\(response.status) \(String(response.content))"
            case .failure(let failure as ClientFailure): self.outcome = "\(failure.kind)"
            case .failure(let error): self.outcome = "\(type(of: error))"
            }
        }
    }

    func cancel() { promise.cancel() }
}
