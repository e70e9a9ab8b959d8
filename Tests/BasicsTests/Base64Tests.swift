import Foundation
import Testing

@testable import Basics

/// Base64 is read strictly, so that a value has one spelling, and written with padding.
@Suite struct Base64Tests {
    /// All lengths of the last group, against Foundation.
    @Test(arguments: 0..<40) func readsAndWritesAsFoundationDoes(_ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 200) }
        let text = Data(bytes).base64EncodedString()
        #expect(Base64.bytes(Bytes(text)) == bytes)
        var written: [UInt8] = []
        written.append(base64: bytes.span)
        #expect(written == Array(text.utf8))
    }

    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
    ])
    func readsTheVectorsOfTheRFC(_ text: String, _ expected: String) {
        #expect(Base64.bytes(Bytes(text)) == Array(expected.utf8))
    }

    @Test(arguments: [
        "Zg", "Zg=", "Zg===", "=", "==", "====", "Z===", "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_",
        "Zm9*",
        // Spare bits that are not zero.
        "Zh==", "Zm9=", "Zg=a",
    ])
    func refuses(_ text: String) {
        #expect(Base64.bytes(Bytes(text)) == nil)
    }
}
