import Basics
import JSONText
package import YAMLReader

extension Config {
    /// `respond:` of an endpoint.
    package struct Respond: Sendable {
        package let location: SourceLocation
        /// Of a complete response.
        package var status: Located<Int>?
        package var headers: [Call.HeaderTemplate] = []
        package var put: [Member] = []
        package var defaults: [Default] = []
        package var drop: [Located<String>] = []
        package var root: Located<ValueTemplate>?
        package var body: Located<Body>?
        /// Whether a variable or a secret's file is part of a value; `explain` then shows none.
        var isConfidential = false

        init(location: SourceLocation) {
            self.location = location
        }

        /// Records that a value contains a variable.
        fileprivate mutating func note(_ member: DocumentNode.Member) {
            if member.node.hasExpansion { isConfidential = true }
        }

        /// One of `put:`.
        package struct Member: Sendable {
            package let name: Located<String>
            package let value: ValueTemplate
        }

        /// One of `default:`.
        package struct Default: Sendable {
            package let path: Located<String>
            /// JSON.
            let value: Bytes
        }

        /// `body:`, the body of an endpoint without calls.
        package enum Body: Sendable {
            /// Sent as it is.
            case text(String)
            case json(ValueTemplate)
        }
    }
}

extension Config.Respond: PlainBlock {
    static let keys: [BlockKey<Config.Respond>] = [
        .value(
            "status", \.status, .count(200...599), default: .number(200),
            "status of a complete response"),
        .list("headers", \.headers, .respondHeaders, "header fields, with references"),
        .init("put", .map(.anything), "members that are added: values with references") {
            member, block, decoder in
            block.note(member)
            let reader = ValueReader<[Member]>.putMembers
            block.put = reader.read(member.node, &decoder) ?? []
        },
        .init("default", .map(.anything), "values of members that are missing or null, by path") {
            member, block, decoder in
            block.note(member)
            block.defaults = ValueReader<[Default]>.defaults.read(member.node, &decoder) ?? []
        },
        .list("drop", \.drop, .list(of: .path), "paths to remove"),
        .init("root", .anything, "value that is the whole body, with references") {
            member, block, decoder in
            block.note(member)
            block.root = decoder.valueTemplate(member.node).map { Located($0, of: member.node) }
        },
        .init(
            "body", .either([.text(format: .text), .list(.anything), .map(.anything)]),
            "body of an endpoint without calls: a text, or a value with references"
        ) {
            member, block, decoder in
            block.note(member)
            block.body = decoder.responseBody(member.node).map { Located($0, of: member.node) }
        },
    ]
}

enum RespondKeys {
    static let endpoint: [BlockKey<Config.Endpoint>] = [
        .block(
            "respond", \.respond,
            "what the response has in addition to the parts of the calls; without calls, the whole response"
        )
    ]
}

extension Config.Endpoint {
    /// The references of `respond`. A missing value leaves its entry out.
    package var respondReferences: [Located<TemplateText.Reference>] {
        guard let respond else { return [] }
        var values = respond.put.map(\.value) + [respond.root?.value].compactMap { $0 }
        if case .json(let value)? = respond.body?.value { values.append(value) }
        return respond.headers.flatMap(\.value.locatedReferences) + values.flatMap(\.references)
    }
}

// MARK: Readers

extension ConfigDecoder {
    fileprivate mutating func responseBody(_ node: DocumentNode) -> Config.Respond.Body? {
        guard case .scalar = node.content else { return valueTemplate(node).map { .json($0) } }
        let message = "must be a text, a mapping or a list"
        guard let scalar = scalar(node, expected: message) else { return nil }
        guard scalar.type == .string else {
            fail(node.location, message)
            return nil
        }
        return .text(scalar.text)
    }
}

extension ValueReader where Value == [Config.Call.HeaderTemplate] {
    fileprivate static var respondHeaders: ValueReader {
        let map = ValueReader.map(
            of: .headerTemplate, checkingKey: HeaderSyntax.check(respondName:)
        ) { name, value in Config.Call.HeaderTemplate(name: name, value: value.value) }
        return ValueReader(
            schema: .headers(ValueReader<LocatedTemplate>.headerTemplate.schema), read: map.read)
    }
}

extension HeaderSyntax {
    /// What the gateway sets where there are calls; checked with the other keys.
    static let ofFixedResponses = ["content-type", "retry-after", "allow"]

    @Sendable fileprivate static func check(respondName name: String) throws(Refusal) {
        if !ofFixedResponses.contains(name.lowercased()) { try check(responseName: name) }
    }
}

extension ValueReader where Value == ValueTemplate {
    fileprivate static var value: ValueReader {
        ValueReader(schema: .anything) { $1.valueTemplate($0) }
    }
}

extension ValueReader where Value == [Config.Respond.Member] {
    fileprivate static var putMembers: ValueReader {
        .map(of: .value, checkingKey: { _ in }) { name, value in
            Config.Respond.Member(name: name, value: value.value)
        }
    }
}

extension ValueReader where Value == [Config.Respond.Default] {
    fileprivate static var defaults: ValueReader {
        .map(of: .json, checkingKey: JSONPath.check(default:)) { path, value in
            Config.Respond.Default(path: path, value: value.value)
        }
    }
}

extension JSONPath {
    @Sendable fileprivate static func check(default text: String) throws(Refusal) {
        try check(text)
        guard let steps = (try? JSONPath(text))?.steps, case .key? = steps.last,
            !steps.contains(where: { if case .element = $0 { true } else { false } })
        else {
            throw Refusal("must be a path of keys and [] with a key at its end, not '\(text)'")
        }
    }
}
