import Testing

@testable import Gateway

/// The rules between keys: errors, warnings, and valid configurations.
@Suite struct CheckTests {
    @Test(arguments: [
        (
            "headers: { X: \"{idd}\" }",
            "8:25: error: call 'one' uses {idd}; there is no parameter 'idd' (parameters here: id)"
        ),
        (
            "headers: { X: \"{id.a}\" }",
            "8:25: error: call 'one' uses {id.a}; 'id' is a parameter and has no members"
        ),
        (
            "headers: { X: \"{two.a}\" }",
            "8:25: error: call 'one' uses {two.a}; there is no call 'two' (calls here: one)"
        ),
        ("headers: { X: \"{one.a}\" }", "8:25: error: call 'one' waits for itself"),
        ("headers: { X: \"{one}\" }", "8:25: error: call 'one' waits for itself"),
        (
            "headers: { X: \"{id\" }",
            "8:24: error: 'headers' in call 'one' cannot be read: this { is never closed; write {{ for a literal {"
        ),
        ("headers: { X: a, x: b }", "8:26: error: 'headers' has 'x' twice"),
        (
            "headers: { X: \"{request.body}\" }",
            "8:25: warning: call 'one' uses {request.body}; GET requests seldom have a body"
        ),
        (
            "forward: { headers: [Accept-Encoding] }",
            "8:30: warning: 'Accept-Encoding' is forwarded to call 'one': a backend that follows it sends a compressed response, which is not decoded, and the call fails"
        ),
        (
            "forward: { headers: [range] }",
            "8:30: warning: 'range' is forwarded to call 'one': a backend that follows it sends a part of its JSON, and the call fails"
        ),
        ("body: { a: 1 }", "8:15: error: a GET request has no body; use post, put or patch"),
        (
            "timeout: 6s",
            "8:18: warning: timeout 6s of call 'one' is longer than the deadline 5s; it can never be used"
        ),
        (
            "hedge: { after: 2s }",
            "8:25: warning: the hedge of call 'one' never starts: the timeout of the call is 2s"
        ),
        (
            "retry: { attempts: 1 }",
            "8:28: warning: 'retry' has no effect: 'attempts' includes the first one"
        ),
        (
            "timeout: 1s\nretry: { backoff: 2s }",
            "9:27: warning: no retry of call 'one' starts after the backoff 2s: the timeout of the call is 1s"
        ),
        (
            "if_failed: { a: [\"{request.client}\"] }",
            "8:20: warning: 'if_failed' of call 'one' has no references: the text in braces is sent as it is"
        ),
        (
            "if_failed: \"x {one.a}\"",
            "8:20: warning: 'if_failed' of call 'one' has no references: the text in braces is sent as it is"
        ),
        (
            "relay_status: [404]",
            "8:23: warning: 'relay_status' has no effect: call 'one' is not required, so its failure does not determine the status"
        ),
        (
            "required: true\nif_failed: []",
            "9:20: warning: 'if_failed' has no effect: call 'one' is required, so its failure fails the request"
        ),
        (
            "required: true\nrelay_status: [204]",
            "9:23: warning: status 204 is in 'accept', so it is not a failure that could be relayed"
        ),
        (
            "at: .\nif_failed: []",
            "9:20: error: 'if_failed' must be an object, null or omit with 'at: .'"
        ),
        (
            "at: \"x[]\"\nif_failed: {}",
            "9:20: error: 'if_failed' must be an array, null or omit where its elements are appended"
        ),
        (
            "at: none\nif_failed: {}",
            "9:20: warning: 'if_failed' has no effect: the response does not contain call 'one'"
        ),
        (
            "at: \"x[]\"\nkeep: []",
            "8:13: error: call 'one' with 'keep: []' has no elements that could be appended"
        ),
        (
            "at: _gateway.x",
            "8:13: error: the key '_gateway' is reserved for the report"
        ),
        (
            "at: \"x[].y\"",
            "8:13: error: 'at' leads into the elements of a list; call 'one' has no 'each'"
        ),
        (
            "at: \"x[][].y\"",
            "8:13: error: 'at' in call 'one' must be . (the root), none, a path such as user.address,"
                + " or news[] to append; without 'at' the response is stored under the call's name"
        ),
        (
            "rename: { a: x, b: x }",
            "8:19: error: 'rename' of call 'one': two members of one object would be renamed to 'x'"
        ),
        (
            "form: { a: 1 }",
            "8:15: error: a GET request has no body; use post, put or patch"
        ),
        (
            "form: a",
            "8:15: error: 'form' in call 'one' must be a mapping: { name: value }"
        ),
        (
            "rename: { '*': snake }",
            "8:24: error: 'rename' of call 'one': '*' names all keys, and its value must be"
                + " 'camel'; a key that is named * is written in quotes"
        ),
        (
            "when: { param: di }",
            "8:24: error: call 'one': there is no parameter 'di' - did you mean 'id'?"
        ),
    ])
    func reportsProblemInCall(_ lines: String, problem: String) {
        #expect(problems(Snippet.call(lines)) == [problem])
    }

