/// The delegate of a stream, from `startReading` until the stream is closed or fails, and a failure
/// that has not been reported to it yet.
package struct StreamDelegateState {
    package private(set) var delegate: (any ByteStreamDelegate)?
    package private(set) var hasStarted = false
    /// Reports a failure in a later callback, never from inside a call of the delegate.
    package var failureTimer: Timer?
    /// A failure that happened before `startReading`.
    package private(set) var undeliveredFailure: IOFailure?
    /// The unsent bytes that a failure dropped.
    package private(set) var droppedBytes = 0

    package init() {}

    fileprivate mutating func set(_ delegate: any ByteStreamDelegate) {
        self.delegate = delegate
        hasStarted = true
    }

    /// Replaces the delegate of an open stream; returns the former one, so that the caller releases it
    /// outside of this access. Does nothing if there is none.
    package mutating func replace(
        with delegate: any ByteStreamDelegate
    ) -> (any ByteStreamDelegate)? {
        guard let former = self.delegate else { return nil }
        self.delegate = delegate
        return former
    }

    /// Returns the delegate, so that the caller releases it outside of this access: its deinit may
    /// call the stream.
    package mutating func takeDelegate() -> (any ByteStreamDelegate)? { delegate.take() }

    /// Drops a failure that has not been reported.
    package mutating func cancelFailure() {
        undeliveredFailure = nil
        failureTimer.take()?.cancel()
    }

    fileprivate mutating func store(_ failure: IOFailure, droppedBytes: Int) {
        self.droppedBytes = droppedBytes
        if !hasStarted { undeliveredFailure = failure }
    }
}

/// A stream that has a delegate and can fail: shared by all conformers of `ByteStream`.
package protocol FailingStream: AnyObject {
    var delegateState: StreamDelegateState { get set }

    /// Bytes offered to the kernel that it has not taken.
    var unsentBytes: Int { get }

    /// Closes at once and takes the delegate out.
    func close()
}

extension FailingStream {
    /// Stores the delegate, once. False if there is nothing to read; an earlier failure is then
    /// reported soon.
    package func setDelegate(
        _ delegate: any ByteStreamDelegate, isOpen: Bool, on loop: any Loop
    ) -> Bool {
        guard !delegateState.hasStarted, isOpen || delegateState.undeliveredFailure != nil else {
            return false
        }
        delegateState.set(delegate)
        guard let undeliveredFailure = delegateState.undeliveredFailure else { return true }
        delegateState.failureTimer = loop.timer(after: .zero) { [weak self] in
            self?.fail(undeliveredFailure)
        }
        return false
    }

    /// Closes the stream and reports the failure, once.
    package func fail(_ failure: IOFailure) {
        let delegate = delegateState.takeDelegate()
        let unsent = unsentBytes
        close()
        delegateState.store(failure, droppedBytes: unsent)
        delegate?.streamFailed(failure)
    }
}
