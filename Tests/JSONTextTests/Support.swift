import Basics

@testable import JSONText

/// What a scan says of a text.
func fault(in text: [UInt8], depthMax: Int = JSONSlice.depthMax) -> JSONError? {
    do throws(JSONError) {
        _ = try JSONSlice(validating: Bytes(text), depthMax: depthMax)
        return nil
    } catch {
        return error
    }
}

func fault(in text: String) -> JSONError? { fault(in: Array(text.utf8)) }

func slice(_ text: String) throws -> JSONSlice { try JSONSlice(validating: Bytes(text)) }

extension JSONSlice {
    var string: String { String(bytes) }
}
