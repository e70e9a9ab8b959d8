import HTTP
import HTTPClient
import Promises

/// Sends a call's request to its backend: through the filters of the call, or directly if there are none
/// and the backend has no host to choose.
struct CallChain {
    private let backend: Backend
    /// What the requests of the call share, for each host of the backend.
    private let templates: [RequestTemplate]
    /// The filters around the backend; nil for the direct way.
    private let service: CallService?

    /// - Parameter filters: in the order in which a request passes them
    init(_ filters: [CallFilter], to backend: Backend, _ templates: [RequestTemplate]) {
        self.backend = backend
        self.templates = templates
        service =
            filters.isEmpty && backend.hosts.needsNoChoice
            ? nil : filters.around(CallService { backend.send($0, $1) })
    }

    /// The template of a request whose host is not chosen yet.
    var template: RequestTemplate { templates[0] }

    /// Sends a request; promises the response of the backend.
    ///
    /// - Parameters:
    ///   - request: with `template`, and without `exchange`
    ///   - limit: measured by the pool; nil for none
    func send(
        _ request: consuming ClientRequest, _ callContext: CallContext,
        within limit: consuming TimeLimit?, _ context: RequestContext
    ) -> LocalPromise<ClientResponse> {
        guard let service else {
            return backend.sendToOnlyHost(request, callContext, within: limit, context)
        }
        return service(
            CallRequest(request, callContext, within: limit, templates: templates), context)
    }
}
