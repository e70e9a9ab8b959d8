import Basics
import CUV
package import Reactor
import System

/// The look-ups of the daemon: one thread for each.
///
/// libuv's own look-ups do not suffice: two that hang block all others of the process, and their
/// threads must end before the process can.
struct SystemLookUps: NameLookUps {
    let function: NameLookUp.Function

    var now: Instant { Instant(nanoseconds: Int64(clamping: uv_hrtime())) }

    func startLookUp(of host: String, _ onEnd: @escaping NameLookUp.End) throws(IOFailure) {
        let code = NameLookUp.startThread(host, by: function, onEnd)
        if code < 0 { throw IOFailure(uv: code) }
    }
}

extension NameService {
    /// The names of a process with libuv loops.
    package convenience init(lookUp: @escaping NameLookUp.Function = NameLookUp.system) {
        self.init(lookUps: SystemLookUps(function: lookUp))
    }
}

/// One look-up of a name, on a thread of its own, which ends with it.
///
/// Each look-up has its own thread, since a hanging call cannot be cancelled. The threads are
/// detached, so a process that ends does not wait for them.
package final class NameLookUp: Sendable {
    /// Returns the addresses of a name; may block for any time.
    package typealias Function = @Sendable (_ host: String) -> Result<[IPAddress], IOFailure>

    private let host: String
    private let function: Function
    private let onEnd: End

    /// Receives the result, on the look-up's thread.
    typealias End = @Sendable (Result<[IPAddress], IOFailure>) -> Void

    private init(_ host: String, by function: @escaping Function, _ onEnd: @escaping End) {
        self.host = host
        self.function = function
        self.onEnd = onEnd
    }

    /// Starts a look-up; `onEnd` is called on its thread. A negative result is libuv's error code:
    /// no thread was started, and `onEnd` is not called.
    static func startThread(
        _ host: String, by function: @escaping Function, _ onEnd: @escaping End
    ) -> CInt {
        let lookUp = Unmanaged.passRetained(NameLookUp(host, by: function, onEnd))
        let code = tributary_start_thread(
            { raw in
                guard let raw else { return nil }
                Unmanaged<NameLookUp>.fromOpaque(raw).takeRetainedValue().lookUpHost()
                return nil
            }, lookUp.toOpaque())
        if code < 0 { lookUp.release() }
        return code
    }

    private func lookUpHost() {
        ThreadName.set("name look-up")
        onEnd(function(host))
    }

    /// The system's `getaddrinfo`.
    package static func system(_ host: String) -> Result<[IPAddress], IOFailure> {
        // A C string would end at the zero byte, and another name would be looked up.
        guard !host.isEmpty, !host.utf8.contains(0) else { return .failure(.hostNotFound) }
        var list: UnsafeMutablePointer<addrinfo>?
        let code = tributary_getaddrinfo(host, &list)
        guard code == 0 else { return .failure(IOFailure(uv: code)) }
        defer { freeaddrinfo(list) }
        let addresses = distinctAddresses(list)
        return addresses.isEmpty ? .failure(.hostNotFound) : .success(addresses)
    }

    private static func distinctAddresses(_ list: UnsafeMutablePointer<addrinfo>?) -> [IPAddress] {
        var addresses: [IPAddress] = []
        var next = list
        while let entry = next {
            if let raw = entry.pointee.ai_addr, let address = IPAddress(raw),
                !addresses.contains(address)
            {
                addresses.append(address)
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}
