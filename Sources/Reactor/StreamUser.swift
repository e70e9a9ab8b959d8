/// Who uses a stream: nobody before `start`, then one delegate, until the stream is closed or fails;
/// and a failure that it has not been told of yet.
package struct StreamUser {
    package private(set) var delegate: (any ByteStreamDelegate)?
    package private(set) var hasStarted = false
    /// A failure on its way to the delegate: never told from inside a call of the user's.
    package var failing: Timer?
    /// A failure that came before there was a delegate.
    package private(set) var untold: IOFailure?

    package init() {}

    fileprivate mutating func start(_ delegate: any ByteStreamDelegate) {
        self.delegate = delegate
        hasStarted = true
    }

    /// Hands out the delegate, to be let go of outside of the access: that may run its deinit, which
    /// may call the stream.
    package mutating func leave() -> (any ByteStreamDelegate)? { delegate.take() }

    /// Nothing is to be told any more.
    package mutating func forgetFailure() {
        untold = nil
        failing.take()?.cancel()
    }

    fileprivate mutating func keep(_ failure: IOFailure) {
        if !hasStarted { untold = failure }
    }
}

/// What has a user and can fail: the same for every conformer of `ByteStream`.
package protocol FailingStream: AnyObject {
    var user: StreamUser { get set }

    /// Closes at once; `leave`s the user.
    func close()
}

extension FailingStream {
    /// Takes the delegate, once; false if there is nothing to read: what failed before is told soon.
    package func begin(
        with delegate: any ByteStreamDelegate, isOpen: Bool, on loop: any Loop
    ) -> Bool {
        guard !user.hasStarted, isOpen || user.untold != nil else { return false }
        user.start(delegate)
        guard let untold = user.untold else { return true }
        user.failing = loop.timer(after: .zero) { [weak self] in self?.fail(untold) }
        return false
    }

    /// Tells once, when closed already.
    package func fail(_ failure: IOFailure) {
        let delegate = user.leave()
        close()
        user.keep(failure)
        delegate?.streamFailed(failure)
    }
}
