import Basics
import HTTP
import HTTPClient
import JSONText
import Promises
import Reactor

/// Builds the request of one call from its templates and the values of the client's request.
struct RequestBuilder {
    private let plan: CallPlan
    private let names: ValueNames
    /// The target, where it contains neither a value nor a part of the client's query.
    private let constantTarget: Target?
    private let targetTemplate: TargetTemplate
    /// What all requests share: with those fields of the backend that the call does not set itself.
    private let template: RequestTemplate
    /// Whether the backend's fields have the type of the body.
    private let hasContentType: Bool
    private let forwarded: ForwardedHeaders
    /// Whether a request can have fields of its own.
    private let hasFields: Bool

    /// Bytes reserved for the fields of one call; enough for most.
    private static let reservedFieldBytes = 128

    /// The segments of the path that values could make empty, `.` or `..`, and that were not
    /// checked with the request.
    private let lateSegments: [RiskySegment]

    /// - Parameters:
    ///   - backendFields: the `headers` of the call's backend
    ///   - template: with the plan's `constantFields`
    ///   - names: of values that are missing
    init(
        _ plan: CallPlan, backendFields: Fields, template: RequestTemplate, names: ValueNames
    ) {
        self.plan = plan
        self.template = template
        hasContentType = plan.constantFields(of: backendFields).contains(.contentType)
        forwarded = ForwardedHeaders(plan, backendFields: backendFields)
        targetTemplate = TargetTemplate(plan.target)
        hasFields =
            !(plan.headers.isEmpty && forwarded.ofClients.isEmpty && forwarded.ofProxies.isEmpty
            && forwarded.generated.isEmpty)
        self.names = names
        lateSegments = plan.target.riskySegments.filter {
            $0.usesResponse || !plan.conditionCalls.isEmpty
        }
        constantTarget =
            plan.forward.query == nil ? plan.target.constant.flatMap { Target($0) } : nil
    }

    /// Throws `skipped` where a value is missing.
    func request(with values: CallValues) throws(CallFailure) -> ClientRequest {
        let target = try target(values)
        var fields = try fields(values)
        let body = try body(values)
        if body != nil, !hasContentType, !fields.contains(.contentType) {
            fields.append(.contentType, plan.body?.contentType ?? BodyTemplatePlan.json)
        }
        return ClientRequest(
            method: plan.method, target: target, template: template, fields: fields,
            body: .bytes(body ?? Bytes()))
    }

    // MARK: Target

    private func target(_ values: CallValues) throws(CallFailure) -> Target {
        if let constantTarget { return constantTarget }
        // The client's values were checked with the request; the values of other calls are known now.
        try checkSegments(values)
        var target: [UInt8] = []
        target.reserveCapacity(128)
        var queryStart: Int?
        for part in targetTemplate.parts {
            switch part {
            case .literal(let range):
                queryStart = queryStart ?? targetTemplate.queryStart(in: range, at: target.count)
                targetTemplate.append(range, to: &target)
            case .param(let index, let reference):
                if let text = values.params[index] {
                    target.append(percentEncoding: text.span)
                } else if let text = try text(of: reference, in: values) {
                    target.append(percentEncoding: text.span)
                }
            case .value(let reference):
                guard let text = try text(of: reference, in: values) else { continue }
                target.append(percentEncoding: text.span)
            case .list(let reference):
                let reference = targetTemplate.references[reference]
                if let text = values.escapedText(of: reference) {
                    target.append(text)
                } else if let text = try replacement(for: reference, in: values) {
                    target.append(text)
                }
            }
        }
        guard target.count <= Limits.fieldBytesMax else {
            throw longest(of: targetTemplate.references, values).map(skipped) ?? Self.noTarget
        }
        if plan.forward.query == nil, targetTemplate.isAlwaysValid {
            return Target(assembled: Bytes(target), pathEnd: queryStart ?? target.count)
        }
        plan.forward.query?.append(from: values.head.target, to: &target)
        guard target.count <= Limits.fieldBytesMax, let target = Target(Bytes(target)) else {
            throw Self.noTarget
        }
        return target
    }

