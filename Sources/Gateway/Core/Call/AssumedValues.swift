import Basics
import HTTP
import JSONText

/// The values of a request that `explain` describes and does not send.
///
/// Values that only a real request has count as there, with a text that fits at every place, so that
/// `RequestBuilder` decides as for a real request whether the others can be sent.
package final class AssumedValues: CallValues {
    private let isBodyKnown: Bool
    private let isElementKnown: Bool
    /// The calls whose responses the request alone decides.
    private var knownCalls: Set<Int> = []

    /// - Parameters:
    ///   - body: nil where it is not known
    ///   - context: for the caller; nil where no credential was checked
    override init(
        head: RequestHead, params: Params, body: Bytes?, checkedBody: JSONSlice?, calls: Int,
        context: RequestContext?, proxies: TrustedProxies
    ) {
        isBodyKnown = body != nil
        isElementKnown = false
        super.init(
            head: head, params: params, body: body ?? Bytes(), checkedBody: checkedBody,
            calls: calls, context: context, proxies: proxies)
    }

    private init(_ values: AssumedValues, _ element: ListElement) {
        isBodyKnown = values.isBodyKnown
        isElementKnown = true
        knownCalls = values.knownCalls
        super.init(of: values, element)
    }

    override func with(_ element: ListElement) -> CallValues { AssumedValues(self, element) }

    /// The list of a call has no elements, so that its value is an empty array.
    func storeEmptyList(of call: Int) {
        knownCalls.insert(call)
        store(.emptyArray, of: call)
    }

    package override func isAssumed(_ source: CompiledTemplate.Source) -> Bool {
        switch source {
        case .call(let call, _): !knownCalls.contains(call)
        case .requestClient: true
        case .element: !isElementKnown
        case .requestCaller, .token: !hasCaller
        case .requestBody: !isBodyKnown
        case .param, .requestHeader, .requestQuery: false
        }
    }

    /// Valid in a path, a query, a header and a body.
    static let text = Bytes("x")
}

extension CallValues {
    /// Why a value that the client sent cannot be used: a query parameter that occurs twice or has an
    /// invalid escape. Nil for any other.
    package func refusal(of source: CompiledTemplate.Source) -> Reason? {
        guard case .requestQuery(let name) = source else { return nil }
        return head.target.refusal(ofQuery: name)
    }
}
