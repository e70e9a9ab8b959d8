import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// Makes the request of one call out of its templates and the values of the running request.
struct RequestBuilder {
    private let plan: CallPlan
    private let params: [ParamPlan]
    private let calls: [String]
    /// The target, where no value and nothing of the client's query is in it.
    private let constantTarget: Target?

    /// - Parameters:
    ///   - params: the endpoint's, for the names of what a client did not send
    ///   - calls: the names of the endpoint's calls
    init(_ plan: CallPlan, params: [ParamPlan], calls: [String]) {
        self.plan = plan
        self.params = params
        self.calls = calls
        constantTarget =
            plan.forward.query == nil ? plan.target.constant.flatMap { Target($0) } : nil
    }

    /// Throws `skipped` where a value is missing.
    func request(
        with values: CallValues, deadline: Instant, askedHost: AskedHost?
    ) throws(CallFailure) -> CallRequest {
        CallRequest(
            method: plan.method,
            target: try target(values),
            fields: try fields(values),
            body: try body(values),
            answerMax: plan.answerMax,
            deadline: deadline,
            askedHost: askedHost)
    }

    // MARK: Target

    private func target(_ values: CallValues) throws(CallFailure) -> Target {
        if let constantTarget { return constantTarget }
        var target: [UInt8] = []
        target.reserveCapacity(128)
        for piece in plan.target.pieces {
            switch piece {
            case .literal(let bytes): target.append(bytes)
            case .value(let source, let place, let name):
                let text = try text(of: source, name, in: values)
                switch place {
                case .pathSegment:
                    guard !text.isDotSegment else { throw skipped(source, name) }
                    target.append(percentEncoding: text.span)
                case .query, .field: target.append(percentEncoding: text.span)
                }
            }
        }
        plan.forward.query?.append(from: values.head.target, to: &target)

        guard let target = Target(Bytes(target)) else {
            throw CallFailure(kind: .skipped, detail: "the values make no request target")
        }
        return target
    }

    // MARK: Head

    private func fields(_ values: CallValues) throws(CallFailure) -> Fields {
        var fields = Fields()
        for name in plan.forward.headers {
            for value in values.head.fields.all(name) { fields.append(name, value) }
        }
        for (name, template) in plan.headers {
            fields.append(name, try fieldValue(template, values))
        }
        if plan.body != nil, fields[.contentType] == nil {
            fields.append(.contentType, "application/json")
        }
        return fields
    }

    private func fieldValue(
        _ template: URLTemplate, _ values: CallValues
    ) throws(CallFailure) -> FieldValue {
        var text: [UInt8] = []
        var last: (URLTemplate.Source, String)?
        for piece in template.pieces {
            switch piece {
            case .literal(let bytes): text.append(bytes)
            case .value(let source, _, let name):
                text.append(try self.text(of: source, name, in: values) as Bytes)
                last = (source, name)
            }
        }
        // A value that could split a head counts as missing: it cannot be sent.
        guard let value = FieldValue(Bytes(text)) else {
            guard let last else { throw CallFailure(kind: .skipped) }
            throw skipped(last.0, last.1)
        }
        return value
    }

    // MARK: Body

    private func body(_ values: CallValues) throws(CallFailure) -> Bytes {
        guard let template = plan.body else { return Bytes() }
        if template.isWholeBody {
            guard !values.body.isEmpty else { throw skipped(.requestBody(nil), "request.body") }
            return values.body
        }
        var body: [UInt8] = []
        for piece in template.pieces {
            switch piece {
            case .literal(let bytes): body.append(bytes)
            case .json(let source, let isTextual, let name):
                if let json = values.json(of: source) {
                    body.append(json.bytes)
                } else {
                    let text = try text(of: source, name, in: values)
                    if isTextual { body.append(jsonString: text) } else { body.append(text) }
                }
            case .insideString(let source, let name):
                body.append(insideJSONString: try text(of: source, name, in: values))
            }
        }
        return Bytes(body)
    }

    // MARK: Missing values

    private func text(
        of source: URLTemplate.Source, _ name: String, in values: CallValues
    ) throws(CallFailure) -> Bytes {
        guard let text = values.text(of: source) else { throw skipped(source, name) }
        return text
    }

    private func skipped(_ source: URLTemplate.Source, _ name: String) -> CallFailure {
        let because: CallFailure.Because =
            switch source {
            case .call(let index, _): .call(calls[index])
            case .param(let index): .client("params.\(params[index].name)")
            case .requestHeader, .requestBody: .client(name)
            }
        return CallFailure(kind: .skipped, because: because)
    }
}

extension Bytes {
    /// `.` and `..`, which a server would take for a step up its tree, however they are escaped.
    fileprivate var isDotSegment: Bool {
        let dot = UInt8(ascii: ".")
        return (count == 1 && self[0] == dot) || (count == 2 && self[0] == dot && self[1] == dot)
    }
}
