import Foundation
import Testing

/// A program of the system that a test uses where it is installed.
struct Tool: CustomTestStringConvertible, Sendable {
    let name: String
    let url: URL
    var testDescription: String { name }

    /// Those that are installed. The others are reported, and their test cases do not exist.
    static func present(_ names: [String]) -> [Tool] {
        names.compactMap { name in
            for folder in ["/usr/bin", "/bin", "/usr/local/bin"] {
                let path = "\(folder)/\(name)"
                if FileManager.default.isExecutableFile(atPath: path) {
                    return Tool(name: name, url: URL(filePath: path))
                }
            }
            print("skipped: \(name) is not installed")
            return nil
        }
    }
}
