import Promises

/// First come, first served: promises of something that is short, in order. Whoever gives up leaves.
final class WaitingLine<Good> {
    /// One place in the line; without a resolver it is empty.
    private final class Place {
        var resolver: LocalResolver<Good>?

        init(_ resolver: consuming LocalResolver<Good>) {
            self.resolver = consume resolver
        }
    }

    private var places: [Place] = []
    /// Places before this index have been served.
    private var front = 0

    /// Those who wait.
    private(set) var count = 0

    /// Takes the last place; the promise is kept when `serve` comes to it.
    func join(on core: Core) -> Local<Good> {
        let resolver = LocalResolver<Good>(on: core)
        let promise = resolver.promise
        let place = Place(consume resolver)
        promise.whenSettled { [weak self] result in
            if case .failure = result { self?.left(place) }
        }
        places.append(place)
        count += 1
        return promise
    }

    /// Gives the good to whoever has waited longest; false if nobody waits. It is made only then.
    func serve(_ good: () -> Good) -> Bool {
        while front < places.count {
            let place = places[front]
            front += 1
            guard let resolver = place.resolver.take() else { continue }
            count -= 1
            // Who gave up in this very turn is passed over; `left` finds the place empty then.
            if resolver.isCancelled { continue }
            tidy()
            resolver.fulfill(good())
            return true
        }
        tidy()
        return false
    }

    /// Whoever was served has no resolver any more, and is not counted twice.
    private func left(_ place: Place) {
        guard place.resolver.take() != nil else { return }
        count -= 1
        tidy()
    }

    /// Forgets empty places once they are the most.
    private func tidy() {
        guard places.count > 2 * count + 16 else { return }
        places = places[front...].filter { $0.resolver != nil }
        front = 0
    }
}
