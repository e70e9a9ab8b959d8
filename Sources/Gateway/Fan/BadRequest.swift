import HTTP

/// What is wrong with a client's request, all of it at once.
struct BadRequest: Error {
    let status: Status
    let errors: [RequestError]

    init(errors: [RequestError]) {
        status = .badRequest
        self.errors = errors
    }

    init(_ tooLarge: BodyTooLarge) {
        status = .contentTooLarge
        errors = []
    }

    func answer(to exchange: Exchange) -> Response {
        let problem = Problem(status, instance: exchange.id)
        guard !errors.isEmpty else { return problem.response() }
        return problem.with("errors", json: RequestError.json(errors)).response()
    }
}
