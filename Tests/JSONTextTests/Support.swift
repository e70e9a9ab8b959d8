import Basics

@testable import JSONText

/// The error of a text, or nil if it is valid.
func scanError(in text: [UInt8], depthMax: Int = JSONSlice.depthMax) -> JSONError? {
    do throws(JSONError) {
        _ = try JSONSlice(validating: Bytes(text), depthMax: depthMax)
        return nil
    } catch {
        return error
    }
}

func scanError(in text: String) -> JSONError? { scanError(in: Array(text.utf8)) }

func slice(_ text: String) throws -> JSONSlice { try JSONSlice(validating: Bytes(text)) }

extension JSONSlice {
    var string: String { String(bytes) }
}
