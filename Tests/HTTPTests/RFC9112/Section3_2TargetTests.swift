import Basics
import HTTP
import Testing

/// RFC 9112 3.2: the forms of a target, and the `Host` beside it.
@Suite struct Section3_2TargetTests {
    @Test(arguments: [
        "/", "/a/b", "/?a=1&a=2&a[]=3&&&=&b", "/?a??b&c=?", "/?u=http://x/../y", "/?a=%&b=%1&c=%zz",
        "/%61%2Fb", "//evil.example/x", "/a;b=c,d", "/a:b!$'()*@", "/$1${jndi:x}", "/..;/..;/etc",
        "http://a", "http://a/", "HTTP://a:80/b?c", "http://[::1]:8080/x", "http://a?b",
        "https://user-1.example/x", "/?p=C:\\dir&re=\\d+", "/?\\", "/a?0123456789abcdef\\",
        "http://a?\\",
    ])
    func acceptsTargetsOfTheGrammarAndOfBrowsers(_ target: String) {
        #expect(requests(in: get(target)) == "GET \(target)")
    }

    @Test(arguments: [
        "x", "../../etc/passwd", "localhost:80", "*", "ftp://a/b", "http:///b", "http://",
        "http:/a",
        "http://a:99999999/", "http://a:x/", "http://u@a/", "http://[::1/", "http://[]/",
        "http://a b/",
        "/\u{c3}\u{a9}", "/\u{ff}\u{fe}", "/a#b", "/%", "/%1", "/%zz", "/<script>", "/a\\b",
        "/\\?a", "/0123456789abcdef\\", "/\"",
        "/?a#b", "/?\u{ff}", "?a", "http://:80/",
    ])
    func rejectsMalformedTargets(_ target: String) {
        #expect(requests(in: get(target)) == "refused 400")
    }

    @Test func acceptsTheAsteriskForOptionsOnly() {
        #expect(requests(in: "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n") == "OPTIONS *")
    }

    @Test(arguments: [
        "Host: a", "hOsT:\ta.example \t", "Host: a:80", "Host: [::1]:80", "Host: a:",
        "Host: 1.2.3.4",
        "Host:", "Host: a_b-c.d~e", "Host: 0.0.0.0=5000", "Host: a!$&'()*+,;=b", "Host: a=b:80",
        "Host: =", "Host: a%3Db",
    ])
    func acceptsAValidHost(_ field: String) {
        #expect(requests(in: "GET / HTTP/1.1\r\n\(field)\r\n\r\n") == "GET /")
    }

    @Test(arguments: [
        "X-A: 1", "Host: a\r\nHost: a", "Host: a\r\nhost: b", "Host: a/x", "Host: u@a",
        "Host: a, b",
        "Host: a\"b", "Host: a<b", "Host: \u{ff}a\u{ff}", "Host: a?x=1", "Host: a:abc",
        "Host: a:99999",
        "Host: :80",
        "Host : a", "Host: a\0b", "Host: [::1", "Host: [::1]x", "Host: a b", "Host: a%zz",
    ])
    func rejectsMissingRepeatedOrMalformedHosts(_ fields: String) {
        #expect(requests(in: "GET / HTTP/1.1\r\n\(fields)\r\n\r\n") == "refused 400")
    }

    @Test func needsNoHostBeforeHTTP11() {
        #expect(requests(in: "GET / HTTP/1.0\r\n\r\n") == "GET / close")
        #expect(requests(in: "GET / HTTP/1.0\r\nHost: a b\r\n\r\n") == "refused 400")
    }
}
