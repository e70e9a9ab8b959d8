import ArgumentParser
import Basics
import Gateway
import Glibc
import Process
import System

/// `tributary token`
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Check tokens for 'auth' with 'jwt'.",
        subcommands: [CheckTokenCommand.self])
}

/// `tributary token check CONFIG AUTH TOKEN`
struct CheckTokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Show whether an authenticator accepts a token, and why it does not.",
        discussion: """
            Sends nothing: for keys that the gateway fetches, the signature is checked only with \
            --keys. The exit status is 1 for a token that is rejected.

            EXAMPLES
              tributary token check my.yaml customers "$TOKEN"
              pbpaste | tributary token check my.yaml customers -
              curl -s https://id.example.com/jwks.json > jwks.json
              tributary token check my.yaml customers "$TOKEN" --keys jwks.json
            """)

    @Argument(
        help: "The configuration, YAML or JSON.",
        completion: .file(extensions: ["yaml", "yml", "json"]))
    var config: String

    @Argument(help: "The name of the authenticator.")
    var auth: String

    @Argument(help: "The token; - reads standard input.")
    var token: String

    @Option(help: "File with the issuer's keys: a JWK Set, or PEM.", completion: .file())
    var keys: String?

    func run() throws {
        let (_, _, plan, problems) = try ConfigSource(path: config).record()
        guard let plan else {
            StandardStreams.printError(problems.lines.map { $0 + "\n" }.joined())
            throw ExitStatus.configurationErrors
        }
        guard let authenticator = plan.authenticators.first(where: { $0.name == auth }) else {
            throw ValidationError("\(config) has no authenticator '\(auth)'")
        }
        let input = try readToken()
        let keySet = try readKeys()
        let report: TokenReport
        do throws(TokenReportError) {
            report = try TokenReport(
                input, authenticator, keySet: keySet, now: WallClock.unixTime / 1_000_000_000)
        } catch {
            switch error {
            case .noTokens(let name): throw ValidationError("authenticator '\(name)' has no 'jwt'")
            case .keys(let problem): throw ValidationError("the file of --keys \(problem)")
            }
        }
        StandardStreams.printOut(report.lines.map { $0 + "\n" }.joined())
        if !report.isAccepted { throw ExitStatus.rejected }
    }

    /// Without the white space around it, such as the line end that most commands write.
    private func readToken() throws -> Bytes {
        guard token == "-" else { return Bytes(token) }
        do throws(ConfigFileError) {
            let input = try WholeInput.read(STDIN_FILENO, upTo: ConfigFiles.bytesMax)
            let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
            let rest = input.drop(while: isSpace)
            let end = rest.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? rest.startIndex
            return Bytes(Array(rest[rest.startIndex..<end]))
        } catch {
            throw StartFailure.unreadableFile("<stdin>", error.message)
        }
    }

    private func readKeys() throws -> Bytes? {
        guard let keys else { return nil }
        do throws(ConfigFileError) {
            return Bytes(try RegularFile.read(keys, upTo: ConfigFiles.bytesMax))
        } catch {
            throw StartFailure.unreadableFile(keys, error.message)
        }
    }
}
