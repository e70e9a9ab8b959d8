package import Basics
package import HTTP
package import JSONText
import Patterns

/// The values that a condition tests: those of a whole request (`CallValues`), or of its head only
/// (`HeadValues`).
package protocol ConditionValues {
    /// The plain text of a value; nil where it is missing, null, an object or an array.
    func text(of source: CompiledTemplate.Source) -> Bytes?

    /// The value as JSON; nil where it is missing or null, and for values without a JSON type.
    func json(of source: CompiledTemplate.Source) -> JSONSlice?

    /// Whether the client sent the parameter with this index.
    func wasSent(param index: Int) -> Bool

    /// False if only a real request has the value, so that `explain` cannot know it.
    func isKnown(_ source: CompiledTemplate.Source) -> Bool
}

extension ConditionValues {
    package func isKnown(_ source: CompiledTemplate.Source) -> Bool { true }
}

extension CallValues: ConditionValues {
    package func wasSent(param index: Int) -> Bool { params.wasSent(index) }
}

/// The values of a head without a client, for `explain`: the client's address is not known.
struct ClientlessValues: ConditionValues {
    let values: HeadValues

    func text(of source: CompiledTemplate.Source) -> Bytes? { values.text(of: source) }
    func json(of source: CompiledTemplate.Source) -> JSONSlice? { values.json(of: source) }
    func wasSent(param index: Int) -> Bool { values.wasSent(param: index) }

    func isKnown(_ source: CompiledTemplate.Source) -> Bool {
        if case .requestClient = source { false } else { true }
    }
}

/// The values of a request's head, for `require`: parameters, headers, query and the client's
/// address. They are read before the body, and before the parameters are validated: a parameter that
/// is not valid counts as missing.
///
/// A body or a response has no value here; `check` refuses conditions that would need one.
package struct HeadValues: ConditionValues {
    private let head: RequestHead
    private let params: [ParamPlan]
    private let exchange: Exchange
    private let proxies: TrustedProxies

    package init(
        _ head: RequestHead, params: [ParamPlan], exchange: Exchange, proxies: TrustedProxies
    ) {
        self.head = head
        self.params = params
        self.exchange = exchange
        self.proxies = proxies
    }

    package func text(of source: CompiledTemplate.Source) -> Bytes? {
        switch source {
        case .param(let index): sent(index) ?? params[index].defaultValue
        case .requestHeader(let name): head.fields[name].map { $0.bytes }
        case .requestQuery(let name): head.target.value(ofQuery: name)
        case .requestClient: exchange.clientAddress(of: head, proxies).text
        case .requestCaller: exchange.caller?.name
        case .token: json(of: source)?.text
        case .requestBody, .call: nil
        }
    }

    package func json(of source: CompiledTemplate.Source) -> JSONSlice? {
        switch source {
        case .token(let path):
            exchange.caller?.claims.flatMap { try? JSONSlice(validating: $0).value(at: path) }
        case .param, .requestHeader, .requestQuery, .requestClient, .requestCaller, .requestBody,
            .call:
            nil
        }
    }

    package func wasSent(param index: Int) -> Bool { sent(index) != nil }

    private func sent(_ index: Int) -> Bytes? {
        var work = PatternWork()
        guard case .value(let value) = params[index].read(head, &work) else { return nil }
        return value
    }
}
