import Basics
import Foundation
import HTTP

@testable import JOSE
@testable import JSONText

/// Prints how the gateway's parsers read inputs, for `Tests/Verify/differential.py` to compare with others.
///
/// Reads inputs in hexadecimal digits, one a line, and writes one line for each. Bytes are written
/// in hexadecimal digits, so that lines are unambiguous.
enum Verdicts {
    static func printAll(for target: String) -> Bool {
        let verdict: ([UInt8]) -> String
        switch target {
        case "request": verdict = request
        case "json": verdict = json
        case "token": verdict = token
        default: return false
        }
        while let line = readLine() {
            print(verdict(bytes(ofHex: line)))
        }
        return true
    }

    /// Every message as `method target version keeps-alive body name=value…`, then the final state:
    /// `end`, `waiting`, or the error.
    private static func request(_ input: [UInt8]) -> String {
        var reader = RequestReader(limits: Limits())
        var words: [String] = []
        var message: [String] = []
        var fields: [String] = []
        var body: [UInt8] = []
        var position = 0
        do throws(WireError) {
            reading: while true {
                switch try reader.read(input.span, from: &position) {
                case .head(let head):
                    message = [
                        hex("\(head.method)".utf8), hex(head.target.text.array),
                        head.version == .http10 ? "1.0" : "1.1", head.keepsAlive ? "keep" : "close",
                    ]
                    fields = head.fields.map { "\(hex($0.name.array))=\(hex($0.value.array))" }
                case .body(let range): body += input[range]
                case .trailers: break
                case .complete:
                    words.append((message + ["-" + hex(body)] + fields).joined(separator: " "))
                    body = []
                case .needsMore: break reading
                }
            }
            words.append(reader.isInMessage ? "waiting" : "end")
        } catch {
            words.append("\(error)")
        }
        return words.joined(separator: "|")
    }

    /// The value without white space, strings unescaped, numbers as written; or the error.
    private static func json(_ input: [UInt8]) -> String {
        do throws(JSONError) {
            return "ok " + canonical(try JSONSlice(validating: Bytes(input)))
        } catch {
            return "\(error.reason)"
        }
    }

    /// Recursive: only for this tool, whose inputs are trusted.
    private static func canonical(_ slice: JSONSlice) -> String {
        switch slice.kind {
        case .object:
            let members = slice.members.map { member in
                "s\(hex(member.key.unescaped.array)):\(canonical(member.value))"
            }
            return "{\(members.joined(separator: ","))}"
        case .array: return "[\(slice.elements.map(canonical).joined(separator: ","))]"
        case .string: return "s" + hex(slice.text?.array ?? [])
        case .number: return "n" + String(slice.bytes)
        case .boolean, .null: return String(slice.bytes)
        }
    }

    /// A JWK Set or a secret, the algorithms, and a token, one a line: `ok` and the payload, or the
    /// reason of the rejection.
    private static func token(_ input: [UInt8]) -> String {
        let lines = input.split(
            separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false
        ).map { Bytes(Array($0)) }
        guard lines.count == 3 else { return "no token" }
        let algorithms = String(lines[1]).split(separator: " ").compactMap {
            SignatureAlgorithm(rawValue: String($0))
        }
        let rules = TokenRules(
            issuers: [Bytes("https://id.test/")], audiences: [Bytes("shop")],
            algorithms: algorithms, leeway: 0)
        guard let keys = keys(lines[0]) else { return "no keys" }
        do throws(TokenFault) {
            let claims = try rules.verify(
                try CompactJWS(lines[2]), with: keys, now: 1_700_000_000)
            return "ok " + hex(claims.payload.bytes.array)
        } catch {
            return "\(error)"
        }
    }

    /// A JWK Set, or a secret in base64url.
    private static func keys(_ text: Bytes) -> KeySet? {
        guard text.isEmpty || text[0] != UInt8(ascii: "{") else { return try? KeySet(jwkSet: text) }
        let secret = Base64URL.decode(text.span)
        return secret.map { KeySet(secret: Bytes($0)) }
    }

    private static func hex(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(ofHex text: String) -> [UInt8] {
        let digits = text.utf8.map { UInt8(truncatingIfNeeded: $0 < 58 ? $0 &- 48 : $0 &- 87) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
