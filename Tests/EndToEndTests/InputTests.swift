import Foundation
import Testing

extension EndToEnd {
    /// The sources of a configuration: standard input and regular files, up to a maximum size.
    @Suite struct InputTests {
        private let folder: Folder
        private let backend: Backend

        init() throws {
            folder = try Folder()
            backend = try Backend()
        }

        // MARK: Standard input

        @Test func serveReadsStandardInput() throws {
            let daemon = try Daemon(["serve", "-"], input: Daemon.complete(plain(backend)))
            try daemon.awaitListening()
            #expect(try daemon.request("GET /plain").status == 200)
        }

        @Test func reportsErrorsInStandardInput() throws {
            let text = Daemon.complete(plain(backend)).replacing("from:", with: "form:")
            let result = try Command.run("serve", "-", input: text)
            #expect(result.status == 1)
            #expect(result.errors.hasPrefix("<stdin>:"))
            #expect(result.errors.contains("did you mean 'from'?"))
        }

        /// Standard input cannot be read again, but the included files are.
        @Test func reloadOfStandardInputReadsIncludedFilesAgain() throws {
            let include = { (route: String) in
                "endpoints: [{ route: \(route), calls: { one: { from: b, get: /now } } }]\n"
            }
            try folder.write("more.yaml", include("GET /old"))
            let text =
                Daemon.complete(plain(backend)) + "include: \(folder.path("more.yaml"))\n"
            let daemon = try Daemon(["serve", "-"], input: text)
            try daemon.awaitListening()
            #expect(try daemon.request("GET /old").status == 200)
            try folder.write("more.yaml", include("GET /new"))
            daemon.signal(SIGHUP)
            try daemon.logLine("configuration reloaded")
            try daemon.eventually("GET /new", is: 200)
            #expect(try daemon.request("GET /plain").status == 200)
        }

        @Test(arguments: ["check", "serve"]) func limitsStandardInput(_ command: String) throws {
            // An endless device as standard input: reading stops at the limit.
            let endless = try Command(
                ["-c", "exec \"$0\" \(command) - < /dev/zero", Binary.url().path],
                program: URL(filePath: "/bin/sh"))
            #expect(try endless.exitStatus() == 66)
            #expect(
                try endless.errors.whole()
                    == "tributary: <stdin>: it is larger than 16MiB\n")
        }

        // MARK: Files

        @Test(arguments: [
            ("/dev/zero", "it is a device, not a regular file"),
            ("/tmp", "it is a directory, not a regular file"),
        ])
        func refusesFilesThatAreNotRegular(_ path: String, _ words: String) throws {
            for command in ["check", "serve"] {
                let result = try Command.run(command, path)
                #expect(
                    result
                        == Command.Result(
                            status: 1, errors: "\(path):1:1: error: \(words)\n1 error\n"))
            }
        }

        /// The pipe has no writer: opening it would block for ever.
        @Test func refusesPipeWithoutBlocking() throws {
            #expect(mkfifo(folder.path("pipe.yaml"), 0o600) == 0)
            let words = "it is a pipe, not a regular file"
            let result = try Command.run("check", "pipe.yaml", in: folder.url)
            #expect(result.errors == "pipe.yaml:1:1: error: \(words)\n1 error\n")

            try folder.write(
                "c.yaml", CheckTests.good.replacing("/me", with: "\"/${file:pipe.yaml}\""))
            let secret = try Command.run("check", "c.yaml", in: folder.url)
            #expect(secret.status == 1)
            #expect(
                secret.errors.contains(
                    "file pipe.yaml of '${file:pipe.yaml}' cannot be read: \(words)"))

            try folder.write("d.yaml", CheckTests.good + "include: [pipe.yaml]\n")
            let included = try Command.run("check", "d.yaml", in: folder.url)
            #expect(included.errors == "pipe.yaml:1:1: error: \(words)\n1 error\n")
        }

        @Test func refusesLargeConfiguration() throws {
            let comment = "#" + String(repeating: "x", count: 1023) + "\n"
            let filler = String(repeating: comment, count: 16 << 10)
            try folder.write("large.yaml", CheckTests.good + filler)
            let result = try Command.run("check", "large.yaml", in: folder.url)
            #expect(
                result
                    == Command.Result(
                        status: 1,
                        errors: "large.yaml:1:1: error: it is larger than 16MiB\n1 error\n"))
            // The positive control: the largest configuration that is accepted.
            let room = (16 << 20) - CheckTests.good.utf8.count
            try folder.write("large.yaml", CheckTests.good + filler.prefix(room))
            #expect(try Command.run("check", "large.yaml", in: folder.url).status == 0)
        }

        /// Mounted secrets are symbolic links.
        @Test func readsLinkToRegularFile() throws {
            try folder.write("target.yaml", CheckTests.good)
            try FileManager.default.createSymbolicLink(
                atPath: folder.path("link.yaml"), withDestinationPath: "target.yaml")
            #expect(try Command.run("check", "link.yaml", in: folder.url).status == 0)
        }
    }
}
