/// A path in which `*` matches any characters of a name and `?` matches one.
///
/// As in a shell, only a literal dot matches the dot at the beginning of a name.
struct FilePattern {
    private let pattern: String

    init(_ pattern: String) {
        self.pattern = pattern
    }

    /// The matching paths, sorted level by level; a pattern without `*` and `?` matches itself,
    /// even if no such file exists.
    func matches(in files: ConfigFiles) -> [String] {
        var found = [pattern.hasPrefix("/") ? "/" : ""]
        let names = pattern.split(separator: "/")
        for (index, name) in names.enumerated() {
            let end = index == names.count - 1 ? "" : "/"
            found = found.flatMap { directory in
                Self.names(like: String(name), in: directory, files).map { directory + $0 + end }
            }
        }
        return found
    }

    private static func names(
        like name: String, in directory: String, _ files: ConfigFiles
    ) -> [String] {
        guard name.contains(where: { "*?".contains($0) }) else { return [name] }
        // A directory that cannot be read has no matching names.
        let all = (try? files.list(directory.isEmpty ? "." : directory)) ?? []
        return all.filter { matches(Array(name), Array($0)) }.sorted()
    }

    /// Two cursors and a position to backtrack to: linear memory, no recursion.
    static func matches(_ pattern: [Character], _ name: [Character]) -> Bool {
        if name.first == ".", pattern.first != "." { return false }
        var (at, location) = (0, 0)
        var retry: (at: Int, location: Int)?
        while location < name.count {
            if at < pattern.count, pattern[at] == "*" {
                retry = (at + 1, location)
                at += 1
            } else if at < pattern.count, pattern[at] == "?" || pattern[at] == name[location] {
                at += 1
                location += 1
            } else if let last = retry {
                retry = (last.at, last.location + 1)
                (at, location) = (last.at, last.location + 1)
            } else {
                return false
            }
        }
        return pattern[at...].allSatisfy { $0 == "*" }
    }
}
