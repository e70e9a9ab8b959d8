package import YAMLReader

extension Config {
    /// One of `endpoints:`, a route that clients call.
    package struct Endpoint: Sendable {
        package let place: Place
        package var route: Placed<Route>?
        package var params: [Param] = []
        package var forward: Forward?
        package var body: Body?
        package var deadline: Placed<Duration>?
        package var minDuration: Placed<Duration>?
        package var succeedWhen: Placed<SucceedWhen>?
        package var report: Placed<Report>?
        package var expose: Placed<Expose>?
        package var partialStatus: Placed<Int>?
        package var cacheControl: Placed<String>?
        package var serverTiming: Placed<Bool>?
        package var maxInFlight: Placed<Int>?
        package var roundUpTo: Placed<Duration>?
        package var maxBody: Placed<Int>?
        /// For its calls.
        package var timeout: Placed<Duration>?
        package var calls: [Call] = []

        init(place: Place) {
            self.place = place
        }

        package enum SucceedWhen: String, Sendable, CaseIterable { case any, all, required }
        package enum Report: String, Sendable, CaseIterable { case body, header, off }

        /// What an answer says about a failure: its kind only, or host, port and the error's text.
        package enum Expose: String, Sendable, CaseIterable { case kinds, details }
    }

    /// `forward:`, on an endpoint or a call: what of the client's request goes along.
    package struct Forward: Sendable {
        let place: Place
        package var headers: [Placed<String>] = []
        package var query = Query.names([])

        init(place: Place) {
            self.place = place
        }

        /// Which query parameters are forwarded.
        package enum Query: Sendable {
            case names([Placed<String>])
            /// Every parameter that the endpoint does not declare.
            case all
        }
    }

    /// `body:` of an endpoint, what a client's body must look like.
    package struct Body: Sendable {
        package let place: Place
        package var type: Placed<Property.Kind>?
        package var required: [Placed<String>] = []
        package var properties: [Property] = []
        /// Bytes.
        package var max: Placed<Int>?

        init(place: Place) {
            self.place = place
        }
    }

    /// One of `properties:`, a field of a body; it may have properties itself.
    package struct Property: Sendable {
        package let name: Placed<String>
        package let place: Place
        package var type: Placed<Kind>?
        package var required: [Placed<String>] = []
        package var properties: [Property] = []
        package var min: Placed<Number>?
        package var max: Placed<Number>?
        package var minLength: Placed<Int>?
        package var maxLength: Placed<Int>?
        package var pattern: Placed<String>?
        package var oneOf: [Placed<String>] = []

        init(name: Placed<String>, place: Place) {
            self.name = name
            self.place = place
        }

        package enum Kind: String, Sendable, CaseIterable {
            case object, array, string, integer, number, boolean, null
        }
    }
}
