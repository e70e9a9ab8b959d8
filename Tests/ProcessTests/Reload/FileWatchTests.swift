import Basics
import Reactor
import SimReactor
import Testing

@testable import Process

/// Changes of files, in virtual time.
@Suite struct FileWatchTests {
    private final class Files {
        var fingerprint = 0
        var loaded = 0
        var canReload = true
        /// When a reload began, in seconds.
        var reloads: [Int] = []
    }

    private let network = SimNetwork(seed: 1)
    private let loop: SimLoop
    private let files = Files()
    private let watch: FileWatch<Int>

    init() {
        let loop = network.makeLoop("control")
        self.loop = loop
        watch = FileWatch(
            loop: loop,
            FileWatch<Int>.Actions(
                fingerprint: { [files] in files.fingerprint },
                isCurrent: { [files] in files.loaded == files.fingerprint },
                canReload: { [files] in files.canReload },
                reload: { [files] in
                    files.loaded = files.fingerprint
                    files.reloads.append(Int(loop.now.nanoseconds / 1_000_000_000))
                }))
        watch.start()
    }

    private func end() {
        watch.close()
        #expect(network.leftovers.isEmpty)
    }

    @Test func unchangedFilesAreNotReadAgain() {
        network.advance(by: .seconds(60))
        #expect(files.reloads.isEmpty)
        end()
    }

    @Test func aChangeIsOneReload() {
        let start = Int(loop.now.nanoseconds / 1_000_000_000)
        network.advance(by: .seconds(10))
        files.fingerprint = 1
        network.advance(by: .seconds(60))
        #expect(files.reloads == [start + 12])
        end()
    }

    /// It was changed between the first reading and the first look.
    @Test func aChangeBeforeTheFirstLookIsSeen() {
        files.fingerprint = 1
        network.advance(by: .seconds(5))
        #expect(files.reloads.count == 1)
        end()
    }

    @Test func filesWithNewMetadataAndTheSameContentAreNotReloaded() {
        network.advance(by: .seconds(10))
        files.fingerprint = 1
        files.loaded = 1
        network.advance(by: .seconds(60))
        #expect(files.reloads.isEmpty)
        end()
    }

    @Test func aFileThatIsBeingWrittenIsAwaited() {
        network.advance(by: .seconds(10))
        for number in 1...3 {
            files.fingerprint = number
            network.advance(by: .seconds(1))
            #expect(files.reloads.isEmpty)
        }
        network.advance(by: .seconds(1))
        #expect(files.reloads.count == 1 && files.loaded == 3)
        end()
    }

    @Test func aFileThatChangesAllTheTimeIsReadNevertheless() {
        let start = Int(loop.now.nanoseconds / 1_000_000_000)
        network.advance(by: .seconds(10))
        for number in 1...20 {
            files.fingerprint = number
            network.advance(by: .seconds(1))
        }
        // The first change is seen after a second, and then one each second.
        #expect(files.reloads == [15, 20, 25, 30].map { start + $0 })
        end()
    }

    @Test func aReloadThatIsImpossibleNowIsMadeLater() {
        network.advance(by: .seconds(10))
        files.canReload = false
        files.fingerprint = 1
        network.advance(by: .seconds(10))
        #expect(files.reloads.isEmpty)
        files.canReload = true
        network.advance(by: .seconds(10))
        #expect(files.reloads.count == 1)
        end()
    }
}
