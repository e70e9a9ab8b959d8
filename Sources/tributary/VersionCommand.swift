import ArgumentParser

/// The version of this build.
enum Version {
    static let number = "0.2.0"
    static let text = "tributary \(number)"
}

/// `tributary version`
struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "version", abstract: "Print the version.")

    func run() {
        print(Version.text)
    }
}
