import Basics
import HTTP

extension Target {
    /// Reads the query parameters of a page, percent-decoded; returns what is wrong with the first invalid
    /// one.
    ///
    /// - Parameter read: returns what is wrong with a parameter; nil for a valid one
    func firstFault(_ read: (_ name: String, _ value: Bytes) -> String?) -> String? {
        for parameter in parameters {
            guard let value = parameter.decodedValue else {
                return "a parameter has a malformed percent-encoding"
            }
            if let fault = read(String(parameter.name), value) { return fault }
        }
        return nil
    }
}
