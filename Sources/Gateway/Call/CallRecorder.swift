package import Basics
import GatewayConfig
import HTTP
import HTTPClient
import Promises
package import Reactor

/// Records the calls of one request: what was sent, when, and how each ended.
///
/// It is in the chain of a call twice: above all filters, and directly above the connection, where
/// it sees every single request.
package final class CallRecorder {
    /// The record of one call.
    package struct CallRecord {
        package let began: Instant
        package var ended: Instant?
        /// How it ended; nil while it runs.
        package var outcome: String?
        /// When each request to the backend was sent; several with retries and hedges.
        package var requests: [Instant] = []
        /// Host, port and target of the last one.
        package var url = ""
    }

    private let loop: any Loop
    private var records: [Int: CallRecord] = [:]

    package init(loop: any Loop) {
        self.loop = loop
    }

    /// The record of a call, by its index; nil if the call never started.
    package subscript(call: Int) -> CallRecord? { records[call] }

    /// Records the call as a whole.
    func ofCall(_ plan: CallPlan) -> CallFilter {
        CallFilter { [self] next in
            CallService { [self] request, exchange in
                records[plan.index] = CallRecord(began: loop.now)
                let response = next(request, exchange)
                response.whenSettled { [self] result in
                    records[plan.index]?.ended = loop.now
                    records[plan.index]?.outcome = Self.outcome(of: result, plan)
                }
                return response
            }
        }
    }

    /// Records each request that is sent, and its host.
    func ofRequest(_ plan: CallPlan, to backend: BackendPlan) -> CallFilter {
        CallFilter { [self] next in
            CallService { [self] request, exchange in
                records[plan.index]?.requests.append(loop.now)
                let host = request.calledHost ?? CalledHost()
                let response = next(request.recording(host), exchange)
                records[plan.index]?.url =
                    backend.url(of: host) + plan.shownTarget(request.target)
                return response
            }
        }
    }

    /// The status, and the kind of failure if the call failed.
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
    fileprivate func recording(_ host: CalledHost) -> CallRequest {
        var recording = self
        recording.calledHost = host
        return recording
    }
}

extension CallPlan {
    /// The target that was sent, or its template where a variable or a secret's file is part of it.
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
    /// The configured URL of the host that was called.
    fileprivate func url(of called: CalledHost) -> String {
        let name = called.name.map { "\($0)" }
        return (hosts.first { $0.origin.hostField == name } ?? hosts.first)?.shownURL ?? ""
    }
}
