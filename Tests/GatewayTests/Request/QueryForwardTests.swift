import Basics
import HTTP
import Testing

@testable import Gateway

@Suite struct QueryForwardTests {
    @Test(arguments: [
        ("/x?q=1&z=9&q=a%26b&page=2&q=", "/find?fixed=1", "/find?fixed=1&q=1&q=a%26b&page=2&q="),
        ("/x?q=1", "/find", "/find?q=1"),
        ("/x", "/find", "/find"),
        ("/x?", "/find", "/find"),
        ("/x?other=1", "/find", "/find"),
        ("/x?q=a+b/%2f&%71=%C3%A9", "/find", "/find?q=a%20b%2F%2F&q=%C3%A9"),
        ("/x?q", "/find", "/find?q="),
        ("/x?q=100%&&&page==", "/find", "/find?q=100%25&page=%3D"),
        ("/x?Q=1&qq=2", "/find", "/find"),
    ])
    func appends(_ source: String, _ target: String, _ result: String) throws {
        let forward = QueryForward.names([Bytes("q"), Bytes("page")])
        var bytes = Array(target.utf8)
        forward.append(from: try head(source).target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == result)
    }

    /// `query: all`: every parameter but the declared `lang`, byte for byte.
    @Test(arguments: [
        ("/x?q=1&z=9&q=a%26b", "/find?fixed=1", "/find?fixed=1&q=1&z=9&q=a%26b"),
        ("/x?q=1&lang=de&z=2&lang=en", "/find", "/find?q=1&z=2"),
        ("/x?l%61ng=de&Lang=de&languages=x", "/find", "/find?languages=x"),
        ("/x?a+b=c+d&%7e=~&e=%2f%2F%zz&f", "/find", "/find?a+b=c+d&%7e=~&e=%2f%2F%zz&f"),
        ("/x?=&a==b&&c=?/;:@,$!", "/find", "/find?=&a==b&c=?/;:@,$!"),
        ("/x?lang=de", "/find", "/find"),
        ("/x?", "/find", "/find"),
        ("/x", "/find", "/find"),
    ])
    func allForwardsUndeclaredParametersUnchanged(
        _ source: String, _ target: String, _ result: String
    ) throws {
        let forward = QueryForward.all(exceptNamed: [Bytes("lang")])
        var bytes = Array(target.utf8)
        forward.append(from: try head(source).target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == result)
    }

    /// What some server reads as the fixed `user_role`, or as the declared `lang`.
    @Test(arguments: [
        "user_role=x", "%75ser_role=x", "+user_role=x", "%20user_role=x", "user_role%00=x",
        "user_role%00a=x",
        "user_role[]=x", "user_role%5B%5D=x", "user_role[a]=x", "user.role=x", "user+role=x",
        "user%20role=x",
        "user[role=x", "User_Role=x", "user_role+=x", "%u0075ser_role=x", "%09user_role=x",
        "?user_role=x",
        "a;user_role=x", "a=b;user_role=x", "a=b;c;+user_role[]=x", "user_role;a=b", "user_role",
        "a=;lang=x",
        "LANG=x", "lang[0]=x", "[lang]=x", "[lang=x", "]lang=x", "lang]=x", "%5Blang%5D=x",
        "[lang][a]=x",
        "%%6Cang=x", "la%ng=x", "%EF%BD%8Cang=x", "%C1%ACang=x", "lang%E2%80%8B=x",
    ])
    func allForwardsNoAlias(_ parameter: String) throws {
        let forward = QueryForward.all(exceptNamed: [Bytes("lang"), Bytes("user_role")])
        var bytes = Array("/find?user_role=user".utf8)
        forward.append(from: try head("/x?q=1&\(parameter)&z=2").target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "/find?user_role=user&q=1&z=2")
    }

    /// The gateway has read `user`.
    @Test(arguments: [
        ("user=ann&user[]=ben", "user=ann"), ("User=ben&q=1", "q=1"),
        ("user=ann;user=ben", "user=ann%3Buser=ben"), ("users=ben", "users=ben"),
    ])
    func allForwardsReadNamesInOneSpelling(_ query: String, _ forwarded: String) throws {
        let forward = QueryForward.all(exceptNamed: [Bytes("lang")], using: [Bytes("user")])
        var bytes = Array("/find".utf8)
        forward.append(from: try head("/x?\(query)").target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "/find?\(forwarded)")
    }

    @Test(arguments: [
        "userrole=x", "user-role=x", "a=user_role", "a=b;c=user_role", "user_roles=x",
        "xuser_role=x", "[]=x",
        "user_role2=x", "%zz=x", "=user_role", "a[lang]=x", "[a][lang]=x", "[=x",
    ])
    func allForwardsOtherNames(_ parameter: String) throws {
        let forward = QueryForward.all(exceptNamed: [Bytes("lang"), Bytes("user_role")])
        var bytes = Array("/find".utf8)
        forward.append(from: try head("/x?\(parameter)").target, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "/find?\(parameter)")
    }
}
