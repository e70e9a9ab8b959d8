import Rehearsal

/// Draws the calls of one endpoint: their dependencies, and all options of a call.
struct CallDraw {
    let random: RandomSource
    let method: String
    let params: [DrawnParam]
    let hasBody: Bool
    let backends: Int

    func calls() -> [DrawnCall] {
        var calls: [DrawnCall] = []
        for index in 0..<random.pick([1, 2, 2, 3, 3, 4, 5]) {
            calls.append(call(index, after: calls))
        }
        return calls
    }

    private func call(_ index: Int, after earlier: [DrawnCall]) -> DrawnCall {
        let random = random.derived("call", index)
        let sendsBody = hasBody && random.chance(0.5)
        let method = rarer(
            sendsBody
                ? random.pick(["POST", "PUT"]) : random.pick(["GET", "GET", "GET", "DELETE"]),
            random.derived("method"))
        let isRequired = random.chance(0.4)
        let list = random.derived("list")
        let hasList = list.chance(0.12)
        let at = place(random.derived("place")).flatMap { hasList && $0 == "." ? nil : $0 }
        let fallback = at == "." ? #"{"stale":true}"# : #"["none"]"#
        let isIdempotent = method != "POST" && method != "PATCH"
        let keys = random.keys(
            [
                .key("required", isRequired ? 1 : 0),
                .key("body", sendsBody ? 1 : 0, of: [#""{request.body}""#]),
                .block("forward", 0.1, [.key("headers", 1, of: ["[X-Tenant]"])]),
                .key("timeout", 0.5, 10...400),
                .key("accept", 0.15, of: ["[200-299, 404]", "[200]"]),
                .key(
                    "relay_status", isRequired ? 0.3 : 0,
                    of: ["[404]", "[500-503]", "[401, 404-410]"]),
                .key("relay_body", isRequired ? 0.2 : 0),
                .key("relay_headers", hasList ? 0 : 0.2, of: ["[ETag, Set-Cookie]"]),
                DrawnRetry.weight(0.3, attempts: 2...4),
                .block("hedge", isIdempotent ? 0.2 : 0, [.key("after", 1, 5...80)]),
                .key("at", at == nil ? 0 : 1, of: [at ?? "."]),
                .key("on_collision", at == nil ? 0 : 0.3, of: ["fail"]),
                .key("if_failed", 0.4, of: ["omit", "null", fallback]),
                .key("headers", 0.3, of: [#"{"x-shared": c\#(index)}"#]),
            ] + shape(random, at: hasList ? nil : at), of: "Call")
        let each = list.keys(
            [.block("each", hasList ? 1 : 0, Self.each)], of: "Call")
        return DrawnCall(
            index: index, backend: random.number(0...backends - 1), method: method,
            uses: uses(random, earlier), after: after(random.derived("after"), earlier),
            when: when(random, earlier), keys: .object(keys.members + each.members))
    }

    private static let each: [KeyWeight] = [
        .key("in", 1, of: [#""{request.query.\#(DrawnUse.list)[]}""#]),
        .key("as", 1, of: [DrawnUse.element]), .key("max", 1, [3]),
        .key("parallel", 0.7, of: ["1", "1", "2"]), .key("enough", 0.5, of: ["1", "2", "2", "3"]),
        .key("distinct", 0.3, of: ["false"]),
    ]

    /// `at`; nil under the call's name. Several calls may have the same place.
    private func place(_ random: RandomSource) -> String? {
        switch random.number(0...19) {
        case 0...3: "."
        case 4: "profile"
        case 5: "made.part"
        case 6: "made.inner.part"
        case 7...8: "\"list[]\""
        case 9: "none"
        default: nil
        }
    }

    /// Sometimes replaces a method by a rarer one that also has a body, or also has none.
    private func rarer(_ method: String, _ random: RandomSource) -> String {
        guard random.chance(0.15) else { return method }
        return method == "GET" ? "HEAD" : "PATCH"
    }

    /// Earlier calls to wait for without the use of their values.
    private func after(_ random: RandomSource, _ earlier: [DrawnCall]) -> [Int] {
        random.chance(0.15) ? random.some(earlier.map(\.index), 0.5) : []
    }

    private func uses(_ random: RandomSource, _ earlier: [DrawnCall]) -> [DrawnUse] {
        var uses: [DrawnUse] = []
        func add(_ source: DrawnUse.Source, _ places: [DrawnUse.Place]) {
            let place = random.pick(places)
            let isOptional =
                random.derived("optional", uses.count).chance(0.3) && source.isOfRequest
            // A path must not contain an optional reference.
            uses.append(
                DrawnUse(
                    source: source, place: isOptional && place == .path ? .query : place,
                    isOptional: isOptional))
        }
        for param in params where random.chance(param.name == "id" ? 0.7 : 0.3) {
            add(.param(param.name), [.path, .query])
        }
        if random.chance(0.1) { add(.header("X-User"), [.path, .query, .header]) }
        if hasBody, random.chance(0.2) { add(.bodyField("user"), [.path, .query, .header]) }
        // References need the mark in the response.
        for call in earlier where call.isReferable && random.chance(0.2) {
            let path = random.pick(["mark", "mark", "segment", "nest.a"])
            add(.call(call.index, path: path), [.path, .query, .header])
        }
        return uses
    }

    private func shape(_ random: RandomSource, at: String?) -> [KeyWeight] {
        if at?.contains("[]") == true { return [.key("take", 1, of: ["items"])] }
        return switch random.number(0...5) {
        case 0: [.key("keep", 1, of: ["[mark, call, serial, \"items[].id\", nest.a]"])]
        case 1: [.key("drop", 1, of: ["[price, \"items[].price\", nest.b]"])]
        case 2:
            [
                .key(
                    "rename", 1,
                    of: [
                        #"{"big": large, "items[].id": ident}"#,
                        #"{"*": camel, "items[].id": the_id}"#,
                    ])
            ]
        case 3 where at == ".": [.key("take", 1, of: ["nest"])]
        case 3:
            [
                .key("take", 1, of: ["items"]),
                .key("keep", 0.5, of: [#"["[].id", "[].serial"]"#]),
            ]
        default: []
        }
    }

    private func when(_ random: RandomSource, _ earlier: [DrawnCall]) -> DrawnCondition? {
        let other = random.derived("condition")
        if other.chance(0.2) {
            return ConditionDraw(
                random: other, params: params,
                reads: .call(hasBody: hasBody, earlier.filter { !$0.hasList })
            ).condition()
        }
        guard params.contains(where: { $0.name == "lang" }), random.chance(0.15) else { return nil }
        return random.chance(0.5) ? .sent("lang") : .param("lang", is: "de")
    }
}

extension DrawnUse.Source {
    /// Only a value of the client's request may be optional.
    fileprivate var isOfRequest: Bool { if case .call = self { false } else { true } }
}

extension DrawnCall {
    /// Its response has the members that references use, with any shape.
    fileprivate var isReferable: Bool {
        method != "HEAD" && shape.take == nil && shape.keep == nil && !hasList
    }
}
