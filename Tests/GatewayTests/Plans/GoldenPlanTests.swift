import HTTP
import Testing

@testable import Gateway

/// The output of `check` for whole files, and of `explain` for requests to them, one file for each
/// feature; the expected texts are in files next to them.
///
/// A file names its requests in comments: `# explain: GET /products/42?lang=de`, with headers behind
/// bars: `# explain: GET /x | Origin: https://a.example`.
@Suite struct GoldenPlanTests {
    static let folder = "Tests/Fixtures/plans"
    static let names = Golden.names(in: folder, endingIn: ".yaml")

    @Test func findsFixtures() {
        #expect(Self.names.count >= 30)
    }

    @Test(arguments: names) func checkPrintsGoldenText(_ name: String) throws {
        try Golden.expect(path(name, ".check"), says: try check(name))
    }

    /// Plans with a file of explanations.
    static let explained = Golden.names(in: folder, endingIn: ".explain").map {
        $0.replacing(".explain", with: ".yaml")
    }

    @Test(arguments: names) func everyFileWithRequestsHasAnExplanation(_ name: String) throws {
        let hasExplanations = try !explanations(name).isEmpty
        #expect(hasExplanations == Self.explained.contains(name) || Golden.isRecording)
    }

    @Test(arguments: Golden.isRecording ? names : explained)
    func explainPrintsGoldenText(_ name: String) throws {
        let explanations = try explanations(name)
        if Golden.isRecording, explanations.isEmpty { return }
        try Golden.expect(path(name, ".explain"), says: explanations.joined(separator: "\n"))
    }

    private func path(_ name: String, _ end: String) -> String {
        "\(Self.folder)/\(name.replacing(".yaml", with: end))"
    }

    private func loaded(_ name: String) throws -> (text: String, config: Config?, lines: [String]) {
        let text = try Golden.text("\(Self.folder)/\(name)")
        var files = [name: text]
        for folder in ["parts", "parts/keys"] {
            for part in Golden.names(in: "\(Self.folder)/\(folder)", endingIn: ".yaml") {
                files["\(folder)/\(part)"] = try Golden.text("\(Self.folder)/\(folder)/\(part)")
            }
        }
        let (config, problems) = load(
            files, main: name, environment: ["GREETING": "hello", "EMPTY": ""])
        return (text, config, problems.lines)
    }

    /// The problems, then the plan.
    private func check(_ name: String) throws -> String {
        let (_, config, lines) = try loaded(name)
        let problems = lines.map { $0 + "\n" }.joined()
        guard let config else { return problems }
        return problems + PlanPrinter(try Planner.plan(config, processors: 1)).summary
    }

    /// Each request with its explanation.
    private func explanations(_ name: String) throws -> [String] {
        let (text, config, _) = try loaded(name)
        let requests = text.split(separator: "\n").compactMap { line in
            line.hasPrefix("# explain: ") ? String(line.dropFirst(11)) : nil
        }
        guard let config, !requests.isEmpty else { return [] }
        let plan = try Planner.plan(config, processors: 1)
        return try requests.map { request in
            let words = request.split(separator: " ", maxSplits: 1).map(String.init)
            let method = try #require(Method(words[0]))
            let parts = words[1].split(separator: " | ").map(String.init)
            let target = try #require(Target(parts[0]))
            var fields = Fields()
            for line in parts.dropFirst() {
                let pair = line.split(separator: ": ", maxSplits: 1).map(String.init)
                fields.append(
                    try #require(FieldName(pair[0])), try #require(FieldValue(pair[1])))
            }
            return "$ \(request)\n" + Explanation(plan, method, target, fields).text
        }
    }
}
