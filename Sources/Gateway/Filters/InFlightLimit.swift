import HTTP
import Promises

/// `max_in_flight`: so many requests of one endpoint at once, answers that are held back included.
enum InFlightLimit {
    static func filter(max: Int) -> Filter {
        let count = Count()
        return Filter { next in
            { request, exchange in
                guard count.value < max else {
                    let retry: Fields = [.retryAfter: "1"]
                    return exchange.core.value(
                        Problem(.serviceUnavailable, instance: exchange.id).response(retry))
                }
                count.value += 1
                let answer = next(request, exchange)
                answer.whenSettled { _ in count.value -= 1 }
                return answer
            }
        }
    }

    private final class Count {
        var value = 0
    }
}
