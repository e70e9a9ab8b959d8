import Rehearsal

/// Draws a condition.
struct ConditionDraw {
    let random: RandomSource
    let params: [DrawnParam]
    let reads: Input

    enum Input {
        /// Of a call: the request, and the responses of earlier calls.
        case call(hasBody: Bool, [DrawnCall])
        /// `require`: the head of the request, and its caller.
        case requirement
        /// Of an endpoint: headers, query parameters, and its parameters.
        case route
        /// Of a limit: the request, and its caller.
        case limit(hasBody: Bool, hasCaller: Bool)
    }

    func condition() -> DrawnCondition { condition(levels: random.pick([1, 1, 2, 3]), random) }

    private func condition(levels: Int, _ random: RandomSource) -> DrawnCondition {
        guard levels > 1 else { return test(random) }
        let parts = (0..<random.number(1...3)).map {
            condition(levels: levels - 1, random.derived("part", $0))
        }
        switch random.number(0...2) {
        case 0: return .all(parts)
        case 1: return .any(parts)
        default: return .not(parts[0])
        }
    }

    private func test(_ random: RandomSource) -> DrawnCondition {
        if hasArrays, random.derived("kind").chance(0.2) { return elementTest(random) }
        if let short = shortTest(random.derived("short")) { return short }
        let source = source(random.derived("source"))
        let test: DrawnCondition.DrawnTest =
            switch random.number(0...5) {
            case 0, 1: .equals(operand(of: source, random))
            case 2: .differs(operand(of: source, random))
            case 3:
                .oneOf([operand(of: source, random), operand(of: source, random.derived("second"))])
            case 4: .exists(true)
            default: .exists(false)
            }
        return .test(source, test)
    }

    /// A test of a parameter of an endpoint in short.
    private func shortTest(_ random: RandomSource) -> DrawnCondition? {
        guard case .route = reads, !params.isEmpty, random.chance(0.15) else { return nil }
        let name = random.pick(params).name
        return name == "lang" && random.chance(0.5)
            ? .param(name, is: random.pick(["en", "de"])) : .sent(name)
    }

    /// `has` or `has_any`, mostly of a value that may be an array.
    private func elementTest(_ random: RandomSource) -> DrawnCondition {
        let source = arraySource(random.derived("source")) ?? source(random.derived("source"))
        let operands = (0..<2).map { element(random.derived("element", $0)) }
        return .test(source, random.chance(0.5) ? .has(operands[0]) : .hasAny(operands))
    }

    private func arraySource(_ random: RandomSource) -> DrawnUse.Source? {
        var sources = responses.map {
            DrawnUse.Source.call($0.index, path: random.pick(["tags", "tags", "items"]))
        }
        if hasBody { sources.append(.bodyField("tags")) }
        return sources.isEmpty ? nil : random.pick(sources)
    }

    private func element(_ random: RandomSource) -> DrawnCondition.DrawnOperand {
        random.pick([
            .text("red"), .text("t1"), .text("7"), .constant("7"), .constant("7.0"),
            .source(.header("X-Tenant")),
        ])
    }

    /// The earlier calls whose responses have bodies.
    private var responses: [DrawnCall] {
        guard case .call(_, let earlier) = reads else { return [] }
        return earlier.filter { $0.method != "HEAD" }
    }

    private var hasBody: Bool {
        switch reads {
        case .call(let hasBody, _), .limit(let hasBody, _): hasBody
        case .requirement, .route: false
        }
    }

    /// Headers and query parameters are texts.
    private var hasArrays: Bool { if case .route = reads { false } else { true } }

    private var hasCaller: Bool {
        switch reads {
        case .call, .route: false
        case .requirement: true
        case .limit(_, let hasCaller): hasCaller
        }
    }

    /// Half of the tests use a response, if there is one.
    private func source(_ random: RandomSource) -> DrawnUse.Source {
        if !responses.isEmpty, random.chance(0.5) {
            let path = random.pick(["mark", "segment", "price", "nest.a", "nest.b", "nest", "none"])
            return .call(random.pick(responses).index, path: path)
        }
        var sources: [DrawnUse.Source] = params.map { .param($0.name) }
        sources += [.header("X-User"), .header("X-Tenant"), .query("debug"), .query("tag")]
        if case .route = reads {
            let variant = DrawnUse.Source.header(RouteDraw.header)
            sources += [variant, variant, variant, variant]
        } else {
            sources.append(.client)
        }
        if hasBody { sources.append(.bodyField("user")) }
        if hasCaller { sources += [.caller, .caller, .caller] }
        return random.pick(sources)
    }

    private func operand(
        of source: DrawnUse.Source, _ random: RandomSource
    ) -> DrawnCondition.DrawnOperand {
        if random.chance(0.2) { return .source(self.source(random.derived("right"))) }
        switch source {
        case .param("lang"): return .text(random.pick(["en", "de"]))
        case .param("id"): return random.chance(0.5) ? .constant("7") : .text("7")
        case .param: return .text(random.pick(["a b&c", "t1"]))
        case .header("X-Tenant"): return .text(random.pick(["t1", "t2"]))
        case .header(RouteDraw.header): return .text(random.pick(["a", "a", "b"]))
        case .header: return .text(random.pick(["ann", "bob"]))
        case .query("debug"): return .text("1")
        case .query: return .text(random.pick(["a b", "&=/?"]))
        case .client: return .text(random.pick(["127.0.0.1", "198.51.100.1", "2001:db8::1"]))
        case .caller: return .text(random.pick(["ann", "ann", "ben", "cat"]))
        case .bodyField: return .text("u1")
        case .call(_, "price"):
            return random.pick([.constant("19.9"), .constant("20"), .text("19.90")])
        case .call(_, "nest.a"): return .text(random.pick(["x y", "x"]))
        case .call: return .text(random.pick(["blue", "100%"]))
        }
    }
}
