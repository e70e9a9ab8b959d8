import Testing

/// Texts like those of the JSON test suite of 2016 ("Parsing JSON is a minefield"), rewritten: what
/// every reader must accept, and what every reader must refuse.
///
/// `%XX` is one byte, so that malformed UTF-8 can be written down.
enum Corpus {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let text: [UInt8]
        var testDescription: String { name }

        init(_ name: String, _ notation: String) {
            self.name = name
            text = Corpus.bytes(notation)
        }

        init(_ name: String, repeating part: String, _ count: Int, then rest: String = "") {
            self.name = name
            text = Array((String(repeating: part, count: count) + rest).utf8)
        }
    }

    static func bytes(_ notation: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(notation.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"),
                let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    static let accepted: [Case] = [
        Case("y_array_arraysWithSpaces", "[[]   ]"),
        Case("y_array_empty", "[]"),
        Case("y_array_empty-string", #"[""]"#),
        Case("y_array_ending_with_newline", #"["a"]%0A"#),
        Case("y_array_false", "[false]"),
        Case("y_array_heterogeneous", #"[null, 1, "1", {}]"#),
        Case("y_array_null", "[null]"),
        Case("y_array_with_1_and_newline", "[1%0A]"),
        Case("y_array_with_leading_space", " [1]"),
        Case("y_array_with_several_null", "[1,null,null,null,2]"),
        Case("y_array_with_trailing_space", "[2] "),
        Case("y_number", "[123e65]"),
        Case("y_number_0e+1", "[0e+1]"),
        Case("y_number_0e1", "[0e1]"),
        Case("y_number_after_space", "[ 4]"),
        Case(
            "y_number_double_close_to_zero",
            "[-0.000000000000000000000000000000000000000000000000000000000000000000000000000001]"),
        Case("y_number_int_with_exp", "[20e1]"),
        Case("y_number_minus_zero", "[-0]"),
        Case("y_number_negative_int", "[-123]"),
        Case("y_number_negative_one", "[-1]"),
        Case("y_number_negative_zero", "[-0]"),
        Case("y_number_real_capital_e", "[1E22]"),
        Case("y_number_real_capital_e_neg_exp", "[1E-2]"),
        Case("y_number_real_capital_e_pos_exp", "[1E+2]"),
        Case("y_number_real_exponent", "[123e45]"),
        Case("y_number_real_fraction_exponent", "[123.456e78]"),
        Case("y_number_real_neg_exp", "[1e-2]"),
        Case("y_number_real_pos_exponent", "[1e+2]"),
        Case("y_number_simple_int", "[123]"),
        Case("y_number_simple_real", "[123.456789]"),
        Case("y_number_twenty_digits", "[12345678901234567890]"),
        Case("y_number_leading_zeros_of_exponent", "[1e000]"),
        Case("y_number_huge_exponent", "[1e400,-1e-400]"),
        Case("y_object", #"{"asd":"sdf", "dfg":"fgh"}"#),
        Case("y_object_basic", #"{"asd":"sdf"}"#),
        Case("y_object_duplicated_key", #"{"a":"b","a":"c"}"#),
        Case("y_object_duplicated_key_and_value", #"{"a":"b","a":"b"}"#),
        Case("y_object_empty", "{}"),
        Case("y_object_empty_key", #"{"":0}"#),
        Case("y_object_escaped_null_in_key", #"{"foo\u0000bar": 42}"#),
        Case("y_object_extreme_numbers", #"{ "min": -1.0e+28, "max": 1.0e+28 }"#),
        Case(
            "y_object_long_strings",
            #"{"x":[{"id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}], "id": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#
        ),
        Case("y_object_simple", #"{"a":[]}"#),
        Case(
            "y_object_string_unicode",
            #"{"title":"\u041f\u043e\u043b\u0442\u043e\u0440\u0430 \u0417\u0435\u043c\u043b\u0435\u043a\u043e\u043f\u0430" }"#
        ),
        Case("y_object_with_newlines", "{%0A\"a\": \"b\"%0A}"),
        Case("y_string_1_2_3_bytes_UTF-8_sequences", #"["\u0060\u012a\u12AB"]"#),
        Case("y_string_accepted_surrogate_pair", #"["\uD801\udc37"]"#),
        Case("y_string_accepted_surrogate_pairs", #"["\ud83d\ude39\ud83d\udc8d"]"#),
        Case("y_string_allowed_escapes", #"["\"\\\/\b\f\n\r\t"]"#),
        Case("y_string_backslash_and_u_escaped_zero", #"["\\u0000"]"#),
        Case("y_string_backslash_doublequotes", #"["\""]"#),
        Case("y_string_comments", #"["a/*b*/c/*d//e"]"#),
        Case("y_string_double_escape_a", #"["\\a"]"#),
        Case("y_string_double_escape_n", #"["\\n"]"#),
        Case("y_string_escaped_control_character", #"["\u0012"]"#),
        Case("y_string_escaped_noncharacter", #"["\uFFFF"]"#),
        Case("y_string_in_array", #"["asd"]"#),
        Case("y_string_in_array_with_leading_space", #"[ "asd"]"#),
        Case("y_string_last_surrogates_1_and_2", #"["\uDBFF\uDFFF"]"#),
        Case("y_string_nbsp_uescaped", #"["new\u00A0line"]"#),
        Case("y_string_nonCharacterInUTF-8_U+10FFFF", "[\"%F4%8F%BF%BF\"]"),
        Case("y_string_nonCharacterInUTF-8_U+FFFF", "[\"%EF%BF%BF\"]"),
        Case("y_string_null_escape", #"["\u0000"]"#),
        Case("y_string_one-byte-utf-8", #"["\u002c"]"#),
        Case("y_string_pi", #"["π"]"#),
        Case("y_string_reservedCharacterInUTF-8_U+1BFFF", "[\"%F0%9B%BF%BF\"]"),
        Case("y_string_simple_ascii", #"["asd "]"#),
        Case("y_string_space", #"" ""#),
        Case("y_string_surrogates_U+1D11E_MUSICAL_SYMBOL_G_CLEF", #"["\uD834\uDd1e"]"#),
        Case("y_string_three-byte-utf-8", #"["\u0821"]"#),
        Case("y_string_two-byte-utf-8", #"["\u0123"]"#),
        Case("y_string_u+2028_line_sep", "[\"\u{2028}\"]"),
        Case("y_string_u+2029_par_sep", "[\"\u{2029}\"]"),
        Case("y_string_uEscape", #"["\u0061\u30af\u30EA\u30b9"]"#),
        Case("y_string_uescaped_newline", #"["new\u000Aline"]"#),
        Case("y_string_unescaped_char_delete", "[\"%7F\"]"),
        Case("y_string_unicode", #"["\uA66D"]"#),
        Case("y_string_unicodeEscapedBackslash", #"["\u005C"]"#),
        Case("y_string_unicode_2", "[\"⍂㈴⍂\"]"),
        Case("y_string_unicode_U+10FFFE_nonchar", #"["\uDBFF\uDFFE"]"#),
        Case("y_string_unicode_U+1FFFE_nonchar", #"["\uD83F\uDFFE"]"#),
        Case("y_string_unicode_U+200B_ZERO_WIDTH_SPACE", #"["\u200B"]"#),
        Case("y_string_unicode_U+2064_invisible_plus", #"["\u2064"]"#),
        Case("y_string_unicode_U+FDD0_nonchar", #"["\uFDD0"]"#),
        Case("y_string_unicode_U+FFFE_nonchar", #"["\uFFFE"]"#),
        Case("y_string_unicode_escaped_double_quote", #"["\u0022"]"#),
        Case("y_string_utf8", "[\"€𝄞\"]"),
        Case("y_string_with_del_character", "[\"a%7Fa\"]"),
        Case("y_structure_lonely_false", "false"),
        Case("y_structure_lonely_int", "42"),
        Case("y_structure_lonely_negative_real", "-0.1"),
        Case("y_structure_lonely_null", "null"),
        Case("y_structure_lonely_string", #""asd""#),
        Case("y_structure_lonely_true", "true"),
        Case("y_structure_string_empty", #""""#),
        Case("y_structure_trailing_newline", "[\"a\"]%0A"),
        Case("y_structure_true_in_array", "[true]"),
        Case("y_structure_whitespace_array", " [] "),
        Case(
            "y_structure_every_whitespace",
            "%09%0A%0D [%09%0A%0D 1%09%0A%0D ,%09%0A%0D {%09%0A%0D \"a\"%09%0A%0D :%09%0A%0D 2%09%0A%0D }%09%0A%0D ]%09%0A%0D "
        ),
        Case(
            "y_structure_500_nested_arrays", repeating: "[", 500,
            then: String(repeating: "]", count: 500)),
    ]
}