    @Test(arguments: [
        (
            "hedge: { after: 1s }",
            "8:16: error: call 'one' is a POST, which must not be sent twice; 'hedge' is for get, head, put and delete"
        ),
        (
            "retry: { attempts: 2 }",
            "8:16: warning: call 'one' is a POST: it is retried only if nothing of it was sent"
        ),
        (
            "retry: { attempts: 1 }",
            "8:28: warning: 'retry' has no effect: 'attempts' includes the first one"
        ),
        (
            "body: \"a {id} b\"",
            "8:15: error: 'body' in call 'one' must be one reference alone, such as \"{request.body}\", or a mapping whose values have references, so that they can be escaped: body: { user: \"{id}\" }"
        ),
        (
            "body: { a: [\"{idd}\"] }",
            "8:23: error: call 'one' uses {idd}; there is no parameter 'idd' (parameters here: id)"
        ),
        (
            "body: request.body",
            "8:15: warning: 'body' of call 'one' is a text that is sent as it is; write \"{request.body}\" for the value"
        ),
        (
            "body: id",
            "8:15: warning: 'body' of call 'one' is a text that is sent as it is; write \"{id}\" for the value"
        ),
        (
            "body: one.id",
            "8:15: warning: 'body' of call 'one' is a text that is sent as it is; write \"{one.id}\" for the value"
        ),
        (
            "body: \"{ request.body }\"",
            "8:15: warning: 'body' of call 'one' has a reference with spaces, which is sent as it is; write \"{request.body}\" for the value"
        ),
        (
            "body: \"<a>{ id}</a>\"",
            "8:15: warning: 'body' of call 'one' has a reference with spaces, which is sent as it is; write \"{id}\" for the value"
        ),
        (
            "body: \"{}\"",
            "8:15: warning: 'body' of call 'one' is the text {}, which is sent as it is; write {} without quotes for an empty object"
        ),
        (
            "body: \"x}\"",
            "8:15: warning: 'body' of call 'one' has an unmatched brace; the text is sent as it is"
        ),
        (
            "body: \"x { y\"",
            "8:15: warning: 'body' of call 'one' has an unmatched brace; the text is sent as it is"
        ),
    ])
    func reportsProblemInPostCall(_ lines: String, problem: String) {
        #expect(problems(Snippet.call(lines, method: "post", route: "POST /x/{id}")) == [problem])
    }

    @Test(arguments: [
        "body: {}", "body: \"{request.body}\"", "body: '{\"id\":1}'", "body: '{\"a\": \"} { id\"}'",
        "body: ids", "body: two.id", "body: one", "body: \"query { user { name } }\"",
        "body: \"a { color: red }\"", "body: 5", "body: null",
    ])
    func acceptsBodyOfPostCall(_ line: String) {
        #expect(problems(Snippet.call(line, method: "post", route: "POST /x/{id}")) == [])
    }

