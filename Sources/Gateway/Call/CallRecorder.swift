package import Basics
import GatewayConfig
import HTTP
import HTTPClient
import Promises
package import Reactor

/// Watches the calls of one request: what was sent, when, and how each ended.
///
/// It stands in the chain of a call twice: above everything, and just above the connection, where
/// every single request passes.
package final class CallRecorder {
    /// One call as it went.
    package struct Sighting {
        package let began: Instant
        package var ended: Instant?
        /// What became of it; nil as long as nothing did.
        package var outcome: String?
        /// When each request to the backend left; several with retries and hedges.
        package var requests: [Instant] = []
        /// Host, port and target of the last one.
        package var url = ""
    }

    private let loop: any Loop
    private var sightings: [Int: Sighting] = [:]

    package init(loop: any Loop) {
        self.loop = loop
    }

    /// What was seen of a call, by its index; nil if it never began.
    package subscript(call: Int) -> Sighting? { sightings[call] }

    /// Sees the call as a whole.
    func ofCall(_ plan: CallPlan) -> CallFilter {
        CallFilter { [self] next in
            CallService { [self] request, exchange in
                sightings[plan.index] = Sighting(began: loop.now)
                let answer = next(request, exchange)
                answer.whenSettled { [self] result in
                    sightings[plan.index]?.ended = loop.now
                    sightings[plan.index]?.outcome = Self.outcome(of: result, plan)
                }
                return answer
            }
        }
    }

    /// Sees each request that goes out, and learns the host from it.
    func ofRequest(_ plan: CallPlan, to backend: BackendPlan) -> CallFilter {
        CallFilter { [self] next in
            CallService { [self] request, exchange in
                sightings[plan.index]?.requests.append(loop.now)
                let host = request.calledHost ?? CalledHost()
                let answer = next(request.noting(host), exchange)
                sightings[plan.index]?.url =
                    backend.url(of: host) + plan.shownTarget(request.target)
                return answer
            }
        }
    }

    /// The status, and the kind of failure where it is one.
    private static func outcome(
        of result: Result<ClientResponse, any Error>, _ plan: CallPlan
    ) -> String {
        do {
            let response = try result.get()
            do {
                _ = try Decoder(plan: plan).part(of: response)
                return "\(response.status.code)"
            } catch {
                return "\(response.status.code) \(CallFailure(error).kind.facts.name)"
            }
        } catch {
            let failure = CallFailure(error)
            let limit = failure.limit.map { " after \($0.spelled)" } ?? ""
            return failure.kind.facts.name + limit
        }
    }
}

extension CallRequest {
    fileprivate func noting(_ host: CalledHost) -> CallRequest {
        var noting = self
        noting.calledHost = host
        return noting
    }
}

extension CallPlan {
    /// What was sent, or the template of it where a variable or a secret's file is part of it.
    fileprivate func shownTarget(_ target: Target) -> String {
        guard let concealed = self.target.concealed else { return String(target.text) }
        return concealed.map { piece in
            switch piece {
            case .literal(let text): String(text)
            case .value(let value, _): "{\(value.name)}"
            }
        }.joined()
    }
}

extension BackendPlan {
    /// As the operator wrote it, of the host that was asked.
    fileprivate func url(of asked: CalledHost) -> String {
        let name = asked.name.map { "\($0)" }
        return (hosts.first { $0.origin.hostField == name } ?? hosts.first)?.shownURL ?? ""
    }
}
