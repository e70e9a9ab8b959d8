import Basics
import HTTP
import Testing

@testable import Gateway

/// A target of a template is checked with the plan, if its values cannot change its form.
@Suite struct TargetTemplateTests {
    /// `{}` is a parameter; the others are literal parts.
    private func template(_ text: String) -> TargetTemplate {
        var pieces: [CompiledTemplate.Piece] = []
        for (index, literal) in text.components("{}").enumerated() {
            if index > 0 {
                let reference = CompiledTemplate.Reference(
                    source: .param(index - 1), name: "params.p", isOptional: false)
                pieces.append(.reference(reference, .pathSegment))
            }
            if !literal.isEmpty { pieces.append(.literal(Bytes(literal))) }
        }
        return TargetTemplate(CompiledTemplate(pieces: pieces))
    }

    /// The target with one text for all values, and where its query begins.
    private func target(_ template: TargetTemplate, _ value: String) -> (text: String, query: Int?)
    {
        var target: [UInt8] = []
        var queryStart: Int?
        for part in template.parts {
            if case .literal(let range) = part {
                queryStart = queryStart ?? template.queryStart(in: range, at: target.count)
                template.append(range, to: &target)
            } else {
                target.append(percentEncoding: Bytes(value).span)
            }
        }
        return (String(Bytes(target)), queryStart)
    }

    @Test(arguments: ["/{}", "/a/{}/b?c={}&d", "/{}?x={}", "/{}.{}", "/a?{}={}", "/%41{}"])
    func everyValueGivesAValidTarget(text: String) throws {
        let template = template(text)
        #expect(template.isAlwaysValid)
        for value in ["", "x", "/", "?", "#", "%", "..", " ", "\u{e9}", "a\r\nb"] {
            let (text, queryStart) = target(template, value)
            let checked = try #require(Target(text), "\(text)")
            #expect(checked.form == .origin)
            let assembled = Target(
                assembled: Bytes(text), pathEnd: queryStart ?? text.utf8.count)
            #expect(assembled.path == checked.path && assembled.query == checked.query)
        }
    }

    /// The beginning or the form depends on the value, or it completes an escape.
    @Test(arguments: ["{}", "{}/a", "/a%{}", "/a%4{}", "/a#{}", "/a b{}", "*{}"])
    func otherTargetsAreCheckedForEachRequest(text: String) {
        #expect(!template(text).isAlwaysValid)
    }
}

extension String {
    /// The parts between the occurrences of a separator.
    fileprivate func components(_ separator: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = self[...]
        while let range = rest.firstRange(of: separator) {
            parts.append(rest[..<range.lowerBound])
            rest = rest[range.upperBound...]
        }
        return parts + [rest]
    }
}
