import ArgumentParser

/// The exit statuses that the contract names (sysexits.h where it has one).
enum ExitStatus {
    static let configurationErrors = ExitCode(1)
    /// `explain`: no endpoint takes the request.
    static let notAccepted = ExitCode(1)
    static let strictWarnings = ExitCode(2)
    /// `import`: something of weight is missing.
    static let incompleteImport = ExitCode(3)
    static let noInput = ExitCode(66)
    static let unavailable = ExitCode(69)
    static let internalError = ExitCode(70)
}