    private static let noTarget = CallFailure.skipped(
        .unusable("the values make no request target"))

    /// Like `text(of:in:)`, for a reference of the target by its place.
    private func text(of reference: Int, in values: CallValues) throws(CallFailure) -> Bytes? {
        try text(of: targetTemplate.references[reference], in: values)
    }

    private func checkSegments(_ values: CallValues) throws(CallFailure) {
        for segment in lateSegments {
            if segment.isRefused(in: values) {
                throw skipped(segment.reported)
            }
        }
    }

    // MARK: Head

    /// The fields of this call only.
    private func fields(_ values: CallValues) throws(CallFailure) -> Fields {
        // A request that other gateways of this kind have passed on is rare.
        guard hasFields || values.head.hasVia else { return Fields() }
        var fields = plan.headers.isEmpty ? Fields() : Fields(reserving: Self.reservedFieldBytes)
        fields.append(forwarded.ofClients, of: values.head)
        if !forwarded.ofProxies.isEmpty, values.client?.isProxied == true {
            fields.append(forwarded.ofProxies, of: values.head)
        }
        values.appendForwarded(forwarded.generated, to: &fields)
        for line in values.head.fields.all(.via) where ViaEntry.isNeeded(of: line) {
            fields.append(.via, line)
        }
        for (name, template) in plan.headers {
            guard let value = try fieldValue(template, values) else { continue }
            fields.append(name, value)
        }
        return fields
    }

    /// Nil where an optional value is absent: the line is left out.
    private func fieldValue(
        _ template: CompiledTemplate, _ values: CallValues
    ) throws(CallFailure) -> FieldValue? {
        var text: [UInt8] = []
        for piece in template.pieces {
            switch piece {
            case .literal(let bytes): text.append(bytes)
            case .reference(let reference, _):
                guard let bytes = try self.text(of: reference, in: values) else { return nil }
                text.append(bytes)
            }
        }
        guard text.count <= Limits.fieldBytesMax else {
            throw longest(of: template.references, values).map(skipped) ?? Self.noFieldValue
        }
        // A value that could split the head counts as missing.
        guard let value = FieldValue(Bytes(text)) else {
            let unusable = template.references.first { reference in
                values.text(of: reference).map { FieldValue($0) == nil } ?? false
            }
            throw unusable.map(skipped) ?? Self.noFieldValue
        }
        return value
    }

    // MARK: Body

    /// Nil where no body is sent: the call has none, or its body is an optional reference without a
    /// value.
    private func body(_ values: CallValues) throws(CallFailure) -> Bytes? {
        guard let template = plan.body else { return nil }
        if let whole = template.wholeBody {
            if !values.body.isEmpty { return values.body }
            guard whole.isOptional || values.isAssumed(whole.source) else { throw skipped(whole) }
            return nil
        }
        var body: [UInt8] = []
        for piece in template.pieces {
            switch piece {
            case .literal(let bytes): body.append(bytes)
            case .json(let reference, let isTextual):
                let isWhole = template.pieces.count == 1
                guard try append(reference, isTextual, to: &body, values) || !isWhole else {
                    return nil
                }
            case .insideString(let reference):
                try append(reference, escapedFor: template, to: &body, values)
            case .comma: template.appendSeparator(to: &body)
            case .optionalEntry(let key, let reference, let isTextual):
                guard !values.isAbsent(reference.source) else { continue }
                template.appendSeparator(to: &body)
                body.append(key)
                if template.isForm {
                    try append(reference, escapedFor: template, to: &body, values)
                } else {
                    _ = try append(reference, isTextual, to: &body, values)
                }
            }
        }
        return Bytes(body)
    }

    /// Appends a text, unless it is optional and absent.
    private func append(
        _ reference: CompiledTemplate.Reference, escapedFor template: BodyTemplatePlan,
        to body: inout [UInt8], _ values: CallValues
    ) throws(CallFailure) {
        guard let text = try text(of: reference, in: values) else { return }
        guard template.isForm || text.isUTF8 else { throw skipped(reference) }
        template.append(text, to: &body)
    }

