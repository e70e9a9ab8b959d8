import HTTP
import Promises

/// `max_in_flight`: so many requests of one endpoint at once, from their last byte on, answers that are
/// held back included.
enum InFlightLimit {
    /// - Parameter refusal: answers what is too much
    static func filter(max: Int, refusal: @escaping Service) -> Filter {
        let count = Count()
        return Filter { next in
            { request, exchange in
                guard count.value < max else { return refusal(request, exchange) }
                count.value += 1
                let answer = next(request, exchange)
                answer.whenSettled { _ in count.value -= 1 }
                return answer
            }
        }
    }

    /// 503, come again.
    static func refuse(_ request: Request, _ exchange: Exchange) -> Local<Response> {
        exchange.core.value(
            Problem(.serviceUnavailable, instance: exchange.id).response([.retryAfter: "1"]))
    }

    private final class Count {
        var value = 0
    }
}
