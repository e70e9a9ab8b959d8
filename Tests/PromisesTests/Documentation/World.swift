import Promises

// What the examples of the documentation talk to. Time is virtual: an answer takes 20 milliseconds,
// and comes when the test lets them pass.

struct User: Sendable, Equatable {
    var id: Int
    var name: String
    var imageURL: String
}

struct Image: Sendable, Equatable {
    var url: String
}

/// The server said no.
struct NotFound: Error, Equatable {}

final class API: Sendable {
    let context: ManualContext
    let asked = Journal<String>()

    init(on context: ManualContext) { self.context = context }

    func user(_ id: Int) -> Promise<User> {
        answer("user \(id)") {
            guard id > 0 else { throw NotFound() }
            return User(id: id, name: "user\(id)", imageURL: "/\(id).png")
        }
    }

    func image(_ url: String) -> Promise<Image> { answer(url) { Image(url: url) } }

    /// A service that never answers; stopping it is noted.
    func stuck() -> Promise<Image> {
        let resolver = Resolver<Image>(on: context).shared()
        resolver.onCancel { [asked] _ in asked.add("stopped") }
        resolver.promise.whenSettled { _ in withExtendedLifetime(resolver) {} }
        return resolver.promise
    }

    private func answer<Value: Sendable>(
        _ question: String, _ make: @escaping @Sendable () throws -> Value
    ) -> Promise<Value> {
        asked.add(question)
        return after(.milliseconds(20), on: context).promise.map { try make() }
    }
}
