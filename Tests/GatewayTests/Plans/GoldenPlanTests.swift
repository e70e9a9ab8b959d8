import Foundation
import Testing

@testable import Gateway

/// What `check` says of whole files, one for each idea; the expected text stands beside each.
///
/// With `RECORD_PLANS=1` in the environment the texts are written anew, to be read before they are
/// committed.
@Suite struct GoldenPlanTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Fixtures/plans")

    static let names: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".yaml") }.sorted()

    @Test func thereAreSome() {
        #expect(Self.names.count >= 8)
    }

    @Test(arguments: names) func checkSays(_ name: String) throws {
        let said = try check(name)
        let golden = Self.folder.appending(path: name.replacing(".yaml", with: ".check"))
        if ProcessInfo.processInfo.environment["RECORD_PLANS"] == "1" {
            try said.write(to: golden, atomically: true, encoding: .utf8)
        }
        #expect(said == (try String(contentsOf: golden, encoding: .utf8)))
    }

    /// The problems, then the plan.
    private func check(_ name: String) throws -> String {
        let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
        let (config, problems) = load([name: text], main: name)
        let lines = problems.lines.map { $0 + "\n" }.joined()
        guard let config else { return lines }
        return lines + PlanPrinter(try Planner.plan(config, processors: 1)).summary
    }
}
