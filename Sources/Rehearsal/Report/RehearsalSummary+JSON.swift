import Basics
import Gateway

/// The numbers of a rehearsal as JSON. Times are milliseconds, and null if a request has no whole
/// response.
extension RehearsalSummary {
    package func json(_ results: [ExpectationRule.Result] = []) -> String {
        var members: [(String, JSONTree)] = [
            ("seed", .raw("\(seed)")), ("seconds", .raw("\(seconds)")),
        ]
        members += Self.members(of: all)
        members.append(("endpoints", .list(endpoints.map(Self.tree))))
        members.append(("slowest", slowest.map { .raw("\($0)") } ?? .raw("null")))
        members.append(("expectations", .list(results.map(Self.tree))))
        return JSONTree.object(members).text + "\n"
    }

    private static func tree(of endpoint: Endpoint) -> JSONTree {
        var members: [(String, JSONTree)] = [("endpoint", .text(endpoint.name))]
        members += Self.members(of: endpoint.outcomes)
        members.append(
            (
                "responses",
                .list(
                    endpoint.responses.map { name, times in
                        .object(
                            [("response", .text(name)), ("count", .raw("\(times.count)"))]
                                + quantiles(times))
                    })
            ))
        if let times = endpoint.firstBytes {
            members.append(("first_byte", .object(quantiles(times))))
        }
        members.append(
            (
                "failures",
                .list(
                    endpoint.failures.map { failure, count in
                        .object([
                            ("call", .text(failure.call)), ("kind", .text(failure.kind.rawValue)),
                            ("status", failure.status.map { .raw("\($0)") } ?? .raw("null")),
                            ("count", .raw("\(count)")),
                        ])
                    })
            ))
        members.append(("without_sample", .texts(endpoint.withoutSample)))
        return .object(members)
    }

    private static func tree(of result: ExpectationRule.Result) -> JSONTree {
        .object([
            ("expected", .text(result.expectation.text)), ("actual", .text(result.actual)),
            ("met", .raw("\(result.isMet)")),
        ])
    }

    private static func members(of outcomes: Outcomes) -> [(String, JSONTree)] {
        [
            ("requests", .raw("\(outcomes.requests)")), ("ok", .raw("\(outcomes.ok)")),
            ("partial", .raw("\(outcomes.partial)")), ("failed", .raw("\(outcomes.failed)")),
        ] + quantiles(outcomes.times)
    }

    private static func quantiles(_ times: ResponseTimes) -> [(String, JSONTree)] {
        ResponseTimes.columns.map { name, percent in
            let time = times.quantile(percent)?.millisecondsText.dropLast(2)
            return ("\(name)_ms", .raw(time.map(String.init) ?? "null"))
        }
    }
}
