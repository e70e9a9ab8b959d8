/// The exit statuses of a process that cannot do its work, as sysexits.h has them.
package enum SystemExit {
    package static let noInput: CInt = 66
    package static let unavailable: CInt = 69
    package static let internalError: CInt = 70
    package static let cannotCreate: CInt = 73
}
