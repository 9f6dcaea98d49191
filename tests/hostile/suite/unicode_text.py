"""Letters that look like others, cannot be seen, or are no text; files in other encodings."""

from tests.hostile.desk import HEAD, TAIL
from tests.hostile.suite.case import Case, body, query, said, value

GOOD = HEAD + TAIL

CASES = (
    Case("a Cyrillic letter in a name of a table", "AFS104", query("select id from \u0430ccounts")),
    Case("a Cyrillic letter in a declared name", "AFS104", said("table \u0430ccounts { id text key }")),
    Case("a Cyrillic letter in the name of a function", "AFS104", value("l\u043ewer('a')")),
    Case("full-width letters", "AFS104", value("\uff4c\uff4f\uff57\uff45\uff52('a')")),
    Case("mathematical letters, which Python takes for plain ones", "AFS104", value("\U0001d41e\U0001d42f\U0001d41a\U0001d425('a')")),
    Case("the letter that stands for a dollar inside of forgec", "AFS104", value("\u00aaword")),
    Case("the same letter in quotes", "AFS202", value("\"\u00aaword\"")),
    Case("the same letter behind a dollar", "AFS104", value("$\u00aaword")),
    Case("the same letter in a name of a result", "AFS209", query("select id as \"\u00aax\" from accounts")),
    Case("a letter and its accent, apart", "AFS104", said("table e\u0301tat { id text key }")),
    Case("a quoted column that is no name", "AFS209", query("select id as \"e\u0301tat\" from accounts")),
    Case("a text turned round", "AFS108", value("'a\u202eb'")),
    Case("a comment turned round", "AFS108", GOOD + "-- \u202e } return x;\n"),
    Case("an isolate in a documentation", "AFS108", said('tool t() "a\u2066b" { }')),
    Case("a letter without width in a name", "AFS108", said("table z\u200bz { id text key }")),
    Case("a letter without width in SQL", "AFS108", value("1\u200b+ 1")),
    Case("a blank that does not break, as white space", "AFS104", value("1\u00a0+ 1")),
    Case("NUL in a text", "AFS108", value("'a\x00b'")),
    Case("NUL as white space", "AFS108", value("1\x00+ 1")),
    Case("a form feed", "AFS108", value("1\x0c+ 1")),
    Case("an escape of the terminal", "AFS108", value("'\x1b[2J'")),
    Case("a carriage return in a text", "AFS108", said('tool t() "a\rb" { }')),
    Case("private letters, which stand for places in texts inside of forgec", "AFS108", body('fail "\ue000accounts\ue001";')),
    Case("a tag character", "AFS108", value("'\U000e0041'")),
    Case("a mark of the order of bytes amid the text", "AFS108", value("'\ufeff'")),
    Case("half of a surrogate as an escape", "AFS108", said('tool t() "\\ud800" { }')),
    Case("both halves as escapes", "AFS108", said('tool t() "\\ud83d\\ude00" { }')),
    Case("half of a surrogate in bytes", "AFS003", GOOD.encode() + b"-- \xed\xa0\x80\n"),
    Case("Latin-1", "AFS003", GOOD.encode() + b"-- caf\xe9\n"),
    Case("UTF-16", "AFS003", GOOD.encode("utf-16")),
    Case("UTF-32", "AFS003", GOOD.encode("utf-32")),
    Case("an overlong slash", "AFS003", GOOD.encode() + b"-- \xc0\xaf\n"),
    Case("bytes of an image", "AFS003", bytes(range(256)) * 64),
    Case("line separators in a text", "", said('tool t() "a\u2028b\u2029c" { }'),
         "a text may hold them; no layout depends on lines of texts"),
    Case("letters of all planes in a text", "", value("'\u6f22\u5b57 \U0001f600 \u00e9'"), "texts are Unicode"),
    Case("a mark of the order of bytes at the start", "", b"\xef\xbb\xbf" + GOOD.encode(), "it is taken off"),
)  # fmt: skip
