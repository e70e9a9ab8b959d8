import Rehearsal

/// Draws the calls of one endpoint: who waits for whom, and every option of a call.
struct CallDraw {
    let dice: RandomSource
    let method: String
    let params: [DrawnParam]
    let hasBody: Bool
    let backends: Int

    func calls() -> [DrawnCall] {
        var calls: [DrawnCall] = []
        for index in 0..<dice.pick([1, 2, 2, 3, 3, 4, 5]) {
            calls.append(call(index, after: calls))
        }
        return calls
    }

    private func call(_ index: Int, after earlier: [DrawnCall]) -> DrawnCall {
        let dice = dice.dice("call", index)
        let sendsBody = hasBody && dice.chance(0.5)
        let method = rarer(
            sendsBody ? dice.pick(["POST", "PUT"]) : dice.pick(["GET", "GET", "GET", "DELETE"]),
            dice.dice("method"))
        let isRequired = dice.chance(0.4)
        let isAtRoot = dice.chance(0.2)
        let isIdempotent = method != "POST" && method != "PATCH"
        return DrawnCall(
            index: index, name: "c\(index)", backend: dice.number(0...backends - 1), method: method,
            uses: uses(dice, earlier), after: after(dice.dice("after"), earlier),
            sendsBody: sendsBody,
            forwardHeaders: dice.maybe(0.1, ["X-Tenant"]), isRequired: isRequired,
            timeout: dice.maybe(0.5, dice.number(10...400)),
            accept: dice.maybe(0.15, dice.pick([[200...299, 404...404], [200...200]])),
            relayStatus: isRequired
                ? dice.maybe(0.3, dice.pick([[404...404], [500...503], [401...401, 404...410]]))
                : nil,
            relaysBody: isRequired && dice.chance(0.2),
            relayHeaders: dice.maybe(0.2, ["ETag", "Set-Cookie"]) ?? [],
            retry: dice.maybe(0.3, retry(dice)),
            hedgeAfter: isIdempotent ? dice.maybe(0.2, dice.number(5...80)) : nil,
            shape: shape(dice, isAtRoot: isAtRoot), isAtRoot: isAtRoot,
            failsOnCollision: isAtRoot && dice.chance(0.3),
            ifFailed: ifFailed(dice, isAtRoot: isAtRoot),
            when: when(dice))
    }

    /// Sometimes another method of the same kind: with a body, or without one.
    private func rarer(_ method: String, _ dice: RandomSource) -> String {
        guard dice.chance(0.15) else { return method }
        return method == "GET" ? "HEAD" : "PATCH"
    }

    /// Earlier calls to wait for without using their values.
    private func after(_ dice: RandomSource, _ earlier: [DrawnCall]) -> [Int] {
        dice.chance(0.15) ? dice.some(earlier.map(\.index), 0.5) : []
    }

    private func uses(_ dice: RandomSource, _ earlier: [DrawnCall]) -> [DrawnUse] {
        var uses: [DrawnUse] = []
        func add(_ source: DrawnUse.Source, _ places: [DrawnUse.Place]) {
            let place = dice.pick(places)
            let isOptional = dice.dice("optional", uses.count).chance(0.3) && source.isOfRequest
            // An optional reference may not stand in a path.
            uses.append(
                DrawnUse(
                    source: source, place: isOptional && place == .path ? .query : place,
                    isOptional: isOptional))
        }
        for param in params where dice.chance(param.name == "id" ? 0.7 : 0.3) {
            add(.param(param.name), [.path, .query])
        }
        if dice.chance(0.1) { add(.header("X-User"), [.path, .query, .header]) }
        if hasBody, dice.chance(0.2) { add(.bodyField("user"), [.path, .query, .header]) }
        // A call without a mark in its answer is not referred to.
        for call in earlier where call.isReferable && dice.chance(0.2) {
            let path = dice.pick(["mark", "mark", "segment", "nest.a"])
            add(.call(call.index, path: path), [.path, .query, .header])
        }
        return uses
    }

    private func retry(_ dice: RandomSource) -> DrawnRetry {
        DrawnRetry(
            attempts: dice.number(2...4),
            on: dice.maybe(
                0.5, dice.pick([["connect"], ["terminated", "503"], ["connect", "500", "503"]])),
            backoff: dice.number(0...20))
    }

    private func shape(_ dice: RandomSource, isAtRoot: Bool) -> DrawnShape {
        var shape = DrawnShape()
        switch dice.number(0...5) {
        case 0: shape.keep = ["mark", "call", "serial", "items[].id", "nest.a"]
        case 1: shape.drop = ["price", "items[].price", "nest.b"]
        case 2: shape.rename = [("big", "large"), ("items[].id", "ident")]
        case 3 where isAtRoot: shape.take = "nest"
        case 3:
            shape.take = "items"
            if dice.chance(0.5) { shape.keep = ["[].id", "[].serial"] }
        default: break
        }
        return shape
    }

    private func ifFailed(_ dice: RandomSource, isAtRoot: Bool) -> DrawnCall.IfFailed? {
        dice.maybe(
            0.4,
            dice.pick([
                .omit, .value("null"), .value(isAtRoot ? #"{"stale":true}"# : #"["none"]"#),
            ]))
    }

    private func when(_ dice: RandomSource) -> (param: String, value: String?)? {
        guard params.contains(where: { $0.name == "lang" }), dice.chance(0.15) else { return nil }
        return dice.chance(0.5) ? ("lang", nil) : ("lang", "de")
    }
}

extension DrawnUse.Source {
    /// Only a value of the request may be optional.
    fileprivate var isOfRequest: Bool { if case .call = self { false } else { true } }
}

extension DrawnCall {
    /// Its answer has the members that references use, whatever its shape leaves.
    fileprivate var isReferable: Bool {
        method != "HEAD" && shape.take == nil && shape.keep == nil
    }
}
