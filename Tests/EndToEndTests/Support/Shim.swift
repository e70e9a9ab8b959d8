import Foundation

/// A library for LD_PRELOAD that makes one thread of a process hang while a file exists.
struct Shim {
    let folder: Folder
    private let file = "hang"

    /// Needs a C compiler, which Swift includes, and a loader that supports LD_PRELOAD.
    static var isAvailable: Bool {
        #if os(Linux)
            compiler != nil
        #else
            false
        #endif
    }

    private static var compiler: URL? {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
        return path.split(separator: ":")
            .flatMap { folder in ["clang", "cc", "gcc"].map { "\(folder)/\($0)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
            .map { URL(filePath: $0) }
    }

    struct NotCompiled: Error, CustomStringConvertible {
        let description: String
    }

    init(in folder: Folder) throws {
        self.folder = folder
        try folder.write("shim.c", Self.source)
        let result = try Command(
            ["-shared", "-fPIC", "-o", folder.path("shim.so"), folder.path("shim.c"), "-ldl"],
            program: Self.compiler,
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"])
        guard try result.exitStatus() == 0 else {
            throw NotCompiled(description: try result.errors.whole())
        }
    }

    /// The environment of the process in which a thread should hang.
    ///
    /// - Parameter thread: the name of the event loop that hangs before it waits for events; a name
    ///   that no thread has if only lookups should hang
    func environment(thread: String) -> [String: String] {
        [
            "LD_PRELOAD": folder.path("shim.so"), "HANG_THREAD": thread,
            "HANG_FILE": folder.path(file),
        ]
    }

    func hang() throws { try folder.write(file, "") }

    func release() throws { try FileManager.default.removeItem(atPath: folder.path(file)) }

    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <netdb.h>
        #include <signal.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/epoll.h>
        #include <sys/prctl.h>
        #include <unistd.h>

        static void hang(void)
        {
            while (access(getenv("HANG_FILE"), F_OK) == 0) usleep(1000);
        }

        static void hang_if_named(void)
        {
            char name[17] = "";
            prctl(PR_GET_NAME, name, 0, 0, 0);
            if (strcmp(name, getenv("HANG_THREAD")) == 0) hang();
        }

        int epoll_wait(int queue, struct epoll_event *events, int count, int timeout)
        {
            int (*real)(int, struct epoll_event *, int, int) = dlsym(RTLD_NEXT, "epoll_wait");
            hang_if_named();
            return real(queue, events, count, timeout);
        }

        int epoll_pwait(
            int queue, struct epoll_event *events, int count, int timeout, const sigset_t *mask)
        {
            int (*real)(int, struct epoll_event *, int, int, const sigset_t *) =
                dlsym(RTLD_NEXT, "epoll_pwait");
            hang_if_named();
            return real(queue, events, count, timeout, mask);
        }

        int getaddrinfo(
            const char *host, const char *service, const struct addrinfo *hints,
            struct addrinfo **found)
        {
            int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                dlsym(RTLD_NEXT, "getaddrinfo");
            if (host && strcmp(host, "hangs.test") == 0) hang();
            return real(host, service, hints, found);
        }

        """
}
