import Testing
import YAMLReader

/// The messages and source locations for texts that cannot be read.
@Suite struct YAMLProblemTests {
    @Test(arguments: [
        ("a: { b: ${X} }", #"1:10 inside { } and [ ] a text with ${...} needs quotes: "${NAME}""#),
        ("a: [${B}, c]", #"1:6 inside { } and [ ] a text with ${...} needs quotes: "${NAME}""#),
        (
            "a: { get: /x/{id}, c: d }",
            #"1:14 inside { } and [ ] a text with {name} needs quotes: "/items/{id}""#
        ),
        (
            "keep: [items[].id, b]",
            #"1:13 inside { } and [ ] a text with [...] needs quotes: "items[].id""#
        ),
        (
            "listen: [::1]:8080\na: b",
            #"1:10 an IPv6 address needs quotes around all of it: "[::1]:8080""#
        ),
        (
            "listen: [fe80::1]:8080\na: b",
            #"1:18 an IPv6 address needs quotes around all of it: "[::1]:8080""#
        ),
        ("a: {id}/x", #"1:8 a text that starts with '{' needs quotes: "{name}...""#),
        ("a: [id]x", #"1:8 a text that starts with '[' needs quotes: "[...]...""#),
    ])
    func missingQuotesAreReported(_ text: String, problem: String) {
        #expect(outline(of: text) == problem)
    }

    @Test(arguments: [
        ("", "1:1 the file is empty"),
        ("# only this\n", "1:1 the file is empty"),
        ("a: x\n---\nb: c", "2:1 a second document starts here; one file holds one"),
        ("a: *x", "1:4 aliases (*name) are not supported; quote a text that starts with '*'"),
        ("a: &x y", "1:4 anchors (&name) are not supported; quote a text that starts with '&'"),
        ("a: !!str y", "1:4 tags (!name) are not supported; quote a text that starts with '!'"),
        ("%YAML 1.3\n---\na: b", "1:1 only YAML 1.2 can be read; remove the %YAML line"),
        (
            "? [a]\n: b",
            #"1:3 a key must be a text; quote "{...}" and "[...]" where they belong to a text"#
        ),
        ("?\n: x", "1:2 a key is missing before the ':'"),
        ("a:\n  <<: {}", "2:3 merge keys (<<) are not supported; write the keys here"),
    ])
    func unsupportedFeaturesAreRefused(_ text: String, problem: String) {
        #expect(outline(of: text) == problem)
    }

    @Test(arguments: [
        ("a: [1, 2", "1:4 this [ is never closed"),
        ("a:\n  - { b: c\n", "2:5 this { is never closed"),
        ("a: \"abc\nb: c\n", "1:4 this \" is never closed"),
        ("{ : x }", "1:3 expected a text here"),
        ("a: \"x\r\n", "1:4 this \" is never closed"),
        ("a: [", "2:1 the file ends inside [ ] or { }"),
        ("a: [b}", "1:6 expected ',' or ']' here"),
        (
            "a: { b: c\nd: { e: f }",
            "2:2 expected ',' or '}' here; the '{' in line 1 is not closed"
        ),
        (
            "a: [b\nc: [d]\n",
            "2:2 expected ',' or ']' here; the '[' in line 1 is not closed"
        ),
        ("a: 'x' y", "1:8 unexpected text after a closing quote; put the whole text into quotes"),
        ("a: b: c", "1:5 a ':' is not allowed here; if it is part of a text, quote the text"),
        ("a: b\nc\nd: e", "2:1 expected ':' after this key"),
        (
            "a:\n  b: c\n d: e",
            "3:2 this line does not belong to the block around it; check its indentation"
        ),
        (
            "a:\n  - b\n  c: d",
            "3:3 expected the next '- ' of the list that begins in line 2 here; a key of an entry"
                + " is indented more, and a mapping has no '- '"
        ),
        ("a: - b", "1:4 a list with '- ' must start on a line of its own"),
        ("a:\n\tb: c", "2:1 a tab cannot be used for indentation; use spaces"),
        ("a: @x", "1:4 a text cannot start with '@'; quote it"),
        (
            #"a: "\d""#,
            #"1:5 unknown escape in "..."; use '...' for texts with backslashes"#
        ),
        ("a: b\nc: \u{1}", "2:4 control characters are not allowed"),
    ])
    func problemsHaveTheirSourceLocation(_ text: String, problem: String) {
        #expect(outline(of: text) == problem)
    }
}