    /// Appends the JSON of a value; false for an optional one that is absent.
    private func append(
        _ reference: CompiledTemplate.Reference, _ isTextual: Bool, to body: inout [UInt8],
        _ values: CallValues
    ) throws(CallFailure) -> Bool {
        if let json = values.json(of: reference.source) {
            body.append(json.bytes)
            return true
        }
        guard let text = try text(of: reference, in: values) else { return false }
        // Invalid JSON must not become a part of the body: neither a request body that is not JSON
        // nor a header or query value that is not UTF-8.
        if case .requestBody = reference.source, !values.isAssumed(reference.source) {
            throw skipped(reference)
        }
        guard text.isUTF8 else { throw skipped(reference) }
        if isTextual { body.append(jsonString: text) } else { body.append(text) }
        return true
    }

    private static let noFieldValue = CallFailure.skipped(
        .unusable("the value cannot be a header value"))

    // MARK: Missing values

    /// Nil for an optional value that is absent; throws `skipped` where any other is missing.
    private func text(
        of reference: CompiledTemplate.Reference, in values: CallValues
    ) throws(CallFailure) -> Bytes? {
        if let text = values.text(of: reference) { return text }
        return try replacement(for: reference, in: values)
    }

    /// What takes the place of a value that is missing: see `text(of:in:)`.
    private func replacement(
        for reference: CompiledTemplate.Reference, in values: CallValues
    ) throws(CallFailure) -> Bytes? {
        guard reference.isOptional, values.isAbsent(reference.source) else {
            if values.isAssumed(reference.source) { return AssumedValues.text }
            throw skipped(reference)
        }
        return nil
    }

    /// The reference with the longest value, which counts as missing where a target or a header value
    /// is too long; nil without references.
    private func longest(
        of references: [CompiledTemplate.Reference], _ values: CallValues
    ) -> CompiledTemplate.Reference? {
        let lengths = references.map { values.text(of: $0)?.count ?? 0 }
        return lengths.indices.max { lengths[$0] < lengths[$1] }.map { references[$0] }
    }

    private func skipped(_ reference: CompiledTemplate.Reference) -> CallFailure {
        .skipped(names.reason(naming: reference))
    }
}

extension CallPlan {
    /// The backend's fields that the call does not set itself. Unless the configuration sets or forwards
    /// them, also the gateway's `User-Agent`, and `Accept-Encoding`, since the body of the response must
    /// have no coding (RFC 9110 12.5.3).
    func constantFields(of backendFields: Fields) -> Fields {
        var fields = backendFields
        for header in headers { fields.removeAll(header.name) }
        if !fields.contains(.acceptEncoding), !sendsOwn(.acceptEncoding) {
            fields.append(.acceptEncoding, "identity")
        }
        return sendsOwn(.userAgent) ? fields : fields.namingProduct()
    }

    /// Whether the call sets or forwards a header.
    private func sendsOwn(_ name: FieldName) -> Bool {
        headers.contains { $0.name == name } || forward.headers.contains(name)
    }

    /// The same with the gateway's entry in `Via`. Calls are requests of HTTP/1.1 or later.
    func constantFields(of backendFields: Fields, _ via: ViaEntry) -> Fields {
        var fields = constantFields(of: backendFields)
        fields.append(.via, via.value(for: .http11))
        return fields
    }

    /// The statuses for which nothing uses the fields of a response, `Retry-After` included: the statuses of
    /// a part without relayed headers. Nil for none.
    var statusesWithoutFields: ClosedRange<Int>? {
        guard relayHeaders.isEmpty, retry == nil, accept.count == 1,
            (200...299).contains(accept[0].lowerBound), accept[0].upperBound <= 299
        else { return nil }
        return accept[0]
    }
}

extension Fields {
    /// Appends all lines of these headers of a request.
    fileprivate mutating func append(_ names: [FieldName], of head: RequestHead) {
        for name in names {
            for value in head.fields.all(name) { append(name, value) }
        }
    }
}

extension Bytes {
    var isUTF8: Bool { (try? UTF8Span(validating: span)) != nil }
}
