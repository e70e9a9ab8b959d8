import Foundation
import Testing

extension EndToEnd {
    @Suite struct CommandLineTests {
        @Test func versionSaysItsNumber() throws {
            let result = try Command.run("version")
            #expect(result.status == 0 && result.errors.isEmpty)
            #expect(result.output.wholeMatch(of: /tributary \d+\.\d+\.\d+\n/) != nil)
        }

        @Test(arguments: [
            [], ["serve"], ["check"], ["health"],
        ]) func helpShowsExamples(_ command: [String]) throws {
            let result = try Command(command + ["--help"])
            #expect(try result.exitStatus() == 0)
            #expect(try result.output.whole().contains("EXAMPLES\n  tributary "))
        }

        @Test(arguments: [
            ["fly"], ["check"], ["check", "--strictly", "x.yaml"], ["health", "nonsense"],
            ["serve", "a.yaml", "b.yaml"],
        ]) func wrongUsageIs64(_ arguments: [String]) throws {
            let command = try Command(arguments)
            #expect(try command.exitStatus() == 64)
            #expect(try command.errors.whole().hasPrefix("Error: "))
        }

        @Test(arguments: ["check", "serve"]) func aMissingFileIs66(_ command: String) throws {
            let result = try Command.run(command, "/nowhere/to/be/found.yaml")
            let expected = Command.Result(
                status: 66, errors: "tributary: /nowhere/to/be/found.yaml: no such file\n")
            #expect(result == expected)
        }
    }

    @Suite struct CheckTests {
        static let good = """
            version: 1
            backends:
              users: { url: http://127.0.0.1:7004 }
              offers: { url: http://127.0.0.1:7005 }
            endpoints:
              - route: GET /home
                succeed_when: any
                calls:
                  profile: { from: users, get: /me }
                  recommended: { from: offers, get: "/for/{profile.segment}" }

            """

        @Test func aGoodFileIsTold() throws {
            let folder = try Folder(["good.yaml": Self.good])
            let result = try Command.run("check", "good.yaml", in: folder.url)
            let expected = Command.Result(
                status: 0,
                output: """
                    OK  1 endpoint, 2 calls, 2 backends
                    GET /home   profile -> recommended     deadline 5s, one is enough
                    ('!' = required, '->' = waits for)

                    """)
            #expect(result == expected)
        }

        @Test func everyProblemOfABadFileIsTold() throws {
            let bad = Self.good.replacing("from: users", with: "form: users")
                .replacing("profile.segment", with: "profil.segment")
            let folder = try Folder(["bad.yaml": bad])
            let result = try Command.run("check", "bad.yaml", in: folder.url)
            let expected = Command.Result(
                status: 1,
                errors: """
                    bad.yaml:9:18: error: unknown key 'form' in call 'profile' - did you mean 'from'?
                    bad.yaml:10:48: error: call 'recommended' uses {profil.segment}; there is no call 'profil' (calls here: profile, recommended)
                    2 errors

                    """)
            #expect(result == expected)
        }

        @Test(arguments: [(["check"], 0), (["check", "--strict"], 2)] as [([String], Int32)])
        func warningsFailOnlyWhenStrict(_ command: [String], _ status: Int32) throws {
            let warned = Self.good.replacing(
                "users: { url", with: "spare: { url: http://127.0.0.1:1 }\n  users: { url")
            let folder = try Folder(["warned.yaml": warned])
            let check = try Command(command + ["warned.yaml"], in: folder.url)
            #expect(try check.exitStatus() == status)
            #expect(
                try check.errors.whole()
                    == "warned.yaml:3:3: warning: backend 'spare' is never called\n1 warning\n")
        }
    }
}
