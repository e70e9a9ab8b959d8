import ArgumentParser

/// The exit statuses of the commands (those of sysexits.h where one fits).
enum ExitStatus {
    static let configurationErrors = ExitCode(1)
    /// `explain`: no endpoint accepts the request.
    static let notAccepted = ExitCode(1)
    /// `token check`: the authenticator does not accept the token.
    static let rejected = ExitCode(1)
    static let strictWarnings = ExitCode(2)
    /// `import`: there are warnings.
    static let incompleteImport = ExitCode(3)
    static let noInput = ExitCode(66)
    static let unavailable = ExitCode(69)
    static let internalError = ExitCode(70)
    static let cannotCreate = ExitCode(73)
}
