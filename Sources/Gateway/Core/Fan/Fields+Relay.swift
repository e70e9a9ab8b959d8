import HTTP

extension Fields {
    /// Appends the lines of these headers of a backend's response. A header that is there already
    /// keeps its value; only `Set-Cookie` lines are combined.
    mutating func relay(_ names: [FieldName], of response: Fields) {
        for name in names where name == .setCookie || !contains(name) {
            for value in response.all(name) { append(name, value) }
        }
    }
}
