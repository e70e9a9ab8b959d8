/// How long a call may take until its response is complete, and the error of one that takes longer.
///
/// The pool measures it, which costs a timer. `timeout` of a promise would cost a promise more, so it
/// is for what consists of more than one call.
package struct TimeLimit {
    package let duration: Duration
    package let error: any Error

    package init(_ duration: Duration, error: any Error) {
        self.duration = duration
        self.error = error
    }
}
