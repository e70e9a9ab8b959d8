package import Promises

/// Takes the place of a body that is too large, or whose rest cannot be read.
///
/// So the chain of an endpoint passes the reason on like a body, and the rejection is a response of
/// the endpoint: padded, counted and logged like its others.
package final class RefusedBody: BodySource {
    /// Why the body cannot be used.
    package let error: any Error
    private let core: Core
    private var isCancelled = false

    package init(_ error: any Error, on core: Core) {
        self.error = error
        self.core = core
    }

    package var framing: BodyFraming { .none }

    package func startDelivery(to sink: any BodySink) {
        core.value(()).whenSettled { [self] _ in
            if !isCancelled { sink.bodyFailed(error) }
        }
    }

    package func pause() {}

    package func resume() {}

    package func cancel() {
        isCancelled = true
    }
}
