import Basics
import HTTP2
import JSONText
import TLS
import UVReactor
import YAMLReader

/// What `tributary version` prints: facts of the build, and the libraries that the process uses.
struct BuildFacts {
    let facts: [(name: String, value: String)] = [
        ("version", Version.number), ("commit", commitOfBuild), ("build", Self.configuration),
        ("platform", Self.platform), ("swift", Self.swift), ("libuv", LibuvVersion.text),
        ("openssl", OpenSSLVersion.text), ("nghttp2", Nghttp2Version.text),
        ("libyaml", LibyamlVersion.text),
    ]

    /// One line for each fact, the first as `--version` has it.
    var text: String {
        let rows = facts.dropFirst().map { [$0.name, $0.value] }
        return ([Version.text] + TextTable(rows, gaps: [2]).lines).map { $0 + "\n" }.joined()
    }

    /// One JSON object.
    var json: String {
        var bytes = [UInt8(ascii: "{")]
        for fact in facts {
            bytes.append(jsonKey: fact.name)
            bytes.append(jsonString: fact.value)
        }
        return String(decoding: bytes, as: UTF8.self) + "}\n"
    }

    private static var configuration: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    private static var platform: String {
        #if os(Linux)
            let system = "linux"
        #else
            let system = "macos"
        #endif
        #if arch(x86_64)
            return system + " x86_64"
        #elseif arch(arm64)
            return system + " arm64"
        #else
            return system
        #endif
    }

    /// The compiler's, which is the standard library's too: both come from one toolchain.
    private static var swift: String {
        #if compiler(>=6.5)
            "6.5 or newer"
        #elseif compiler(>=6.4)
            "6.4"
        #elseif compiler(>=6.3)
            "6.3"
        #else
            "6.2"
        #endif
    }
}
