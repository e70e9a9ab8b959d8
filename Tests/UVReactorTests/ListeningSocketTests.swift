import CUV
import Foundation
import Promises
import Reactor
import Testing
import UVReactor

@Suite(.timeLimit(.minutes(5))) struct ListeningSocketTests {
    @Test func addressIsTakenUntilTheListenerCloses() throws {
        try onLoop { loop in
            let listener = try loop.listen(on: .loopback, sharedPort: true) { _ in }
            #expect(ListeningSocket.isTaken(listener.address))
            listener.close()
            #expect(!ListeningSocket.isTaken(listener.address))
            loop.stop()
        }
    }

    @Test func closeRemovesTheSocketFile() throws {
        let (address, path) = SocketAddress.temporaryFile("taken")
        try onLoop { loop in
            let listener = try loop.listen(on: address, sharedPort: false) { _ in }
            #expect(ListeningSocket.isTaken(address))
            #expect(throws: IOFailure.addressInUse) { _ = try ListeningSocket.bound(to: address) }
            #expect(FileManager.default.fileExists(atPath: path))
            listener.close()
            #expect(!ListeningSocket.isTaken(address))
            #expect(!FileManager.default.fileExists(atPath: path))
            loop.stop()
        }
    }

    /// A socket file that a killed process left behind does not prevent a start.
    @Test func replacesAStaleSocketFile() throws {
        let (address, path) = SocketAddress.temporaryFile("stale")
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_un()
        name.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path.utf8) }
        let bound = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(bound == 0)
        close(descriptor)
        #expect(FileManager.default.fileExists(atPath: path))
        let socket = try ListeningSocket.bound(to: address)
        #expect(socket.address == address)
    }

    @Test func keepsAFileThatIsNotASocket() throws {
        let (address, path) = SocketAddress.temporaryFile("file")
        try "precious".write(toFile: path, atomically: true, encoding: .utf8)
        defer { unlink(path) }
        #expect(throws: IOFailure.addressInUse) { _ = try ListeningSocket.bound(to: address) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    /// In a process of its own, since the umask is the process's.
    @Test(arguments: [0, 0o077]) func socketFileHasModeAndGroupBeforeItListens(
        _ mask: UInt32
    ) async {
        await #expect(processExitsWith: .success) { [mask] in
            umask(mask)
            let (address, path) = SocketAddress.temporaryFile("mode")
            // Only root may choose any group.
            let group = geteuid() == 0 ? getegid() + 1 : getegid()
            let access = SocketFileAccess(mode: 0o660, group: group)
            let socket = try ListeningSocket.bound(to: address, access: access)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o660)
            #expect(status.st_gid == group)
            try onLoop { loop in
                loop.connect(to: address).whenSettled { result in
                    #expect(throws: IOFailure.connectionRefused) { _ = try result.get() }
                    loop.stop()
                }
            }
            #expect(socket.address == address)
        }
    }

    @Test func socketFileWithoutAModeFollowsTheUmask() async {
        await #expect(processExitsWith: .success) {
            umask(0o027)
            let (address, path) = SocketAddress.temporaryFile("umask")
            let socket = try ListeningSocket.bound(to: address)
            var status = stat()
            #expect(stat(path, &status) == 0)
            #expect(status.st_mode & 0o7777 == 0o750)
            #expect(socket.address == address)
        }
    }

    @Test func missingDirectoryIsAnInvalidAddress() {
        #expect(throws: IOFailure.addressInvalid) {
            _ = try ListeningSocket.bound(to: .unix(path: "/nowhere/at/all.sock"))
        }
    }

    /// One socket, bound once, serves the loops of two threads.
    @Test func duplicatesServeSeveralLoops() throws {
        let served = Guarded(0)
        let socket = try ListeningSocket.bound(to: .temporary("duplicated"))
        let address = socket.address
        let inboxes = Guarded<[UVInbox<LoopActions.Action>]>([])
        let threads = try (0..<2).map { _ in
            let copy = Guarded<ListeningSocket?>(try socket.duplicate())
            return TestThread {
                do {
                    try onLoop { loop in
                        guard let copy = copy.withLock({ $0.take() }) else {
                            Issue.record("the socket's duplicate is gone")
                            return loop.stop()
                        }
                        let listener = try loop.listen(on: copy) { stream in
                            served.withLock { $0 += 1 }
                            stream.close()
                        }
                        let actions = loop.actions()
                        inboxes.withLock { $0.append(actions) }
                        loop.timer(after: .seconds(30)) { listener.close() }
                    }
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        try onLoop { loop in
            var left = 40
            func next() {
                loop.connect(to: address).whenSettled { result in
                    guard case .success(let stream) = result else {
                        Issue.record("\(result)")
                        return loop.stop()
                    }
                    stream.close()
                    left -= 1
                    if left > 0 { return next() }
                    loop.timer(after: .milliseconds(50)) { loop.stop() }
                }
            }
            func startWhenBothListen() {
                if inboxes.withLock({ $0.count }) == 2 { return next() }
                loop.timer(after: .milliseconds(1), startWhenBothListen)
            }
            startWhenBothListen()
        }
        #expect(served.withLock { $0 } == 40)
        for inbox in inboxes.withLock({ $0 }) { inbox.post { $0.stop() } }
        for thread in threads { thread.join() }
    }
}
