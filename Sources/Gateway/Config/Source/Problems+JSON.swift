import Basics
import JSONText
import YAMLReader

/// The problems as JSON.
extension Problems {
    /// For tools: `{"errors":1,"warnings":0,"problems":[{"severity":"error","file":...}]}`, one
    /// problem per line.
    package var json: String {
        var json: [UInt8] = []
        json.append(#"{"errors":\#(errorCount),"warnings":\#(warningCount),"problems":["#)
        for (index, problem) in sorted.enumerated() {
            json.append(literal: index > 0 ? ",\n" : "\n")
            json.append(literal: #"{"severity":"#)
            json.append(jsonString: problem.severity.rawValue)
            json.append(literal: #","file":"#)
            json.append(jsonString: problem.location.file)
            json.append(#","line":\#(problem.location.line),"column":\#(problem.location.column)"#)
            json.append(literal: #","text":"#)
            json.append(jsonString: problem.text)
            json.append(UInt8(ascii: "}"))
        }
        json.append(literal: isEmpty ? "]}\n" : "\n]}\n")
        return String(Bytes(json))
    }
}
