/// Small configurations with a part that a test supplies.
enum Snippet {
    /// Line 1.
    static func top(_ lines: String) -> String {
        """
        \(lines)
        version: 1
        backends: { a: { url: http://h:1 } }
        endpoints: [{ route: GET /x, calls: { one: { from: a, get: /one } } }]
        """
    }

    /// Line 4, column 5.
    static func backend(_ lines: String, url: String = "    url: http://h:1\n") -> String {
        """
        version: 1
        backends:
          a:
        \(indented(lines, by: 4))
        \(url)endpoints: [{ route: GET /x, calls: { one: { from: a, get: /one } } }]
        """
    }

    /// Line 5, column 5.
    static func endpoint(
        _ lines: String, route: String = "GET /x/{id}",
        calls: String? = nil
    ) -> String {
        let path = route.contains("{id}") ? "\"/one/{id}\"" : "/one"
        let calls = calls ?? "one: { from: a, get: \(path) }"
        return """
            version: 1
            backends: { a: { url: http://h:1, max_concurrent: 5 } }
            endpoints:
              - route: \(route)
            \(indented(lines, by: 4))
                calls:
            \(indented(calls, by: 6))
            """
    }

    /// Line 8, column 9.
    static func call(_ lines: String, method: String = "get", route: String = "GET /x/{id}")
        -> String
    {
        """
        version: 1
        backends: { a: { url: http://h:1, max_concurrent: 5 } }
        endpoints:
          - route: \(route)
            calls:
              one:
                from: a
        \(indented(lines, by: 8))
                \(method): "/one/{id}"
        """
    }

    private static func indented(_ lines: String, by spaces: Int) -> String {
        lines.split(separator: "\n", omittingEmptySubsequences: false)
            .map { String(repeating: " ", count: spaces) + $0 }.joined(separator: "\n")
    }
}
