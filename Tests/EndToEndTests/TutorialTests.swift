import Foundation
import Testing

extension EndToEnd {
    /// The tutorial, done as it says: its files are written, its commands are run, and what they print
    /// is what stands there, but for times and ids.
    ///
    /// With `RECORD=1` in the environment the outputs are written anew.
    @Suite struct TutorialTests {
        static let page = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "docs/guide/tutorial.md")

        @Test func tutorialShowsTheRealOutput() throws {
            let text = try String(contentsOf: Self.page, encoding: .utf8)
            let reader = try Reader()
            var recorded: [String] = []
            for block in Block.all(of: text) {
                switch block {
                case .prose(let lines): recorded += lines
                case .file(let fence, let lines):
                    try reader.write(lines.joined(separator: "\n") + "\n")
                    recorded += [fence] + lines + ["```"]
                case .console(let steps):
                    recorded.append("```console")
                    for step in steps {
                        let output = try reader.run(step.command)
                        #expect(
                            output.map(plain) == step.output.map(plain) || isRecording,
                            "\(step.command): \(output)")
                        recorded += ["$ \(step.command)"] + output
                    }
                    recorded.append("```")
                }
            }
            if isRecording {
                try recorded.joined(separator: "\n").write(
                    to: Self.page, atomically: true, encoding: .utf8)
            }
            #expect(reader.commandCount > 30)
        }

        private var isRecording: Bool { ProcessInfo.processInfo.environment["RECORD"] == "1" }

        /// Without what differs from run to run.
        private func plain(_ line: String) -> String {
            line.replacing(/[0-9a-f]{32}/, with: "ID")
                .replacing(/\d+\.\d+(ms|s\b)/, with: "TIME")
                .replacing(/\d{4}-\d\d-\d\dT\S+/, with: "DATE")
                .replacing(/\|[ #0-9]{30}\|/, with: "|BAR|")
                .replacing(/\ {2,}/, with: "  ")
        }
    }
}

/// A part of the tutorial.
private enum Block {
    case prose([String])
    case file(fence: String, [String])
    case console([(command: String, output: [String])])

    static func all(of text: String) -> [Block] {
        var blocks: [Block] = []
        var lines: [String] = []
        var fence: String?
        for line in text.components(separatedBy: "\n") {
            switch (fence, line) {
            case (nil, let line) where line.hasPrefix("```"):
                blocks.append(.prose(lines))
                (fence, lines) = (line, [])
            case (let open?, "```"):
                blocks.append(
                    open == "```console" ? .console(steps(lines)) : .file(fence: open, lines))
                (fence, lines) = (nil, [])
            default: lines.append(line)
            }
        }
        return blocks + [.prose(lines)]
    }

    private static func steps(_ lines: [String]) -> [(command: String, output: [String])] {
        lines.reduce(into: []) { steps, line in
            if line.hasPrefix("$ ") {
                steps.append((String(line.dropFirst(2)), []))
            } else if !steps.isEmpty {
                steps[steps.count - 1].output.append(line)
            }
        }
    }
}

/// Follows the tutorial, on ports that the system chooses.
private final class Reader {
    private let folder: Folder
    private let shell: Shell
    private var backends: Command?
    private var daemon: Daemon?
    private var reloads = 0
    /// Lines of workers that installed a configuration; there are two workers.
    private var installations = 0
    private(set) var commandCount = 0
    /// The addresses of the page, and those that they are.
    private var addresses: [(shown: String, real: String)] = []

    init() throws {
        folder = try Folder()
        shell = Shell(folder: folder)
    }

    func write(_ text: String) throws { try folder.write("shop.yaml", real(text)) }

    func run(_ command: String) throws -> [String] {
        commandCount += 1
        switch command {
        case "tributary demo-backends & backends=$!": return try startBackends()
        case "tributary serve shop.yaml & gateway=$!": return try serve()
        case "kill -HUP $gateway": return try reload()
        case "kill $backends": return try stopBackends()
        case "kill $gateway $backends": return try stop()
        default:
            let output = shown(try shell.run(real(command)))
            var lines = output.components(separatedBy: "\n")
            if lines.last == "" { lines.removeLast() }
            return lines
        }
    }

    private func startBackends() throws -> [String] {
        let backends = try Command(["demo-backends", "--port", "0"])
        self.backends = backends
        addresses.removeAll { $0.shown.contains(":700") }
        let names = ["catalog", "stock", "reviews", "users"]
        return try names.enumerated().map { index, name in
            let line = try backends.output.line(name) { $0.hasPrefix(name + " ") }
            let address = line.split(separator: "/").last.map(String.init) ?? ""
            addresses.append(("127.0.0.1:\(7001 + index)", address))
            return shown(line)
        }
    }

    private func serve() throws -> [String] {
        let daemon = try Daemon(["serve", "shop.yaml"], in: folder.url)
        self.daemon = daemon
        let line = try daemon.output.line("to listen") { $0.contains(" listening ") }
        for word in line.split(separator: " ") {
            if word.hasPrefix("address=") {
                addresses.append(("127.0.0.1:8080", String(word.dropFirst(8))))
            }
            if word.hasPrefix("admin=") {
                addresses.append(("127.0.0.1:9901", String(word.dropFirst(6))))
            }
        }
        return [shown(line)]
    }

    /// Lines of the log until the reload has ended on every worker; theirs come last, since each worker
    /// writes at a time of its own.
    private func reload() throws -> [String] {
        guard let daemon else { return [] }
        reloads += 1
        let seen = daemon.output.text.split(separator: "\n").count
        daemon.signal(SIGHUP)
        let end = try daemon.output.line("a reload", number: reloads) {
            $0.contains(" configuration reloaded") || $0.contains(" reload failed")
        }
        if end.contains(" configuration reloaded") {
            installations += 2
            _ = try daemon.output.line("the workers", number: installations, where: isInstallation)
        }
        let lines = daemon.output.text.split(separator: "\n").dropFirst(seen).map(String.init)
        let ofWorkers = lines.filter(isInstallation)
        return (lines.filter { !isInstallation($0) } + ofWorkers).map(shown)
    }

    private func isInstallation(_ line: String) -> Bool {
        line.contains(" configuration installed")
    }

    private func stopBackends() throws -> [String] {
        backends?.signal(SIGTERM)
        #expect(try backends?.exitStatus() == 0)
        return []
    }

    /// Ends both processes; gives the lines that the gateway logs.
    private func stop() throws -> [String] {
        guard let daemon else { return [] }
        let seen = daemon.output.text.split(separator: "\n").count
        daemon.signal(SIGTERM)
        #expect(try daemon.exitStatus() == 0)
        _ = try stopBackends()
        return try daemon.output.whole().split(separator: "\n").dropFirst(seen)
            .map { shown(String($0)) }
    }

    /// The gateway's own ports are the system's choice until it listens.
    private func real(_ text: String) -> String {
        var text = text
        if text.hasPrefix("version:") {
            text = text.replacing("listen: 127.0.0.1:8080", with: "listen: 127.0.0.1:0")
                .replacing("admin: 127.0.0.1:9901", with: "admin: 127.0.0.1:0")
        }
        for address in addresses { text = text.replacing(address.shown, with: address.real) }
        return text
    }

    private func shown(_ text: String) -> String {
        addresses.reduce(text) { $0.replacing($1.real, with: $1.shown) }
    }
}
