import Foundation
import Testing

/// The script of the admin page in a JavaScript engine, where one is installed. Its document has only what
/// these parts of the script use.
extension EndToEnd {
    @Suite struct PageScriptTests {
        private static let parts = [
            "state", "elements", "texts", "rates", "shares", "trends", "requests", "detail",
            "process", "polling",
        ]

        private static let surroundings = """
            const nodes = {};
            globalThis.document = { getElementById: (id) => nodes[id] ??= {
              open: false, value: "", textContent: "", showModal() { this.open = true; },
              close() { this.open = false; } } };
            globalThis.sessionStorage = { getItem: () => null };
            let status = 200, answers = {};
            globalThis.fetch = async (path) => ({
              status, ok: status === 200, text: async () => "the text of " + path,
              json: async () => structuredClone(answers[path.split("?")[0]]) });
            const overview = (requests) => ({ at_ms: 1000 * requests, missing_workers: [],
              endpoints: [{ endpoint: "GET /x", requests, failed: 0 }], unmatched: [], backends: [] });
            const recent = (skipped) => ({ cursor: "0-1", skipped, sample_one_in: 1, requests: [] });
            async function pollOnce(requests, skipped) {
              answers = { "/-/overview": overview(requests), "/-/requests/recent": recent(skipped) };
              await poll();
            }

            """

        /// What the actions print, one line each.
        private func output(of actions: String, by tool: Tool) throws -> [String] {
            let page = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Sources/Process/Admin/Page")
            let script = try Self.parts.map {
                try String(contentsOf: page.appending(path: $0 + ".js"), encoding: .utf8)
            }.joined(separator: "\n")
            let command = try Command(
                ["-"], program: tool.url,
                input: script + Self.surroundings + "(async () => {\n\(actions)\n})();\n")
            let status = try command.exitStatus()
            let errors = try command.errors.whole()
            #expect(status == 0, "\(errors)")
            return try command.output.whole().split(separator: "\n").map(String.init)
        }

        /// A poll returns what was left out since the poll before it.
        @Test(arguments: Tool.present(["node"]))
        func addsUpTheRequestsThatWereLeftOut(_ node: Tool) throws {
            let actions = """
                for (const skipped of [3, 0, 4]) { await pollOnce(5, skipped); console.log(state.skipped); }
                await pollOnce(1, 2);
                console.log(state.skipped, "after a restart");
                """
            #expect(try output(of: actions, by: node) == ["3", "3", "7", "2 after a restart"])
        }

        /// Everything that the page reads needs the token.
        @Test(arguments: Tool.present(["node"]))
        func asksForTheTokenWhereItIsMissing(_ node: Tool) throws {
            let link = "{ target: { getAttribute: () => \"/-/plan\" }, preventDefault() {} }"
            let actions = """
                for (const action of [explain, () => openLink(\(link)), () => poll().catch(() => {})]) {
                  for (status of [200, 401]) {
                    byId("token-dialog").close();
                    await action();
                    console.log(status, byId("token-dialog").open, byId("explanation").textContent.includes("the text"));
                  }
                }
                """
            let lines = try output(of: actions, by: node)
            #expect(
                lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                    "200 false", "401 true", "200 false", "401 true", "200 false", "401 true",
                ])
            #expect(lines.prefix(2) == ["200 false true", "401 true false"])
        }
    }
}
