"""SQL that is put together from values, or comes as a value."""

from tests.hostile.suite.case import Case, body, query, value

CASES = (
    Case("a query in a text", "AFS404", query("select * from query('select * from accounts')")),
    Case("a table in a text", "AFS404", query("select * from query_table('accounts')")),
    Case("tables in a list of texts", "AFS404", query("select * from query_table(['accounts', 'notes'])")),
    Case("a query as JSON", "AFS404", query("select * from json_execute_serialized_sql('x')")),
    Case("a query made JSON", "AFS404", value("json_serialize_sql('select 1')")),
    Case("a pragma of a query as JSON", "AFS405", body("let v = pragma json_execute_serialized_sql('x');")),
    Case("a prepared statement", "AFS405", body("let v = prepare p as select 1;")),
    Case("the execution of one", "AFS405", body("let v = execute p;")),
    Case("a statement explained, which runs it", "AFS405", body("let v = explain analyze delete from accounts;")),
    Case("a procedure", "AFS405", body("let v = call pragma_version();")),
    Case("a value in the place of a table", "AFS203", query("select * from $word")),
    Case("a value in the place of a column of a table", "AFS202", query("select accounts.$word from accounts")),
    Case("a value in the place of a function", "AFS405", value("$word(1)")),
    Case("a value as the number of rows", "AFS405", query("select id from accounts limit $n")),
    Case("a column chosen by a pattern", "AFS404", query("select columns('.*') from accounts")),
    Case("a column chosen by a function", "AFS404", query("select columns(c -> c = 'id') from accounts")),
    Case("a table chosen by a text", "AFS404", query("select * from identifier('accounts')")),
    Case("a parameter of the engine", "AFS104", value("$1")),
    Case("a nameless parameter", "AFS101", value("?")),
    Case("a parameter with a colon", "AFS405", value(":x")),
    Case("a variable of the session", "AFS404", value("getvariable('x')")),
    Case("a block of another language", "AFS104", value("$$ begin end $$")),
    Case("a calculation of code", "", value("calculate('__import__(\"os\").system(\"id\")')"),
         "only numbers, operators and brackets are calculated; anything else is NULL or a fault of the call"),
    Case("SQL in a text that is searched for", "", query("select id from accounts where owner = '''; drop table accounts; --'"),
         "a text is a value"),
)  # fmt: skip