    @Test(
        arguments: [
            ("/items/:id", [":id"]), ("/items/:id/:q?x=:id", [":id", ":q"]), ("/items/:ids", []),
            ("/:other/a:id", []), ("/items/{id}:id", []), ("/items?id=/:id", []),
        ] as [(String, [String])])
    func warnsOfParameterWithColon(_ path: String, sent: [String]) {
        let text = Snippet.endpoint(
            "params: { q: {} }", calls: "one: { from: a, get: \"\(path)\" }")
        #expect(
            problems(text).filter { !$0.contains("is not used") }
                == sent.map { name in
                    "7:28: warning: call 'one': '\(name)' is sent as it is; write"
                        + " {\(name.dropFirst())} for the parameter"
                })
    }

    @Test(arguments: [
        "headers: { X: \"{id} {request.header.Y}\" }", "timeout: 5s", "if_failed: omit",
        "hedge: { after: 1s }",
        "retry: { attempts: 2, on: [connect, 503] }", "when: { param: id, is: 5 }",
        "at: .\nif_failed: {}", "timeout: 1s\nretry: { backoff: 1900ms }",
        "if_failed: { href: \"/items/{id}\", a: \"{}\", b: \"{two.x}\" }",
        "accept: [200-299, 404]", "relay_headers: [ETag]", "required: true\nrelay_status: []",
        "required: true\nrelay_status: [401, 404]",
    ])
    func acceptsValidCall(_ lines: String) {
        #expect(problems(Snippet.call(lines)) == [])
    }

    @Test(arguments: [
        (
            "min_duration: 400ms",
            "4:5: warning: GET /x/{id}: 'deadline' (5s) permits responses slower than 'min_duration' (400ms), which are distinguishable; lower it below 'min_duration'"
        ),
        (
            "deadline: 400ms\nmin_duration: 400ms",
            "4:5: warning: GET /x/{id}: 'deadline' (400ms) permits responses slower than 'min_duration' (400ms), which are distinguishable; lower it below 'min_duration'"
        ),
        (
            "deadline: 1s\nmin_duration: 2s\nserver_timing: true",
            "7:20: error: 'server_timing' would reveal the times that 'min_duration' hides; remove one of them"
        ),
        (
            "timeout: 9s",
            "5:14: warning: timeout 9s is longer than the deadline 5s; it can never be used"
        ),
        (
            "succeed_when: required",
            "5:19: error: 'succeed_when: required' needs a call with 'required: true'"
        ),
        (
            "succeed_when: all\npartial_status: 206",
            "6:21: warning: 'partial_status' has no effect: with 'succeed_when: all' no response is partial"
        ),
        (
            "response_headers: { X-A: \"{request.client}\" }",
            "5:30: warning: 'response_headers' has no references: the text in braces is sent as it is"
        ),
        ("body: { type: object }", "5:11: error: a GET request has no body"),
        (
            "params: { id: { in: query } }",
            "5:25: error: parameter 'id' is in the path of the route, not in the query"
        ),
        (
            "params: { q: { in: path } }",
            "5:24: error: parameter 'q' is not in the route GET /x/{id}"
        ),
        (
            "params: { id: { default: 5 } }",
            "5:30: warning: parameter 'id' is in the path, so it is always present"
        ),
        (
            "params: { q: { required: true, default: 5 } }",
            "5:45: error: parameter 'q' is required, so 'default' is never used"
        ),
        (
            "params: { q: { min: 5 } }",
            "5:25: error: 'min' of parameter 'q' needs 'type: integer' or 'type: number'"
        ),
        (
            "params: { q: { type: integer, pattern: a } }",
            "5:44: error: 'pattern' of parameter 'q' needs 'type: string'"
        ),
        (
            "params: { q: { type: integer, min: 5, max: 4 } }",
            "5:48: error: 'max' of parameter 'q' is less than its 'min'"
        ),
        (
            "params: { q: { type: integer, default: x } }",
            "5:44: error: the default 'x' of parameter 'q' must be an integer"
        ),
        (
            "params: { q: { type: uuid, default: 1-2 } }",
            "5:41: error: the default '1-2' of parameter 'q' must be a UUID"
        ),
        (
            "params: { q: { one_of: [a, b], default: c } }",
            "5:45: error: the default 'c' of parameter 'q' must be one of a, b"
        ),
        (
            "params: { q: { type: integer, min: 2, one_of: [1, 2] } }",
            "5:52: error: '1' of parameter 'q' must be an integer of at least 2"
        ),
        (
            "params: { q: { pattern: \"[\" } }",
            "5:30: error: 'pattern' in parameter 'q' must be a regular expression: this [ has no ]"
        ),
        (
            "params: { q: { pattern: 'ab(?=c)' } }",
            "5:32: error: 'pattern' in parameter 'q' must be a regular expression: look-around is not supported: it cannot be matched in linear time"
        ),
        (
            "params: { q: { pattern: 'a+', one_of: [b] } }",
            "5:44: error: 'b' of parameter 'q' must match a+"
        ),
        (
            "params: { a b: { } }",
            "5:15: error: bad name 'a b' of a parameter; names consist of letters, digits, _ and -"
        ),
    ])
    func reportsProblemInEndpoint(_ lines: String, problem: String) {
        #expect(problems(Snippet.endpoint(lines)) == [problem])
    }

    /// Bounds are compared exactly, as for requests.
    @Test(arguments: [
        "response_headers: { Link: \"</items/{id}>; rel=a\" }",
        "succeed_when: any\npartial_status: 206",
        "params: { q: { type: number, min: 0.1, max: 0.3, default: 0.30 } }\nheaders: { X: \"{q}\" }",
        "params: { q: { type: integer, max: 9007199254740993, default: 9007199254740993 } }\nheaders: { X: \"{q}\" }",
        "params: { q: { pattern: '\\p{Lu}[a-z]+', default: Zoe } }\nheaders: { X: \"{q}\" }",
    ])
    func acceptsValidEndpoint(_ lines: String) {
        #expect(problems(Snippet.endpoint(lines)) == [])
    }

    @Test(arguments: [
        (
            "a: { from: a, get: \"/{b.x}\" }\nb: { from: a, get: \"/{a.x}\" }",
            "7:29: error: calls wait for each other: a -> b -> a"
        ),
        (
            "a: { from: a, get: /, at: ., keep: [id] }\nb: { from: a, get: /, at: ., keep: [id, x] }",
            "8:33: warning: the key 'id' of call 'b' is dropped if call 'a' already has it"
        ),
        (
            "a: { from: a, get: /, at: ., keep: [id] }\nb: { from: a, get: /, at: ., keep: [id], on_collision: fail }",
            "8:33: warning: call 'b' fails if call 'a' already has its key 'id'"
        ),
        (
            "a: { from: a, get: /, at: ., rename: { x: b } }\nb: { from: a, get: / }",
            "8:7: warning: the key 'b' of call 'b' is dropped if call 'a' already has it"
        ),
        (
            "a: { from: a, head: / }\nb: { from: a, get: \"/{a.x}\" }",
            "8:29: error: call 'b' uses {a.x}; the response to a HEAD call has no body"
        ),
        (
            "a: { from: a }",
            "7:10: error: one of the keys 'get', 'post', 'put', 'patch', 'delete' or 'head' is missing in call 'a'"
        ),
        (
            "request: { from: a, get: / }",
            "7:7: error: no call can have the name 'request'; references such as {request.body} use it"
        ),
    ])
    func reportsProblemBetweenCalls(_ calls: String, problem: String) {
        #expect(
            problems(Snippet.endpoint("headers: { X-Id: \"{id}\" }", calls: calls)) == [problem])
    }

    @Test(arguments: [
        (
            "one: { from: a, get: \"/{request.query.q?}\" }",
            "7:31: error: call 'one' uses {request.query.q?}; a path segment cannot be left out;"
                + " remove the '?' or use it in the query"
        ),
        (
            "one: { from: a, get: /1 }\ntwo: { from: a, get: \"/2?x={one.id?}\" }",
            "8:35: error: call 'two' uses {one.id?}; only values of the request can be optional,"
                + " not values of a call; remove the '?'"
        ),
        (
            "one: { from: a, get: /1 }\ntwo: { from: a, get: \"/2?x={one?}\" }",
            "8:35: error: call 'two' uses {one?}; only values of the request can be optional,"
                + " not values of a call; remove the '?'"
        ),
        (
            "one: { from: a, get: \"/1?x={id?}\" }",
            "7:35: warning: call 'one' uses {id?}; the '?' has no effect: the value is always present"
        ),
        (
            "one: { from: a, get: \"/1?x={nil?}\" }",
            "7:35: error: call 'one' uses {nil?}; there is no parameter 'nil' (parameters here: id)"
        ),
        (
            "one: { from: a, get: /1, forward: { query: everything } }",
            "7:50: error: 'query' in 'forward' of call 'one' must be a list of names, or all"
        ),
    ])
    func reportsInvalidOptionalReference(_ calls: String, problem: String) {
        #expect(problems(Snippet.endpoint("report: off", calls: calls)) == [problem])
    }

    @Test(arguments: [
        "one: { from: a, get: \"/1?x={request.query.q?}&y={request.header.X?}\" }",
        "one: { from: a, get: /1, headers: { X-A: \"a {request.header.X?}\" } }",
        "one: { from: a, get: \"/{request.query.q}/{id}\", forward: { query: all } }",
        "one: { from: a, get: /1, forward: { query: [all] } }",
    ])
    func acceptsValidOptionalReference(_ calls: String) {
        #expect(problems(Snippet.endpoint("headers: { X-Id: \"{id}\" }", calls: calls)) == [])
    }

    @Test func warnsOfOptionalBodyIfEndpointRequiresOne() {
        let text = Snippet.endpoint(
            "body: { type: object }", route: "POST /x",
            calls: "one: { from: a, post: /, body: \"{request.body?}\" }")
        #expect(
            problems(text) == [
                "7:40: warning: call 'one' uses {request.body?}; the '?' has no effect: the value is always present"
            ])
    }

    @Test(arguments: [
        (
            "ann: { from: a, get: /, after: [bab] }\nbob: { from: a, get: / }",
            "7:39: error: 'after' of call 'ann': there is no call 'bab' - did you mean 'bob'?"
        ),
        (
            "ann: { from: a, get: /, after: [id] }\nbob: { from: a, get: / }",
            "7:39: error: 'after' of call 'ann': there is no call 'id' (calls here: ann, bob)"
        ),
        ("ann: { from: a, get: /, after: [ann] }", "7:39: error: call 'ann' waits for itself"),
        (
            "ann: { from: a, get: /, after: [bob, bob] }\nbob: { from: a, get: / }",
            "7:44: error: 'after' of call 'ann' has 'bob' twice"
        ),
        (
            "ann: { from: a, get: /, after: [bob] }\nbob: { from: a, get: /, after: [ann] }",
            "7:39: error: calls wait for each other: ann -> bob -> ann"
        ),
        (
            "ann: { from: a, get: \"/{bob.x}\" }\nbob: { from: a, get: /, after: [ann] }",
            "7:31: error: calls wait for each other: ann -> bob -> ann"
        ),
        (
            "ann: { from: a, get: /, after: [] }",
            "7:38: error: 'after' in call 'ann' must not be empty"
        ),
        (
            "ann: { from: a, get: /, after: bob }\nbob: { from: a, get: / }",
            "7:38: error: 'after' in call 'ann' must be a list: [bob]"
        ),
    ])
    func reportsProblemInAfter(_ calls: String, problem: String) {
        #expect(problems(Snippet.endpoint("report: off", calls: calls)) == [problem])
    }

    /// Nothing is read from the response, so a HEAD call is allowed.
    @Test func acceptsAnyOtherCallInAfter() {
        let calls = "ann: { from: a, get: /, after: [bob] }\nbob: { from: a, head: / }"
        #expect(problems(Snippet.endpoint("headers: { X-Id: \"{id}\" }", calls: calls)) == [])
    }

    @Test(arguments: [
        (
            "queue: { size: 5 }",
            "4:12: warning: 'queue' has no effect without 'max_concurrent'"
        ),
        (
            "eject: { after: 5 }",
            "4:12: warning: 'eject' has no effect: backend 'a' has only one host"
        ),
        (
            "tls: { verify: false }",
            "4:10: error: 'tls' of backend 'a' needs a host with https://"
        ),
        (
            "http2: { max_streams: 5 }",
            "4:12: warning: 'http2' has no effect: backend 'a' has 'protocol: http1'"
        ),
        (
            "headers: { X-A: \"{request.header.X-B}\" }",
            "4:21: warning: 'headers' of backend 'a' has no references: the text in braces is sent as it is; write the header in 'headers' of an endpoint or a call"
        ),
        (
            "protocol: auto",
            "4:15: warning: 'auto' is HTTP/1.1 for hosts with http://, since the protocol is chosen in"
                + " the TLS handshake; write 'http2' if they are known to have it"
        ),
        (
            "protocol: h2",
            "4:15: error: 'protocol' in backend 'a' must be auto, http1 or http2"
        ),
        ("urls: [\"http://h\"]", "5:5: error: 'url' and 'urls' exclude each other in backend 'a'"),
    ])
    func reportsProblemInBackend(_ lines: String, problem: String) {
        #expect(problems(Snippet.backend(lines)) == [problem])
    }

    @Test(arguments: [
        (
            "admin: 127.0.0.1:80\nlisten: 127.0.0.1:80",
            "1:8: error: 'admin' has an address of 'listen'; it needs another one"
        ),
        ("version: 1", "2:1: error: duplicate key 'version', first seen in line 1"),
        (
            "hosts: [\"EXAMPLE.com:80\"]",
            "1:9: error: 'hosts' must be a name or an address, without scheme and port"
        ),
        (
            "hosts: [\"http://x\"]",
            "1:9: error: 'hosts' must be a name or an address, without scheme and port"
        ),
        (
            "response_headers: { X-A: \"{token.sub}\" }",
            "1:26: warning: 'response_headers' has no references: the text in braces is sent as it is"
        ),
        (
            "log: { level: warn }",
            "1:15: error: 'level' in 'log' must be debug, info, warning or error - did you mean 'warning'?"
        ),
        (
            "log: { only: [faild] }",
            "1:15: error: 'only' in 'log' must be failed, partial, rejected, a limit such as"
                + " 'slow > 500ms', or a share such as 1% - did you mean 'failed'?"
        ),
        (
            "log: { only: slow 5s }",
            "1:14: error: 'only' in 'log' must have a limit, such as 'slow > 500ms'"
        ),
        (
            "log: { only: slow > 5 }",
            "1:14: error: 'only' in 'log' has no unit; write it like 300ms, 2s, 5m or 1h"
        ),
        ("log: { only: 0% }", "1:14: error: 'only' in 'log' must be more than 0"),
        (
            "log: { only: [slow > 1s, slow > 2s] }",
            "1:26: warning: 'only' has two conditions of the kind 'slow'; the one that writes more"
                + " lines holds"
        ),
        (
            "log: { headers: [Cookie] }",
            "1:18: warning: 'Cookie' has credentials, which would be in the log"
        ),
        (
            "log: { headers: [X-A, x-a] }", "1:23: warning: 'headers' has 'x-a' twice"
        ),
        (
            "log: { format: combined, headers: [X-A] }",
            "1:36: warning: 'X-A' has no effect with 'format: combined', which shows Referer and"
                + " User-Agent"
        ),
        (
            "log: { query: values }",
            "1:15: warning: 'query: values' writes the values that clients send into the log, which"
                + " may be confidential"
        ),
        (
            "log: { access: false, only: failed }",
            "1:29: warning: 'only' has no effect with 'access: false'"
        ),
        (
            "limits: { header_byte: 1KiB }",
            "1:11: error: unknown key 'header_byte' in 'limits' - did you mean 'header_bytes'?"
        ),
    ])
    func reportsProblemAtTopLevel(_ lines: String, problem: String) {
        #expect(problems(Snippet.top(lines)) == [problem])
    }

    /// If no known key is similar, the message for a short block lists its keys.
    @Test(arguments: [
        (
            "clients: { trusted_proxies: [10.0.0.1/8] }",
            "1:30: error: 'trusted_proxies' in 'clients' must not have bits set after its prefix"
                + " - did you mean 10.0.0.0/8?"
        ),
        (
            "clients: { trusted_proxies: [10.0.0] }",
            "1:30: error: 'trusted_proxies' in 'clients' must be a network such as 10.0.0.0/8,"
                + " an address, or unix"
        ),
        (
            "clients: { trusted_proxies: [0.0.0.0/0] }",
            "1:30: warning: '0.0.0.0/0' trusts every client, so that any client can claim any address"
        ),
        (
            "clients: { trusted_proxies: [10.0.0.0/8, \"::ffff:10.0.0.0/104\"] }",
            "1:42: warning: 'trusted_proxies' has this entry twice"
        ),
        (
            "clients: { address_from: forwarded }",
            "1:26: warning: 'address_from' has no effect without 'trusted_proxies'"
        ),
        (
            "clients: { trusted_proxies: [unix], address_from: via }",
            "1:51: error: 'address_from' in 'clients' must be x_forwarded_for or forwarded"
        ),
    ])
    func reportsProblemInClients(_ lines: String, problem: String) {
        #expect(problems(Snippet.top(lines)) == [problem])
    }

    @Test(arguments: [
        (
            "forwarded: x\nheaders: { x-forwarded-for: a }",
            "9:20: error: 'headers' has 'x-forwarded-for', which 'forwarded' of call 'one' sends"
        ),
        (
            "forward: { headers: [X-Forwarded-For] }",
            "8:30: warning: 'X-Forwarded-For' is forwarded from trusted proxies only; 'forwarded'"
                + " sends the client's address"
        ),
        (
            "forward: { headers: [Forwarded] }",
            "8:30: warning: 'Forwarded' is never forwarded: with 'address_from: x_forwarded_for' the"
                + " trusted proxies do not maintain it; 'forwarded' sends the client's address"
        ),
        (
            "headers: { X-A: \"{request.header.X-Forwarded-For}\" }",
            "8:27: warning: call 'one' uses {request.header.X-Forwarded-For}; any client can send"
                + " this header; {request.client} and 'forwarded' use it from trusted proxies only"
        ),
        (
            "forwarded: yes",
            "8:20: error: 'forwarded' in call 'one' must be off, x, rfc7239 or both"
        ),
    ])
    func reportsProblemInForwarded(_ lines: String, problem: String) {
        #expect(problems(Snippet.call(lines)) == [problem])
    }

    @Test func warnsOfForwardingHeadersThatProxiesDoNotMaintain() {
        let config =
            "clients: { trusted_proxies: [unix], address_from: forwarded }\n"
            + Snippet.call("forward: { headers: [Forwarded, X-Forwarded-Port] }")
        #expect(
            problems(config) == [
                "9:30: warning: 'Forwarded' is forwarded from trusted proxies only; 'forwarded' sends"
                    + " the client's address",
                "9:41: warning: 'X-Forwarded-Port' is never forwarded: with 'address_from: forwarded'"
                    + " the trusted proxies do not maintain it; 'forwarded' sends the client's address",
            ])
    }

    @Test func acceptsBackendHeadersWithForwardedOfOtherCalls() {
        #expect(
            problems(Snippet.backend("forwarded: rfc7239\nheaders: { Forwarded: a }")) == [
                "5:16: error: 'headers' has 'Forwarded', which 'forwarded' of backend 'a' sends"
            ])
    }

    @Test(arguments: [
        "forwarded: rfc7239\nheaders: { X-Forwarded-For: a }", "forwarded: off",
        "headers: { X-A: \"{request.client}\" }",
    ])
    func acceptsValidForwarded(_ lines: String) {
        #expect(problems(Snippet.call(lines)) == [])
    }

    @Test func listsKnownKeysOfShortBlock() {
        let text = Snippet.endpoint(
            "body: { properties: { a: { minItems: 3 } } }", route: "POST /x",
            calls: "one: { from: a, get: / }")
        #expect(
            problems(text) == [
                "5:32: error: unknown key 'minItems' in property 'a' (keys here: type, required,"
                    + " properties, min, max, min_length, max_length, pattern, one_of)"
            ])
    }

    @Test func warnsOfRoundUpToWithoutMinDuration() {
        #expect(
            problems(Snippet.endpoint("round_up_to: 100ms")) == [
                "5:18: warning: 'round_up_to' has no effect without 'min_duration'"
            ])
    }

    /// Headers of the connection, and those that every call sends, cannot be set or forwarded.
    @Test(arguments: [
        ("Host", "the gateway sets the headers of the connection itself"),
        ("X-Request-Id", "the gateway sends it with every call"),
        ("Traceparent", "the gateway sends it with every call"),
        ("tracestate", "the gateway sends it with every call"),
    ])
    func refusesHeadersThatTheGatewaySets(_ name: String, _ words: String) {
        #expect(problems(Snippet.call("headers: { \(name): a }")).first?.contains(words) == true)
        #expect(
            problems(Snippet.endpoint("forward: { headers: [\(name)] }")).first?.contains(words)
                == true)
        #expect(
            problems(Snippet.backend("headers: { \(name): a }")).first?.contains(words) == true)
    }

    @Test func refusesDuplicateRoute() {
        let text = """
            version: 1
            backends: { a: { url: http://h }, b: { url: http://h } }
            endpoints:
              - { route: "GET /x/{a}", calls: { one: { from: a, get: / } } }
              - { route: "GET /x/{b}", calls: { one: { from: a, get: / } } }
              - { route: "POST /x/{b}", calls: { one: { from: a, post: / } } }
              - { route: "GET /x/y", calls: { one: { from: a, get: / } } }
            """
        #expect(
            problems(text) == [
                "5:14: error: route GET /x/{b} is the same as the route at 4:14"
                    + " (names make no difference)"
            ])
    }

    @Test func warnsOfBackendThatIsNeverCalled() {
        let text = """
            version: 1
            backends: { a: { url: http://h }, b: { url: http://h } }
            endpoints: [{ route: GET /x, calls: { one: { from: a, get: / } } }]
            """
        #expect(problems(text) == ["2:35: warning: backend 'b' is never called"])
    }

    /// An authenticator calls it, too.
    @Test func backendWithTheKeysOfAnAuthenticatorIsCalled() {
        let text = { (from: String) in
            """
            version: 1
            clients: { trusted_proxies: [10.0.0.1] }
            auth: { t: { jwt: { issuer: i, audience: s, keys: { from: \(from), get: /k } } } }
            backends: { a: { url: "http://127.0.0.1" }, b: { url: "http://127.0.0.1" } }
            endpoints: [{ route: GET /x, auth: t, calls: { one: { from: a, get: / } } }]
            """
        }
        #expect(problems(text("b")) == [])
        #expect(problems(text("a")) == ["4:45: warning: backend 'b' is never called"])
    }

    @Test(arguments: [
        ("version: 1", ["1:1: error: there are no endpoints; list one in 'endpoints'"]),
        ("- a", ["1:1: error: the file must be a mapping of keys to values"]),
        (
            "version: 1\nendpoints: []",
            ["1:1: error: there are no endpoints; list one in 'endpoints'"]
        ),
        (
            "version: 1\nendpoints: [{ route: GET /, calls: {} }]",
            ["2:13: error: GET / has no calls"]
        ),
        (
            "version: 1\nendpoints: [5]",
            ["2:13: error: this endpoint must be a mapping of keys to values"]
        ),
    ])
    func refusesEmptyConfiguration(_ text: String, expected: [String]) {
        #expect(problems(text) == expected)
    }
}
