/// The rules for `eject` of a backend.
extension ConfigCheck {
    mutating func checkEject(of backend: Config.Backend) {
        warn("eject", at: backend.eject?.location, needsHostsOf: backend)
    }
}
