/// The refusal of a request, and the authenticator that it comes from.
struct AttributedRefusal {
    let refusal: AuthRefusal
    /// The index in the endpoint's list; its challenge is in the response.
    let authenticator: Int
    /// The request has several credentials.
    var isAmbiguous = false
}
