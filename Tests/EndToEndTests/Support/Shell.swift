import Foundation

/// Runs command lines in a shell, with `tributary` on the path.
struct Shell {
    let folder: Folder

    /// The output of the command, with both streams in order.
    func run(_ command: String) throws -> String {
        let output = Output()
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", command]
        let binaries = try Binary.url().deletingLastPathComponent().path
        process.environment = Sanitizer.options.merging(
            ["PATH": "\(binaries):/usr/local/bin:/usr/bin:/bin"]
        ) { _, own in own }
        process.currentDirectoryURL = folder.url
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output.pipe
        process.standardError = output.pipe
        try process.run()
        try? output.pipe.fileHandleForWriting.close()
        return try output.whole()
    }
}
