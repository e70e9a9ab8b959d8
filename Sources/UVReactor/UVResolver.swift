import CUV
import Promises
import Reactor

/// Name look-ups by the system's `getaddrinfo`, on libuv's threads: four for the whole process, so
/// equal names share one look-up.
final class UVResolver {
    private let lookUps: LookUps
    private let loop: UnsafeMutablePointer<uv_loop_t>

    init(on loop: UVLoop) {
        self.loop = loop.raw
        lookUps = LookUps(core: loop.core)
    }

    func addresses(of host: String) -> Local<[IPAddress]> {
        lookUps.addresses(of: host, begin)
    }

    private func begin(_ lookUp: LookUp) {
        // A C string would end at the zero, and another name be looked up.
        guard !lookUp.host.isEmpty, !lookUp.host.utf8.contains(0) else {
            return lookUp.end(.failure(.hostNotFound))
        }
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)  // else each address comes three times
        let code = Request<uv_getaddrinfo_t, LookUp>.start(lookUp) { request in
            let code = tributary_uv_getaddrinfo(
                loop, request,
                { request, status, list in UVResolver.ended(request, status, list) },
                lookUp.host, &hints)
            lookUp.onGivenUp = {
                // Too late if a thread is at it already: then its answer finds nobody.
                tributary_uv_cancel(request.cast(to: uv_req_t.self))
            }
            return code
        }
        if code < 0 { lookUp.end(.failure(IOFailure(uv: code))) }
    }

    private static func ended(
        _ request: UnsafeMutablePointer<uv_getaddrinfo_t>?, _ status: CInt,
        _ list: UnsafeMutablePointer<addrinfo>?
    ) {
        defer { uv_freeaddrinfo(list) }
        let loop = request?.pointee.loop
        guard let lookUp = Request<uv_getaddrinfo_t, LookUp>.finish(request) else { return }
        let addresses = distinctAddresses(list)
        if status < 0 {
            lookUp.end(.failure(IOFailure(uv: status)))
        } else {
            lookUp.end(addresses.isEmpty ? .failure(.hostNotFound) : .success(addresses))
        }
        UVLoop.of(loop)?.finishCallback()
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
