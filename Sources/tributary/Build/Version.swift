import HTTP

/// The version of this build.
enum Version {
    static let number = Product.version
    static let text = "tributary \(number)"
}
