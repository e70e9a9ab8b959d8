import ArgumentParser

/// The exit statuses of the commands. `SystemExit` has the statuses of a failed start.
enum ExitStatus {
    static let configurationErrors = ExitCode(1)
    /// `explain`: no endpoint accepts the request.
    static let notAccepted = ExitCode(1)
    /// `token check`: the authenticator does not accept the token.
    static let rejected = ExitCode(1)
    /// `simulate --expect`
    static let expectationsNotMet = ExitCode(1)
    static let strictWarnings = ExitCode(2)
    /// `import`: there are warnings.
    static let incompleteImport = ExitCode(3)
}
