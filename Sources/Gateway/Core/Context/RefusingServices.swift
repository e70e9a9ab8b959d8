import HTTP
import Promises
import Reactor

/// The responses to requests that a filter refuses.
enum RefusingServices {

    /// A problem with this reason, before the endpoint is known.
    ///
    /// - Parameter headers: the headers of responses without an endpoint
    static func refuse(
        _ reason: RefusalReason, _ headers: ResponseHeaders?
    ) -> Service<Request, Response> {
        Service { request, context in
            context.refusal = reason
            if let headers { context.responseFields = headers.fields(for: request.head) }
            return context.local.value(Problem(reason, instance: context.id).response())
        }
    }

    /// A problem with this reason, as a response of an endpoint.
    ///
    /// - Parameter fields: more header lines of the response
    static func refuseAtEndpoint(
        _ reason: RefusalReason, _ fields: Fields = Fields(), loop: any Loop
    ) -> Service<Request, Response> {
        Service { _, context in
            context.refusal = reason
            context.record.responseMade(at: loop.now)
            return context.local.value(Problem(reason, instance: context.id).response(fields))
        }
    }
}
