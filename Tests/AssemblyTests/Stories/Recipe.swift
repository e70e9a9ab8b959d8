import Foundation
import Testing
import WorkerSupport

/// One recipe of the cookbook: its configuration, and the command and the response that the page shows.
struct Recipe {
    let config: String
    /// The response's body.
    let shown: String
    private let command: String

    init(_ name: String) throws {
        let guide = URL(filePath: #filePath).appending(path: "../../../../docs/guide").standardized
        config = try String(
            contentsOf: guide.appending(path: "cookbook/\(name).yaml"), encoding: .utf8)
        let page = try String(contentsOf: guide.appending(path: "cookbook.md"), encoding: .utf8)
        let begin = "[\(name).yaml](cookbook/\(name).yaml)\n\n```console\n$ curl "
        let start = try #require(page.range(of: begin), "cookbook.md does not show \(name)")
        let lines = page[start.upperBound...].prefix { $0 != "`" }.split(separator: "\n")
        try #require(lines.count == 2)
        (command, shown) = (String(lines[0]), String(lines[1]))
    }

    /// The request that the command sends.
    ///
    /// - Parameters:
    ///   - variables: values of the variables in it, by name
    ///   - more: more header lines
    func request(_ variables: [String: String] = [:], _ more: String...) throws -> String {
        let text = variables.reduce(command) { $0.replacing("$\($1.key)", with: $1.value) }
        let target = try #require(text.firstMatch(of: /https?:\/\/[^\/ ]+(\/\S*)$/)).1
        let lines = text.matches(of: /-H "([^"]+)"/).map { String($0.1) } + more
        guard let body = text.firstMatch(of: /-d '([^']+)'/)?.1 else {
            return WorkerSupport.request("GET", String(target), lines)
        }
        let length = "Content-Length: \(body.utf8.count)"
        return WorkerSupport.request("POST", String(target), lines + [length]) + body
    }
}
