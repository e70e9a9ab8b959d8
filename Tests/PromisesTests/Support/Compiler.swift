import Foundation

/// The compiler, with the modules of the build that runs these tests.
struct Compiler {
    let executable: URL
    let modules: URL

    /// Nil without `swiftc` on the path, or where the module was not found.
    static var found: Compiler? {
        guard let executable, let modules else { return nil }
        return Compiler(executable: executable, modules: modules)
    }

    /// Type-checks a source; returns whether it is correct, and the compiler's output.
    ///
    /// - Parameter mode: how far the compiler goes; `-emit-sil` also checks ownership.
    func typecheck(
        _ source: String, _ options: String..., mode: String = "-typecheck"
    ) throws -> (isRight: Bool, text: String) {
        let file = FileManager.default.temporaryDirectory
            .appending(path: "Source-\(UUID().uuidString).swift")
        try source.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = executable
        process.arguments =
            ["-frontend", mode, "-o", "/dev/null", "-swift-version", "6", "-I", modules.path]
            + options
            + [file.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(
            decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus == 0, text)
    }

    private static var executable: URL? {
        let paths = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return paths.map { URL(filePath: "\($0)/swiftc") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    private static var modules: URL? {
        CommandLine.arguments.compactMap { argument -> URL? in
            guard let range = argument.range(of: ".xctest") else { return nil }
            let folder = URL(filePath: String(argument[..<range.lowerBound]))
                .deletingLastPathComponent().appending(path: "Modules")
            let module = folder.appending(path: "Promises.swiftmodule")
            return FileManager.default.fileExists(atPath: module.path) ? folder : nil
        }.first
    }
}
