import Foundation

/// A temporary folder with files, which is removed with this object.
final class Folder {
    let url: URL

    /// The path is short, because that of a unix socket has at most 107 bytes.
    init(_ files: [String: String] = [:]) throws {
        url = URL(filePath: "/tmp/tributary-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        for (name, text) in files { try write(name, text) }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    /// Replaces the file atomically, as an editor does. Foundation's atomic write would wait for
    /// the disk, which takes seconds on a busy machine.
    func write(_ name: String, _ text: String) throws {
        let draft = path("\(name).draft")
        try Data(text.utf8).write(to: URL(filePath: draft))
        guard rename(draft, path(name)) == 0 else { throw Socket.Failure("rename") }
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }
}
