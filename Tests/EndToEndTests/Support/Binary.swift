import Foundation

/// The executables that were built with these tests.
enum Binary {
    struct NotBuilt: Error {}

    /// In the folder of the test bundle, for every configuration and scratch path.
    static func url(_ name: String = "tributary") throws -> URL {
        for argument in CommandLine.arguments where argument.contains("/") {
            var folder = URL(filePath: argument).standardizedFileURL
            // On macOS the bundle is a folder, with the code three levels down.
            for _ in 0..<4 {
                folder.deleteLastPathComponent()
                let url = folder.appending(path: name)
                var isFolder: ObjCBool = false
                if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
                    !isFolder.boolValue, FileManager.default.isExecutableFile(atPath: url.path)
                {
                    return url
                }
            }
        }
        throw NotBuilt()
    }
}
