import ArgumentParser
import Gateway
import System

/// `tributary key`
struct KeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Generate API keys and passwords for 'auth'.",
        subcommands: [NewKeyCommand.self])
}

/// `tributary key new ID`
struct NewKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "new",
        abstract: "Generate a key, and its entry for the key file.",
        discussion: """
            Writes the entry, which has only the hash, to standard output, and the key itself to \
            standard error. The key has 256 random bits. It is shown once and stored nowhere.

            EXAMPLES
              tributary key new partner-a >> partners.yaml
              tributary key new partner-a --scope orders:read \\
                --expires 2027-01-01T00:00:00Z
              tributary key new ci --basic >> tools.yaml
            """)

    @Argument(help: "The name of the caller: the id of the key, or the user name.")
    var id: String

    @Flag(help: "Write an entry for 'basic', with 'user' instead of 'id'.")
    var basic = false

    @Option(help: "A scope of the caller; may be repeated.")
    var scope: [String] = []

    @Option(help: "The time from which the key is refused, e.g. 2027-01-01T00:00:00Z.")
    var expires: String?

    @Option(help: "The plan of the caller, for rate limits.")
    var plan: String?

    /// Before `run`, so that an error shows the usage of this command.
    func validate() throws {
        do throws(Refusal) {
            try KeyFileText.check(
                name: id, isBasic: basic, scopes: scope, expires: expires, plan: plan)
        } catch {
            throw ValidationError(error.message)
        }
    }

    func run() throws {
        var generator = SecretRandom()
        let key = NewKey(using: &generator)
        let entry: String
        do throws(Refusal) {
            entry = try key.entry(
                named: id, isBasic: basic, scopes: scope, expires: expires, plan: plan)
        } catch {
            throw ValidationError(error.message)
        }
        StandardStreams.printOut(entry)
        StandardStreams.printError(
            "\(basic ? "password" : "key") of \(id), shown only now: \(key.text)\n")
    }
}
