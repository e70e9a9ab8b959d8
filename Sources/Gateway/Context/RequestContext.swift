package import Basics
package import HTTP
import Promises

/// What the gateway knows about one request, from its head to the last byte of its response: the exchange,
/// the client and the caller, the deadline, what rate limits have charged, and the record.
///
/// A subclass of the server's exchange instead of an object beside it: a request has one object less, and
/// the end of the exchange finds the context without a table. Confined to its worker.
package final class RequestContext: Exchange {
    package static let noDeadline = Instant(nanoseconds: .max)

    /// What happens to this request; complete at its end. Another request of the worker gets it after
    /// this context is released.
    package let record: RequestRecord
    private let records: RequestRecordPool?

    // The properties that every request changes are unchecked, because no access calls other code, and
    // private, because the attribute has no effect in other modules.

    @exclusivity(unchecked) private var responseDeadline = RequestContext.noDeadline
    @exclusivity(unchecked) private var matchedEndpoint: Int?

    /// When the response must be ready; `noDeadline` until the endpoint's chain sets it.
    package var deadline: Instant {
        get { unsafe responseDeadline }
        set { unsafe responseDeadline = newValue }
    }

    /// The number of the matched endpoint; nil before and without a match.
    package var endpoint: Int? {
        get { unsafe matchedEndpoint }
        set { unsafe matchedEndpoint = newValue }
    }

    /// The client, as far as `clientAddress(of:_:)` has determined it.
    var client: ClientAddress?

    /// Who sent the request; nil for endpoints that are public.
    package internal(set) var caller: Caller?

    /// Why the request was refused; nil if it was not.
    package var refusal: RefusalReason?

    /// What exactly is wrong with the token of a refused request; nil for other refusals.
    package internal(set) var refusalCause: RefusalCause?

    /// The rate limits of this process that the request was charged to, as far as a later one may refuse
    /// it.
    var limitCharges: [LimitCharge] = []

    /// The same for the limits that replicas share.
    var sharedCharges: [SharedCharge] = []

    /// - Parameter records: provides the record, and takes it back; nil for a record of its own
    package init(_ start: ExchangeStart, records: RequestRecordPool? = nil) {
        self.records = records
        record = records?.take(began: start.began) ?? RequestRecord(began: start.began)
        super.init(start)
    }

    deinit {
        records?.give(record)
    }
}

extension Exchange {
    /// The same exchange, as the gateway knows it. Every server of the gateway makes contexts
    /// (`ServerHooks.makeExchange`).
    package var context: RequestContext {
        guard let context = self as? RequestContext else {
            preconditionFailure("the server made an exchange of its own")
        }
        return context
    }
}
