import HTTP
import Promises

/// What the limits decide that need the validated values of a request.
enum LimitCheckResult {
    case granted
    case refused(Response)
    /// Nil if the request is granted.
    case later(LocalPromise<Response?>)

    /// The response of `next` to a request that is granted, at once or later; else the refusal.
    func response(
        on local: LocalContext, _ next: @escaping () -> LocalPromise<Response>
    ) -> LocalPromise<Response> {
        switch self {
        case .granted: next()
        case .refused(let refusal): local.value(refusal)
        case .later(let refusal): refusal.then { $0.map { local.value($0) } ?? next() }
        }
    }
}
