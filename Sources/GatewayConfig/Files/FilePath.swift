/// The little that is needed of paths: text with slashes.
enum FilePath {
    /// The path as seen from where the file stands that names it.
    static func resolve(_ path: String, besides file: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        return directory(of: file) + path
    }

    /// With its slash at the end; empty for a file in the current directory.
    static func directory(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "" }
        return String(file[...slash])
    }
}
