import Rehearsal

/// The model of hosts: which lists have the host of a request. It is written from the documentation, without
/// the gateway's code.
extension ScriptedRequest {
    /// Whether a list of a configuration has its host.
    func isFor(_ hosts: [String]) -> Bool {
        guard defect != .noHost else { return false }
        let name =
            switch host {
            case "[::1]:80": "::1"
            case "GATEWAY.test:80", "gateway.test.": "gateway.test"
            default: host
            }
        return hosts.contains { pattern in
            let pattern = pattern.replacing("\"", with: "")
            // Exactly one label more.
            return pattern == name
                || pattern == "*.test" && name.hasSuffix(".test")
                    && name.split(separator: ".").count == 2
        }
    }
}
