#include "peers.h"

#include <simdjson.h>
#include <string>

#include "yyjson.h"

const char *simdjson_kernel(void) {
    static const std::string name = simdjson::get_active_implementation()->name();
    return name.c_str();
}

const char *simdjson_version(void) {
    static const std::string text = std::to_string(simdjson::SIMDJSON_VERSION_MAJOR) + "."
        + std::to_string(simdjson::SIMDJSON_VERSION_MINOR) + "." + std::to_string(simdjson::SIMDJSON_VERSION_REVISION);
    return text.c_str();
}

/* The parser keeps its memory, as simdjson recommends. */
int simdjson_validates(const uint8_t *text, size_t count) {
    static simdjson::dom::parser parser;
    simdjson::dom::element root;
    return parser.parse(text, count, false).get(root) == simdjson::SUCCESS;
}

const char *yyjson_version_text(void) { return YYJSON_VERSION_STRING; }

int yyjson_validates(const uint8_t *text, size_t count) {
    yyjson_doc *document = yyjson_read(reinterpret_cast<const char *>(text), count, YYJSON_READ_NOFLAG);
    if (document == nullptr) return 0;
    yyjson_doc_free(document);
    return 1;
}
