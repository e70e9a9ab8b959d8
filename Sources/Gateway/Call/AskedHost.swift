import HTTP

/// Which host a call was sent to last, with its port. Made only for endpoints that tell their clients.
final class AskedHost {
    var name: FieldValue?
}
