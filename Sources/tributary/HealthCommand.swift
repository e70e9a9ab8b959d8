import ArgumentParser
import Basics
import HTTP
import HTTPClient
import Promises
import Reactor
import UVReactor

/// `tributary health [URL]`: for a container's HEALTHCHECK, which has neither shell nor curl.
struct HealthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Ask a running tributary whether it is ready; exit status 0 or 1.",
        discussion: """
            Asks /readyz at the admin address in TRIBUTARY_ADMIN or ADMIN, else at 127.0.0.1:9901.

            EXAMPLES
              tributary health
              tributary health http://127.0.0.1:9901/readyz
            """)

    @Argument(help: "What to ask instead, as http://host:port/path.")
    var url: String?

    func run() throws {
        let asked = url ?? "http://\(Self.adminAddress)/readyz"
        guard let question = Question(asked) else {
            throw ValidationError("write it as http://host:port/path: \(asked)")
        }
        var status: Status?
        _ = try UVLoop.run { loop in
            let client = Client(loop: loop)
            question.ask(client, loop).timeout(.seconds(2)).whenSettled { result in
                status = try? result.get().status
                client.close().whenSettled { _ in loop.stop() }
            }
        }
        guard status == .ok else {
            let answer = status.map { "\($0.code)" } ?? "no answer"
            StandardStreams.printError("tributary: \(asked): \(answer)\n")
            throw ExitCode(1)
        }
    }

    private static var adminAddress: String {
        let address =
            SystemFiles.variable("TRIBUTARY_ADMIN") ?? SystemFiles.variable("ADMIN") ?? ""
        return address.isEmpty ? "127.0.0.1:9901" : address
    }

    /// A URL of the one form that makes sense here.
    private struct Question {
        let origin: Origin
        let target: Target

        init?(_ url: String) {
            let scheme = "http://"
            guard url.hasPrefix(scheme) else { return nil }
            let rest = url.dropFirst(scheme.count)
            let authority = rest.prefix { $0 != "/" }
            let path = rest.dropFirst(authority.count)
            guard let colon = authority.lastIndex(of: ":"),
                let port = UInt16(authority[authority.index(after: colon)...]),
                let target = Target(path.isEmpty ? "/readyz" : String(path))
            else { return nil }
            var host = authority[..<colon]
            if host.hasPrefix("[") && host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            origin = Origin(host: String(host), port: port)
            self.target = target
        }

        func ask(_ client: Client, _ loop: UVLoop) -> LocalPromise<ClientResponse> {
            client.pool(for: origin, settings: PoolSettings()).send(
                ClientRequest(
                    method: .get, target: target,
                    host: FieldValue(origin.hostField) ?? "localhost",
                    responseBytesMax: 64 << 10))
        }
    }
}
