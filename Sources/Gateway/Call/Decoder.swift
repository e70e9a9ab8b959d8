import Basics
import HTTP
import HTTPClient
import JSONText

/// Makes a part of a backend's answer: check the status, check the JSON, take, keep, drop, rename.
struct Decoder {
    let plan: CallPlan

    func part(of response: ClientResponse) throws -> Part {
        guard plan.accept.contains(where: { $0.contains(Int(response.status.code)) }) else {
            throw unexpected(response)
        }
        return Part(value: try shaped(response), fields: relayed(response.fields))
    }

    private func relayed(_ fields: Fields) -> Fields {
        var relayed = Fields()
        for name in plan.relayHeaders {
            for value in fields.all(name) { relayed.append(name, value) }
        }
        return relayed
    }

    /// At the root there is a place for the members of an object only, and for nothing at all.
    private func shaped(_ response: ClientResponse) throws -> JSONSlice {
        let content = response.content
        let value = try plan.shape.applied(to: try value(of: content))
        if plan.placement != .named, value.kind != .object, !content.isEmpty {
            throw InvalidShape()
        }
        return value
    }

    /// 204 and an empty body give null, and that is no failure.
    private func value(of content: Bytes) throws -> JSONSlice {
        guard !content.isEmpty else { return .null }
        do {
            return try JSONSlice(validating: content)
        } catch {
            throw CallFailure.invalidJSON(error.description)
        }
    }

    private func unexpected(_ response: ClientResponse) -> CallFailure {
        .unexpectedStatus(
            response.status,
            retryAfter: response.fields[.retryAfter].flatMap { Int($0.description) },
            answer: plan.relaysBody ? RelayableResponse(response) : nil)
    }
}
