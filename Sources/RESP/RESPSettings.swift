package import Basics
package import Reactor

/// Where the store is, and how to use it: one part of the configuration, for one worker.
package struct RESPSettings: Sendable, Equatable {
    package enum Destination: Sendable, Hashable {
        /// A name or an address in text form, without brackets.
        case host(String, port: UInt16)
        case unix(path: String)
    }

    package var destination: Destination

    /// Secures every connection before it is used; nil for plain connections.
    package var security: StreamSecurity?

    package var credentials: RESPCredentials?

    /// The number of the database that is selected; 0 needs no command.
    package var database = 0

    /// How long a command waits for its reply.
    package var timeout = Duration.milliseconds(50)

    /// The time limit for look-up, connecting, the TLS handshake and the first commands together.
    package var connectTimeout = Duration.seconds(1)

    /// A command that must succeed before a connection is used; nil for none. A store that accepts
    /// connections and PING may still refuse what the gateway needs.
    package var trial: RESPCommand?

    package var limits = RESPLimits()

    package init(destination: Destination) {
        self.destination = destination
    }

    /// The name that a certificate must contain.
    var host: String {
        switch destination {
        case .host(let host, _): host
        case .unix: "localhost"
        }
    }

    /// A command of a new connection.
    struct FirstCommand {
        let command: RESPCommand
        /// Nil for any that is not a simple string.
        let reply: String?

        /// Whether a reply belongs to the command. A store that repeats its replies, or sends some by
        /// itself, must not be used.
        func accepts(_ value: RESPValue) -> Bool {
            guard case .simple(let text) = value else { return reply == nil }
            return reply.map { Bytes($0) } == text
        }
    }

    /// Sent on every new connection, in this order.
    var firstCommands: [FirstCommand] {
        var commands: [FirstCommand] = []
        if let credentials {
            let user = credentials.user.map { [$0] } ?? []
            let command = RESPCommand([Bytes("AUTH")] + user + [credentials.password])
            commands.append(FirstCommand(command: command, reply: "OK"))
        }
        if database != 0 {
            commands.append(
                FirstCommand(command: RESPCommand("SELECT", "\(database)"), reply: "OK"))
        }
        commands.append(FirstCommand(command: RESPCommand("PING"), reply: "PONG"))
        if let trial { commands.append(FirstCommand(command: trial, reply: nil)) }
        return commands
    }
}

/// A user of the store and its password.
package struct RESPCredentials: Sendable, Equatable, CustomReflectable, CustomStringConvertible {
    /// Nil for the store's default user.
    package let user: Bytes?
    package let password: Bytes

    package init(user: Bytes?, password: Bytes) {
        self.user = user
        self.password = password
    }

    /// Logs and dumps must not contain the password.
    package var description: String { "credentials" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
