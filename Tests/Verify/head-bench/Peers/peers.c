#include "peers.h"

#include <http_parser.h>

static int count_field(http_parser *parser, const char *text, size_t count) {
    (void)text;
    *(long *)parser->data += count > 0;
    return 0;
}

static int take_text(http_parser *parser, const char *text, size_t count) {
    (void)parser;
    (void)text;
    (void)count;
    return 0;
}

static int take_event(http_parser *parser) {
    (void)parser;
    return 0;
}

long http_parser_field_lines(const uint8_t *text, size_t count, int is_response, long times) {
    http_parser_settings settings;
    http_parser_settings_init(&settings);
    settings.on_message_begin = take_event;
    settings.on_url = take_text;
    settings.on_header_field = count_field;
    settings.on_header_value = take_text;
    settings.on_headers_complete = take_event;
    settings.on_message_complete = take_event;
    http_parser parser;
    http_parser_init(&parser, is_response ? HTTP_RESPONSE : HTTP_REQUEST);
    long lines = 0;
    parser.data = &lines;
    for (long round = 0; round < times; round++) {
        if (http_parser_execute(&parser, &settings, (const char *)text, count) != count) return -1;
    }
    return lines;
}
