import Basics
package import HTTP
import JSONText

/// What the response of an endpoint has in addition to the parts of its calls.
package final class RespondPlan {
    /// Of a complete response.
    package let status: Status
    let headers: [(name: FieldName, value: CompiledTemplate)]
    let put: [(name: JSONName, value: ValuePlan)]
    let drop: JSONShape?
    let droppedPaths: [JSONPath]
    let defaults: JSONDefaults?
    let defaultValues: [(path: JSONPath, value: JSONSlice)]
    /// The whole body, instead of the parts.
    let root: ValuePlan?
    /// The body of an endpoint without calls.
    let body: Body?
    /// For `explain`: whether its values may contain variables.
    let isConfidential: Bool

    enum Body {
        /// Sent as it is.
        case text(Bytes)
        case json(ValuePlan)
    }

    init(_ respond: Config.Respond, _ planner: EndpointPlanner) throws(PlanError) {
        let templates = TemplatePlanner(scope: planner.requestScope)
        status = respond.status.flatMap { Status($0.value) } ?? .ok
        headers = try planner.headers(of: respond)
        var put: [(name: JSONName, value: ValuePlan)] = []
        for member in respond.put {
            put.append((JSONName(member.name.value), try templates.value(member.value)))
        }
        self.put = put
        do {
            droppedPaths = try respond.drop.map { try JSONPath($0.value) }
            drop = droppedPaths.isEmpty ? nil : try JSONShape(drop: droppedPaths)
            defaultValues = try respond.defaults.map {
                (path: try JSONPath($0.path.value), value: try JSONSlice(validating: $0.value))
            }
            defaults = defaultValues.isEmpty ? nil : JSONDefaults(defaultValues)
        } catch {
            throw PlanError("\(respond.location): \(error)")
        }
        root = try respond.root.map { root throws(PlanError) in try templates.value(root.value) }
        body =
            switch respond.body?.value {
            case nil: nil
            case .text(let text): .text(Bytes(text))
            case .json(let value): .json(try templates.value(value))
            }
        isConfidential = respond.isConfidential
    }

    /// All references of its values.
    var references: [CompiledTemplate.Reference] {
        var values = put.map(\.value) + [root].compactMap { $0 }
        if case .json(let value)? = body { values.append(value) }
        return headers.flatMap(\.value.references) + values.flatMap(\.references)
    }

    /// Whether it uses the response of a call.
    var usesCalls: Bool {
        references.contains { if case .call = $0.source { true } else { false } }
    }
}

extension EndpointPlanner {
    func respond() throws(PlanError) -> RespondPlan? {
        try endpoint.respond.map { respond throws(PlanError) in try RespondPlan(respond, self) }
    }

    /// Without the headers that all responses of the endpoint have.
    fileprivate func headers(
        of respond: Config.Respond
    ) throws(PlanError) -> [(name: FieldName, value: CompiledTemplate)] {
        let templates = TemplatePlanner(scope: requestScope)
        let fixed = try fixedFields()
        var headers: [(name: FieldName, value: CompiledTemplate)] = []
        for header in respond.headers {
            let name = try fieldName(header.name)
            guard !fixed.contains(name) else { continue }
            let value = try templates.field(header.value)
            headers.append((name, name.isLocation ? value.asReference : value))
        }
        return headers
    }

    /// `root` may be any value, so that the report has no place in it.
    var report: Config.Endpoint.Report {
        let report = config.report(of: endpoint).value
        return report == .body && endpoint.respond?.root != nil ? .header : report
    }
}

extension FieldName {
    /// Whether its value is a URI reference (RFC 9110, sections 8.7 and 10.2.2).
    fileprivate var isLocation: Bool { self == "Location" || self == "Content-Location" }
}

extension CompiledTemplate {
    /// Values behind other text are escaped as in a path, and must not leave a segment empty, `.` or `..`, so
    /// that they do not change where the reference leads. A value at the start may be a whole URL.
    fileprivate var asReference: CompiledTemplate {
        func escaped(_ pieces: [Piece]) -> [Piece] {
            pieces.enumerated().map { index, piece in
                guard index > 0, case .reference(let reference, _) = piece else { return piece }
                return .reference(reference, .pathSegment)
            }
        }
        let pieces = escaped(pieces)
        return CompiledTemplate(
            pieces: pieces, concealed: concealed.map(escaped),
            riskySegments: CompiledTemplate.riskySegments(of: pieces))
    }
}
