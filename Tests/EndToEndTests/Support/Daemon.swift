import Foundation
import Testing

/// A running `tributary serve`.
final class Daemon: Command {
    /// The address that it listens on, from its log.
    private(set) var address = ""
    private(set) var admin = ""

    /// Serves a configuration and waits until it listens.
    ///
    /// - Parameter configuration: without `version`, `listen` and `admin`, which are added
    static func serving(
        _ configuration: String, in folder: Folder, listen: String = "127.0.0.1:0"
    ) throws -> Daemon {
        try folder.write("gateway.yaml", complete(configuration, listen: listen))
        let daemon = try Daemon(["serve", folder.path("gateway.yaml")])
        try daemon.awaitListening()
        return daemon
    }

    /// Serves a configuration on two unix sockets of the folder, so that tests need no log to know
    /// the addresses, and waits until both respond.
    ///
    /// - Parameters:
    ///   - redirections: in the syntax of a shell, e.g. `>/dev/full`
    static func servingUnix(
        _ configuration: String, in folder: Folder, output: Output = Output(),
        redirections: String = "", environment: [String: String] = [:]
    ) throws -> Daemon {
        let (listen, admin) = ("unix:\(folder.path("s"))", "unix:\(folder.path("a"))")
        try folder.write(
            "gateway.yaml", "version: 1\nlisten: \(listen)\nadmin: \(admin)\n" + configuration)
        let command = "exec \"$0\" serve \"$1\" \(redirections)"
        let daemon = try Daemon(
            ["-c", command, try Binary.url().path, folder.path("gateway.yaml")],
            program: URL(filePath: "/bin/sh"), environment: environment, output: output)
        daemon.address = listen
        daemon.admin = admin
        try daemon.eventuallyAdmin("GET /readyz", is: 200)
        return daemon
    }

    /// The demo, on ports that the system chooses.
    static func demo() throws -> Daemon {
        let daemon = try Daemon(
            ["serve"], environment: ["LISTEN": "127.0.0.1:0", "ADMIN": "127.0.0.1:0"])
        let line = try daemon.output.line("the demo to listen") { $0.contains(" listening ") }
        for word in line.split(separator: " ") {
            if word.hasPrefix("address=") { daemon.address = String(word.dropFirst(8)) }
            if word.hasPrefix("admin=") { daemon.admin = String(word.dropFirst(6)) }
        }
        return daemon
    }

    static func complete(_ configuration: String, listen: String = "127.0.0.1:0") -> String {
        "version: 1\nlisten: \(listen)\nadmin: 127.0.0.1:0\n" + configuration
    }

    func awaitListening() throws {
        let line = try logLine("listening")
        address = line["address"] as? String ?? ""
        admin = line["admin"] as? String ?? ""
    }

    /// The first line of the log with this message and this text, or the one with this number among
    /// them.
    @discardableResult
    func logLine(
        _ message: String, containing text: String = "", number: Int = 1
    ) throws -> [String: Any] {
        let what = "'\(message)' in the log, number \(number) (errors: \(errors.text))"
        let line = try output.line(what, number: number) { line in
            line.contains(#""msg":"\#(message)""#) && (text.isEmpty || line.contains(text))
        }
        return try #require(
            try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }

    /// Waits until every worker drains: workers read their messages in order, so they deliver
    /// metrics after that.
    func awaitDraining() throws {
        try logLine("draining")
        _ = try requestAdmin("GET /metrics")
    }

    func request(_ request: String, _ fields: [String] = [], body: String? = nil) throws -> Message
    {
        try Client.request(address, request, fields, body: body)
    }

    func requestAdmin(
        _ request: String, _ fields: [String] = [], host: String = "localhost"
    ) throws -> Message {
        try Client.request(admin, request, fields, host: host)
    }

    /// Repeats a request until the response has this status, for changes that take a short, unknown
    /// time.
    func eventually(_ request: String, _ fields: [String] = [], is status: Int) throws {
        let limit = Limit.date
        while try self.request(request, fields).status != status {
            guard Date.now < limit else { throw Limit.Passed("\(request) to be \(status)") }
        }
    }

    /// Repeats a reload until the limit of one per second admits it.
    func eventuallyReloaded() throws -> Message {
        let limit = Limit.date
        while true {
            let response = try requestAdmin("POST /-/reload")
            if response.status != 429 { return response }
            guard Date.now < limit else { throw Limit.Passed("a reload") }
            sched_yield()
        }
    }

    /// Repeats a request to the admin address until the response has this status; returns the
    /// response.
    @discardableResult
    func eventuallyAdmin(_ request: String, is status: Int) throws -> Message {
        let limit = Limit.date
        while true {
            if let response = try? requestAdmin(request), response.status == status {
                return response
            }
            guard Date.now < limit else { throw Limit.Passed("\(request) to be \(status)") }
            sched_yield()
        }
    }

    /// The value of a line of /metrics, labels included: `tributary_workers`.
    func metric(_ name: String) throws -> String? {
        try requestAdmin("GET /metrics").body.split(separator: "\n")
            .first { $0.hasPrefix(name + " ") }
            .map { String($0.dropFirst(name.count + 1)) }
    }
}

/// One endpoint that calls one backend.
func plain(_ backend: Backend, route: String = "GET /plain", path: String = "/now") -> String {
    """
    backends:
      b: { url: "\(backend.url)" }
    endpoints:
      - route: \(route)
        calls:
          one: { from: b, get: \(path) }

    """
}
