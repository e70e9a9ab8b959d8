/// Operations on file paths, as text with slashes.
enum FilePath {
    /// A path that is relative to the folder of the file that contains it.
    static func resolve(_ path: String, relativeTo file: String) -> String {
        guard !path.hasPrefix("/") else { return path }
        return directory(of: file) + path
    }

    /// With its slash at the end; empty for a file in the current directory.
    static func directory(of file: String) -> String {
        guard let slash = file.lastIndex(of: "/") else { return "" }
        return String(file[...slash])
    }
}
