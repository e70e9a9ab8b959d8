import Basics
import HTTP
import HTTPClient
import Promises

/// The target that each call of one request was sent to last, as `explain` shows it. A filter just
/// above the connection, where every single request passes; everything else that `explain` shows of a
/// request that ran is in the request's record.
package final class SentTargets {
    private var targets: [Int: String] = [:]

    package init() {}

    /// By the index of the call; nil if nothing was sent.
    package subscript(call: Int) -> String? { targets[call] }

    func filter(_ plan: CallPlan) -> CallFilter {
        CallFilter { [self] next in
            CallService { [self] request, context in
                targets[plan.index] = plan.shownTarget(String(request.target.text))
                return next(request, context)
            }
        }
    }
}

extension BackendPlan {
    /// How long a connection may take until it exists.
    package var connectTimeout: Duration { pool.connectTimeout }
}
