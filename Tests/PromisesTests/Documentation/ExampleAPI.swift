import Promises

// The services that the examples of the documentation use. Time is virtual: a response takes 20
// milliseconds, which the test lets pass.

// snippet: world
struct User: Sendable, Equatable {
    var id: Int
    var name: String
    var imageURL: String
}

struct Image: Sendable, Equatable {
    var url: String
}

/// The server has no such object.
struct NotFound: Error, Equatable {}

final class API: Sendable {
    let context: ManualContext
    let requests = Journal<String>()

    init(on context: ManualContext) { self.context = context }

    func user(_ id: Int) -> Promise<User> {
        respond("user \(id)") {
            guard id > 0 else { throw NotFound() }
            return User(id: id, name: "user\(id)", imageURL: "/\(id).png")
        }
    }

    func image(_ url: String) -> Promise<Image> { respond(url) { Image(url: url) } }

    /// A request that is never answered; records its cancellation.
    func neverAnswers() -> Promise<Image> {
        let resolver = Resolver<Image>(on: context).shared()
        resolver.onCancel { [requests] _ in requests.add("stopped") }
        resolver.promise.whenSettled { _ in withExtendedLifetime(resolver) {} }
        return resolver.promise
    }

    private func respond<Value: Sendable>(
        _ request: String, _ make: @escaping @Sendable () throws -> Value
    ) -> Promise<Value> {
        requests.add(request)
        return after(.milliseconds(20), on: context).promise.map { try make() }
    }
}
// end
