import Basics
import HTTP
import Promises
import Reactor

/// The service of the admin server, for operators only: it applies the guard, finds the page in the
/// table and renders it. It runs on the control loop.
///
/// It depends only on a `Loop` and an `AdministeredProcess`, so tests run it in virtual time.
final class AdminPages {
    unowned let process: any AdministeredProcess
    let loop: any Loop
    var reloadLimit = ReloadLimit()
    var exemplarClock: ExemplarClock
    let adminGuard: AdminGuard

    /// - Parameters:
    ///   - hosts: names that are accepted in `Host` in addition to addresses and local names
    ///   - token: the secret that requests present; nil if they need none
    init(
        of process: any AdministeredProcess, on loop: any Loop, hosts: [String],
        token: String? = nil
    ) {
        self.process = process
        self.loop = loop
        exemplarClock = ExemplarClock(now: loop.exactNow, unixTime: loop.unixTime)
        adminGuard = AdminGuard(hosts: hosts, token: token)
    }

    func respond(to request: Request, _ exchange: Exchange) -> LocalPromise<Response> {
        if let refusal = adminGuard.refusal(of: request.head) {
            return refuse(refusal.status, refusal.fields, exchange)
        }
        let path = request.head.target.path
        let found = Self.table.filter { String(path) == $0.path }
        guard !found.isEmpty else { return refuse(.notFound, [:], exchange) }
        guard let page = found.first(where: { $0.accepts(request.head.method) }) else {
            return refuse(.methodNotAllowed, Self.allow(found), exchange)
        }
        return page.render(self, request, exchange).map { $0.response(of: page, exchange) }
    }

    /// The methods of all pages of a path (RFC 9110 10.2.1).
    private static func allow(_ pages: [AdminPage]) -> Fields {
        let methods = pages.flatMap(\.methods).map(\.description).joined(separator: ", ")
        return FieldValue(methods).map { [.allow: $0] } ?? [:]
    }

    private func refuse(
        _ status: Status, _ fields: Fields, _ exchange: Exchange
    ) -> LocalPromise<Response> {
        exchange.local.value(Problem(status, instance: exchange.id).response(fields))
    }
}
