import JSONText
import YAMLReader

extension Config.Call: NamedBlock {
    static let word = "call"

    /// `[A-Za-z][A-Za-z0-9_-]*`
    package static func problem(withName name: String) -> String? {
        if name == "request" { return "no call can be called 'request'; {request.body} has it" }
        let isRight = Config.Param.isName(name) && name.first?.isLetter == true
        return isRight
            ? nil
            : "bad name '\(name)' of a call; it must begin with a letter and may have letters,"
                + " digits, _ and -"
    }

    static let alternatives = [requestKeys.map(\.name)]

    static let keys: [BlockKey<Config.Call>] =
        [
            .value("from", \.from, .text, isRequired: true, "the backend's name")
        ] + requestKeys + [
            .list("headers", \.headers, .headerTemplates, "sent with this call"),
            .init("body", Reading.body.schema, "what is sent: \"{request.body}\", or a mapping") {
                $1.body = Reading.body.read($0.node, &$2)
            },
            .block(
                "forward", \.forward, default: .words("that of the endpoint"),
                "replaces the endpoint's"),
            .value(
                "forwarded", \.forwarded, .choice, default: .words("that of the backend"),
                "sends the client's address: X-Forwarded-* (x), Forwarded (rfc7239)"),
            .value(
                "required", \.required, .flag, default: .flag(false),
                "whether its failure fails the request"),
            .value(
                "timeout", \.timeout, .duration, default: .words("that of the endpoint"),
                "limit on this call"),
            .value(
                "accept", \.accept, .filledStatusList,
                default: .texts(PlanDefaults.accept.map(\.spelled)),
                "statuses that are no failure"),
            .value(
                "relay_status", \.relayStatus, .statusList,
                default: .value(.list(PlanDefaults.relayStatus.map { .raw($0.spelled) })),
                "statuses of a required call that reach the client"),
            .value(
                "relay_body", \.relayBody, .flag, default: .flag(false),
                "whether the body goes with such a status"),
            .list(
                "relay_headers", \.relayHeaders, .list(of: .relayedHeader),
                "headers of the answer that reach the client"),
            .block("retry", \.retry, "tries again after a failure"),
            .block("hedge", \.hedge, "asks once more if the answer is late"),
            .value("take", \.take, .path, "the part of the answer that is used"),
            .value("keep", \.keep, .list(of: .path), "nothing else of it stays"),
            .list("drop", \.drop, .list(of: .path), "goes"),
            .list("rename", \.rename, .renames, "path: new name"),
            .value("at", \.at, .spot, ". merges the answer into the root"),
            .value(
                "on_collision", \.onCollision, .choice, default: .choice(PlanDefaults.onCollision),
                "what becomes of the later of two equal keys at the root"),
            .value(
                "if_failed", \.ifFailed, .ifFailed, default: .value(.raw("null")),
                "stands for a failed call: omit or a value"),
            .list(
                "after", \.after, .filledList(of: .text),
                "calls to wait for without using their values"),
            .block("when", \.when, "calls only if a parameter was sent"),
        ]

    /// `get:`, `post:`, ...; exactly one of them is written.
    private static let requestKeys: [BlockKey<Config.Call>] =
        [Config.Method.get, .post, .put, .patch, .delete, .head].map { method in
            let reading = Reading<LocatedTemplate>.target
            let name = method.rawValue.lowercased()
            return BlockKey(name, reading.schema, "\(method.rawValue) this path and query") {
                member, call, decoder in
                guard let target = reading.read(member.node, &decoder), call.request == nil else {
                    return
                }
                call.request = Request(
                    method: Located(method, at: member.keyLocation), target: target)
            }
        }
}

extension Reading where Value == [ClosedRange<Int>] {
    /// Empty, it names no status at all: `relay_status: []` relays nothing.
    static var statusList: Reading {
        Reading<[Located<ClosedRange<Int>>]>.list(of: .statuses).map { $0.map(\.value) }
    }

    static var filledStatusList: Reading {
        Reading<[Located<ClosedRange<Int>>]>.filledList(of: .statuses).map { $0.map(\.value) }
    }
}

extension Reading where Value == [Config.Call.HeaderTemplate] {
    static var headerTemplates: Reading {
        .headers(of: .headerTemplate) { name, value in
            Config.Call.HeaderTemplate(name: name, value: value.value)
        }
    }
}

extension Reading where Value == [Config.Call.Rename] {
    static var renames: Reading {
        .map(of: .text, checkingKey: JSONPath.check) { path, name in
            Config.Call.Rename(path: path, name: name)
        }
    }
}

extension Reading where Value == String {
    static var relayedHeader: Reading {
        text(.headerName) { text throws(Refusal) in
            try HeaderSyntax.check(name: text)
            guard !HeaderSyntax.isOfTheMessage(text) else {
                throw Refusal("must not name '\(text)'; the answer has its own")
            }
        }
    }
}

extension Reading where Value == Config.Call.Spot {
    static var spot: Reading {
        let words = "must be . (the root); without 'at' the answer stands under the call's name"
        return .scalar(.choice(["."]), expected: words) { scalar throws(Refusal) in
            guard let spot = Config.Call.Spot(rawValue: scalar.text) else {
                throw Refusal(.init(fixed: words))
            }
            return spot
        }
    }
}

extension Config.Call.Retry: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value(
            "attempts", \.attempts, .count(1...10), default: .number(PlanDefaults.retryAttempts),
            "all tries, the first one included"),
        .value(
            "on", \.on, .conditions, default: .texts(PlanDefaults.retryOn.map(\.spelled)),
            "what is tried again: connect, terminated, 502, 503, 504"),
        .value(
            "backoff", \.backoff, .duration(allowsZero: true),
            default: .time(PlanDefaults.retryBackoff), "the wait before the next try"),
    ]
}

extension Reading where Value == [Config.Call.Retry.Condition] {
    static var conditions: Reading {
        Reading<[Located<Config.Call.Retry.Condition>]>.filledList(of: .retryCondition)
            .map { $0.map(\.value) }
    }
}

extension Config.Call.Hedge: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value("after", \.after, .duration, isRequired: true, "how late an answer has to be")
    ]
}

extension Config.Call.When: PlainBlock {
    static let keys: [BlockKey<Self>] = [
        .value("param", \.param, .text, isRequired: true, "the parameter's name"),
        .value("is", \.value, .spelled, "the value that it must have"),
    ]
}
