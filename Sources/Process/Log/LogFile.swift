import Glibc

/// The file in the place of standard output, where `--log-file` names one.
///
/// Opening replaces the descriptor in one step, so a line is written to the former file or to the new
/// one. Called before the log's thread starts, and then only on that thread.
package struct LogFile: Sendable {
    let path: String
    /// Whether standard error goes there too, once the process serves: a background process has no
    /// terminal.
    let takesErrors: Bool

    package init(path: String, takesErrors: Bool) {
        self.path = path
        self.takesErrors = takesErrors
    }

    /// Opens the file at the path, which is another one after a rotation, and creates it if necessary.
    package func open() throws(ServiceFailure) {
        let flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY
        let descriptor = unsafe Glibc.open(path, flags, 0o640)
        guard descriptor >= 0 else { throw .file(path, errno: errno) }
        defer { close(descriptor) }
        guard dup2(descriptor, STDOUT_FILENO) >= 0 else { throw .file(path, errno: errno) }
    }

    /// Opens the file again, for both streams.
    func reopen() throws(ServiceFailure) {
        try open()
        if takesErrors { dup2(STDOUT_FILENO, STDERR_FILENO) }
    }
}
