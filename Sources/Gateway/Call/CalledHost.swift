import HTTP

/// The host that a call was sent to last, with its port. Exists only for endpoints that expose
/// details, and for `explain`.
final class CalledHost {
    var name: FieldValue?
}
