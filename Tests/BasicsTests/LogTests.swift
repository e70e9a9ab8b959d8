import Basics
import Foundation
import Testing

@Suite struct LogTests {
    /// 2024-02-29T23:59:59.007Z
    static let leapDay: Int64 = 1_709_251_199_007_000_000

    private func lines(
        _ format: Log.Format, _ level: Log.Level = .info, _ write: (Log) -> Void
    ) -> String {
        var written: [UInt8] = []
        let log = Log(level: level, format: format, clock: { Self.leapDay }) { written += $0 }
        write(log)
        log.flush()
        return String(decoding: written, as: UTF8.self)
    }

    @Test func textFormatIsReadable() {
        let text = lines(.text) { log in
            log.write(.info, "request") { line in
                line.add("status", 200)
                line.add("path", untrusted: Bytes("/a b"))
                line.add(milliseconds: "ms", .microseconds(12_034))
            }
        }
        #expect(
            text == "2024-02-29T23:59:59.007Z info request status=200 path=\"/a b\" ms=12.034\n")
    }

    @Test(arguments: ["plain", "a\"b", "a\nb", "\u{0}", "caf\u{e9}", "\\", "{\"x\":1}"])
    func jsonEscapesAnyText(_ value: String) throws {
        let text = lines(.json) { log in
            log.write(.info, "x") {
                $0.add("ours", value); $0.add("theirs", untrusted: Bytes(value))
            }
        }
        #expect(text.hasSuffix("\n") && text.dropLast().allSatisfy { $0 != "\n" })
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(object?["ours"] as? String == value)
    }

    @Test func invalidUTF8StaysOneLine() throws {
        let text = lines(.json) { log in
            log.write(.info, "x") { $0.add("theirs", untrusted: Bytes([0xFF, 0x0A, 0x22])) }
        }
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        #expect(object?["theirs"] as? String == "\u{ff}\n\"")
    }

    @Test func linesBelowTheLevelAreOmitted() {
        #expect(lines(.text, .warning) { $0.write(.info, "quiet") } == "")
    }

    @Test func errorsAreFlushedAtOnce() {
        var batches = 0
        let log = Log(level: .info, format: .text, clock: { 0 }) { _ in batches += 1 }
        log.write(.info, "one")
        #expect(batches == 0)
        log.write(.error, "two")
        #expect(batches == 1)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (-1_000_000, "1969-12-31T23:59:59.999Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        (4_102_444_800_000_000_000, "2100-01-01T00:00:00.000Z"),
    ])
    func datesFollowRFC3339(_ unixTime: Int64, _ text: String) {
        var stamp = TimeStamp()
        #expect(String(decoding: stamp.text(at: unixTime), as: UTF8.self) == text)
    }
}
