import Basics
import JSONText
import YAMLReader

/// The keys of a call and of its blocks.
extension Config.Call: NamedBlock {
    static let noun = "call"

    /// `[A-Za-z][A-Za-z0-9_-]*`
    package static func problem(withName name: String) -> String? {
        if name == "request" {
            return "no call can have the name 'request'; references such as {request.body} use it"
        }
        let isValid = Config.Param.isName(name) && name.first?.isLetter == true
        return isValid
            ? nil
            : "bad name '\(name)' of a call; names begin with a letter and consist of letters,"
                + " digits, _ and -"
    }

    static let alternatives = [requestKeys.map(\.name)]

    static let keys: [BlockKey<Config.Call>] =
        [
            .value("from", \.from, .text, isRequired: true, "name of the backend")
        ] + requestKeys + [
            .list("headers", \.headers, .headerTemplates, "header fields that this call sends"),
            .init("body", ValueReader.body.schema, "request body: \"{request.body}\", or a mapping")
            {
                $1.body = ValueReader.body.read($0.node, &$2)
            },
            .init(
                "form", ValueReader.form.schema,
                "fields of a form, instead of body: application/x-www-form-urlencoded"
            ) {
                $1.form = ValueReader.form.read($0.node, &$2)
            },
            .block(
                "forward", \.forward, default: .description("the endpoint's `forward`"),
                "client headers and query parameters to forward, instead of the endpoint's list"),
            .value(
                "forwarded", \.forwarded, .choice,
                default: .description("the backend's `forwarded`"),
                "headers that send the client's address: X-Forwarded-* (x), Forwarded (rfc7239)"),
            .value(
                "required", \.required, .flag, default: .flag(false),
                "whether a failure of this call fails the request"),
            .value(
                "accept", \.accept, .filledStatusList,
                default: .texts(PlanDefaults.accept.map(\.spelled)),
                "statuses treated as success"),
            .value(
                "relay_status", \.relayStatus, .statusList,
                default: .value(.list(PlanDefaults.relayStatus.map { .raw($0.spelled) })),
                "failure statuses of a required call that are relayed to the client"),
            .value(
                "relay_body", \.relayBody, .flag, default: .flag(false),
                "whether the backend's body is relayed with such a status"),
            .list(
                "relay_headers", \.relayHeaders, .list(of: .relayedHeader),
                "response headers that are relayed to the client"),
            .value("take", \.take, .path, "path of the part of the response that is used"),
            .value("keep", \.keep, .list(of: .path), "paths to keep; everything else is removed"),
            .list("drop", \.drop, .list(of: .path), "paths to remove"),
            .list(
                "rename", \.rename, .renames,
                "new names of keys, as path: name; \"*\": camel for all other keys"),
            .value(
                "at", \.at, .position,
                "where the response is put: . (the root), a path such as user.address, news[] (appended), or none"
            ),
            .value(
                "on_collision", \.onCollision, .choice, default: .choice(PlanDefaults.onCollision),
                "what happens if a key already exists: drop the later one, or fail its call"
            ),
            .value(
                "if_failed", \.ifFailed, .ifFailed, default: .value(.raw("null")),
                "fallback: value used if the call fails; omit leaves the key out"),
            .list(
                "after", \.after, .filledList(of: .text),
                "calls that must succeed first, whose values are not used"),
            .block("when", \.when, "condition without which the call is not made"),
        ] + Features.keys(\.call)

    /// `get:`, `post:`, ...; exactly one of them is written.
    private static let requestKeys: [BlockKey<Config.Call>] =
        [Config.Method.get, .post, .put, .patch, .delete, .head].map { method in
            let reader = ValueReader<LocatedTemplate>.target
            let name = method.rawValue.lowercased()
            return BlockKey(name, reader.schema, "sends \(method.rawValue) to this path and query")
            {
                member, call, decoder in
                guard let target = reader.read(member.node, &decoder), call.request == nil else {
                    return
                }
                call.request = Request(
                    method: Located(method, at: member.keyLocation), target: target)
            }
        }
}

extension ValueReader where Value == [ClosedRange<Int>] {
    /// An empty list contains no status: `relay_status: []` relays nothing.
    static var statusList: ValueReader {
        ValueReader<[Located<ClosedRange<Int>>]>.list(of: .statuses).map { $0.map(\.value) }
    }

    static var filledStatusList: ValueReader {
        ValueReader<[Located<ClosedRange<Int>>]>.filledList(of: .statuses).map { $0.map(\.value) }
    }
}

extension ValueReader where Value == [Config.Call.HeaderTemplate] {
    static var headerTemplates: ValueReader {
        .headers(of: .headerTemplate) { name, value in
            Config.Call.HeaderTemplate(name: name, value: value.value)
        }
    }
}

extension ValueReader where Value == [Config.Call.Rename] {
    static var renames: ValueReader {
        .map(of: .text, checkingKey: JSONPath.check) { path, name in
            Config.Call.Rename(path: path, name: name)
        }
    }
}

extension ValueReader where Value == String {
    static var relayedHeader: ValueReader {
        text(.headerName) { text throws(Refusal) in
            try HeaderSyntax.check(name: text)
            guard !HeaderSyntax.describesMessage(text) else {
                throw Refusal("must not be '\(text)'; the client's response has its own")
            }
        }
    }
}

extension ValueReader where Value == Config.Call.Position {
    static var position: ValueReader {
        let message =
            "must be . (the root), none, a path such as user.address, or news[] to append; without"
            + " 'at' the response is stored under the call's name"
        return .scalar(.either([.choice([".", "none"]), .text(format: .path)]), expected: message) {
            scalar throws(Refusal) in
            switch scalar.text {
            case ".": return .root
            case "none": return .absent
            default: break
            }
            guard var steps = (try? JSONPath(scalar.text))?.steps else {
                throw Refusal(.init(fixed: message))
            }
            if let elements = Config.Call.Position(intoElements: steps) { return elements }
            let appends = steps.last == .everyElement
            if appends { steps.removeLast() }
            let keys = steps.compactMap { step in
                if case .key(let key) = step { String(key) } else { nil as String? }
            }
            guard keys.count == steps.count, !keys.isEmpty else {
                throw Refusal(.init(fixed: message))
            }
            return appends ? .array(keys) : .member(keys)
        }
    }
}

extension Config.Call.Position {
    /// Nil for a path that does not lead into the elements of a list.
    fileprivate init?(intoElements steps: [JSONPath.Step]) {
        guard let last = steps.lastIndex(of: .everyElement), last > 0, last < steps.count - 1 else {
            return nil
        }
        let keys = steps[(last + 1)...].compactMap { step in
            if case .key(let key) = step { String(key) } else { nil as String? }
        }
        guard keys.count == steps.count - 1 - last, !steps[..<last].contains(.everyElement) else {
            return nil
        }
        self = .elements(JSONPath(steps: Array(steps[..<last])), keys)
    }
}
