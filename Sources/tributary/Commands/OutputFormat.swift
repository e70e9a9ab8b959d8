import ArgumentParser

/// The output of a command: a text for people, or JSON for programs.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
    case text, json
}
