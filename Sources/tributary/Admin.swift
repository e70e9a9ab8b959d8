import Assembly
import Basics
import Gateway
import HTTP
import HTTPServer
import JSONText
import Promises
import Reactor
import UVReactor

/// The admin page: liveness, readiness, metrics, the requests in flight. For operators only, on an
/// address of its own and on the control loop, so that it answers while the cores are busy.
final class Admin {
    private unowned let daemon: Daemon
    private let server: Server
    let address: SocketAddress

    /// - Parameters:
    ///   - hosts: the names that requests may have in `Host`
    ///   - access: the permissions of the file, for a unix socket
    ///   - budget: bounds its connections
    init(
        daemon: Daemon, hosts: [String], on address: SocketAddress, access: SocketFileAccess,
        within budget: DescriptorBudget
    ) throws(IOFailure) {
        self.daemon = daemon
        let pages = AdminPages(daemon: daemon, adminGuard: AdminGuard(hosts: hosts))
        var settings = ServerSettings()
        settings.connections = budget.adminConnections
        settings.refusedConnections = budget.adminRefusedConnections
        let server = Server(loop: daemon.loop, settings: settings, service: pages.answer)
        let socket = try ListeningSocket.bound(to: address, access: access)
        self.address = socket.address
        server.adopt(
            try daemon.loop.listen(on: socket) { [weak server] stream in server?.accept(stream) })
        self.server = server
    }

    func close() {
        server.close()
    }
}

/// What the admin page answers.
private final class AdminPages {
    unowned let daemon: Daemon
    private let adminGuard: AdminGuard
    private var reloadLimit = ReloadLimit()

    init(daemon: Daemon, adminGuard: AdminGuard) {
        self.daemon = daemon
        self.adminGuard = adminGuard
    }

    func answer(_ request: Request, _ exchange: Exchange) -> Local<Response> {
        if let refusal = adminGuard.refusal(of: request.head) {
            return refused(refusal.status, [:], exchange)
        }
        let isRead = request.head.method == .get || request.head.method == .head
        switch (String(request.head.target.path), isRead) {
        case ("/livez", true): return probe(daemon.liveness, "alive\n", exchange)
        case ("/readyz", true): return probe(daemon.readiness, "ready\n", exchange)
        case ("/metrics", true): return metrics(exchange)
        case ("/requests", true): return requests(exchange)
        case ("/-/reload", false) where request.head.method == .post: return reload(exchange)
        case ("/livez", _), ("/readyz", _), ("/metrics", _), ("/requests", _):
            return refused(.methodNotAllowed, [.allow: "GET, HEAD"], exchange)
        case ("/-/reload", _): return refused(.methodNotAllowed, [.allow: "POST"], exchange)
        default: return refused(.notFound, [:], exchange)
        }
    }

    private func probe(
        _ health: Daemon.Health, _ good: String, _ exchange: Exchange
    ) -> Local<Response> {
        switch health {
        case .good: text(.ok, good, exchange)
        case .notServing: text(.serviceUnavailable, "not ready\n", exchange)
        case .workersSilent(let workers):
            text(.serviceUnavailable, "\(Daemon.silence(of: workers))\n", exchange)
        }
    }

    private func metrics(_ exchange: Exchange) -> Local<Response> {
        daemon.monitor.reports().map { [daemon] workers in
            let page = MetricsPage.text(
                version: Version.number, workers: workers, reloads: daemon.reloads,
                logLinesDropped: daemon.logWriter.linesDropped, descriptors: daemon.descriptors)
            return Response(
                status: .ok, fields: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: Bytes(page))
        }
    }

    /// Those in flight, as JSON: id, endpoint, age where the endpoint has nothing to hide; and the
    /// workers whose requests are missing, because they did not answer in time.
    private func requests(_ exchange: Exchange) -> Local<Response> {
        daemon.monitor.reports().map { workers in
            var json: [UInt8] = []
            json.append(literal: #"{"requests":["#)
            let requests = workers.compactMap(\.snapshot).flatMap(\.requests)
            for (index, request) in requests.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                json.append(request)
            }
            json.append(literal: #"],"missing_workers":["#)
            for (index, report) in workers.filter({ !$0.isUp }).enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                json.append(decimal: UInt64(report.worker))
            }
            json.append(literal: "]}")
            return Response(
                status: .ok, fields: [.contentType: "application/json"], body: Bytes(json))
        }
    }

    private func reload(_ exchange: Exchange) -> Local<Response> {
        if let wait = reloadLimit.wait(at: daemon.loop.now) {
            // Whole seconds, rounded up.
            let seconds = UInt64((wait.inNanoseconds + 999_999_999) / 1_000_000_000)
            return refused(.tooManyRequests, [.retryAfter: FieldValue(seconds)], exchange)
        }
        return switch daemon.reload() {
        case .done: text(.ok, "reloaded\n", exchange)
        case .failed:
            text(
                .unprocessableContent, "the last good configuration stays; the log says why\n",
                exchange)
        case .refused(let workers):
            text(
                .serviceUnavailable,
                "\(Daemon.silence(of: workers)); the last good configuration stays\n", exchange)
        case .impossible: text(.conflict, "there is nothing to reload\n", exchange)
        }
    }

    private func text(_ status: Status, _ text: String, _ exchange: Exchange) -> Local<Response> {
        exchange.core.value(
            Response(
                status: status, fields: [.contentType: "text/plain; charset=utf-8"],
                body: Bytes(text)))
    }

    private func refused(_ status: Status, _ fields: Fields, _ exchange: Exchange) -> Local<
        Response
    > {
        exchange.core.value(Problem(status, instance: exchange.id).response(fields))
    }
}

extension [UInt8] {
    /// Appends `{"id":"...","endpoint":"GET /x","age_ms":12}`. Ids are sane tokens and routes are the
    /// operator's, so a JSON string is all they need.
    fileprivate mutating func append(_ request: RequestState) {
        append(literal: #"{"id":"#)
        append(jsonString: request.id)
        append(literal: #","endpoint":"#)
        append(jsonString: request.endpoint)
        if !request.hidesTiming {
            append(literal: #","age_ms":"#)
            append(decimal: UInt64(Swift.max(0, request.age.inNanoseconds / 1_000_000)))
        }
        append(UInt8(ascii: "}"))
    }
}
