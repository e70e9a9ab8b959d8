import YAMLReader

extension Config {
    /// One of `endpoints:`, a route that clients call.
    struct Endpoint: Sendable {
        let place: Place
        var route: Placed<Route>?
        var params: [Param] = []
        var forward: Forward?
        var body: Body?
        var deadline: Placed<Duration>?
        var minDuration: Placed<Duration>?
        var succeedWhen: Placed<SucceedWhen>?
        var report: Placed<Report>?
        var expose: Placed<Expose>?
        var partialStatus: Placed<Int>?
        var cacheControl: Placed<String>?
        var serverTiming: Placed<Bool>?
        var maxInFlight: Placed<Int>?
        var roundUpTo: Placed<Duration>?
        var maxBody: Placed<Int>?
        /// For its calls.
        var timeout: Placed<Duration>?
        var calls: [Call] = []

        init(place: Place) {
            self.place = place
        }

        enum SucceedWhen: String, Sendable, CaseIterable { case any, all, required }
        enum Report: String, Sendable, CaseIterable { case body, header, off }

        /// What an answer says about a failure: its kind only, or host, port and the error's text.
        enum Expose: String, Sendable, CaseIterable { case kinds, details }
    }

    /// `forward:`, on an endpoint or a call: what of the client's request goes along.
    struct Forward: Sendable {
        let place: Place
        var headers: [Placed<String>] = []
        var query = Query.names([])

        init(place: Place) {
            self.place = place
        }

        /// Which query parameters are forwarded.
        enum Query: Sendable {
            case names([Placed<String>])
            /// Every parameter that the endpoint does not declare.
            case all
        }
    }

    /// `body:` of an endpoint, what a client's body must look like.
    struct Body: Sendable {
        let place: Place
        var type: Placed<Property.Kind>?
        var required: [Placed<String>] = []
        var properties: [Property] = []
        /// Bytes.
        var max: Placed<Int>?

        init(place: Place) {
            self.place = place
        }
    }

    /// One of `properties:`, a field of a body; it may have properties itself.
    struct Property: Sendable {
        let name: Placed<String>
        let place: Place
        var type: Placed<Kind>?
        var required: [Placed<String>] = []
        var properties: [Property] = []
        var min: Placed<Number>?
        var max: Placed<Number>?
        var minLength: Placed<Int>?
        var maxLength: Placed<Int>?
        var pattern: Placed<String>?
        var oneOf: [Placed<String>] = []

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }

        enum Kind: String, Sendable, CaseIterable {
            case object, array, string, integer, number, boolean, null
        }
    }
}
