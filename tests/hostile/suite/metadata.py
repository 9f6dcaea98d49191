"""What tells of the engine, the machine or the other episodes instead of the state."""

from tests.hostile.suite.case import Case, body, query, value

CASES = (
    Case("settings", "AFS404", query("select name, value from duckdb_settings()")),
    Case("a setting by name", "AFS404", value("current_setting('secret_directory')")),
    Case("secrets", "AFS404", query("select * from duckdb_secrets()")),
    Case("databases and where they lie", "AFS404", query("select path from duckdb_databases()")),
    Case("tables", "AFS404", query("select table_name from duckdb_tables()")),
    Case("tables, as the standard has them", "AFS201", query("select table_name from information_schema.tables")),
    Case("tables, as SQLite has them", "AFS201", query("select * from sqlite_master")),
    Case("tables, as PostgreSQL has them", "AFS201", query("select * from pg_catalog.pg_tables")),
    Case("show", "AFS405", body("let v = show tables;")),
    Case("describe", "AFS405", query("select * from (describe accounts)")),
    Case("summarize", "AFS405", query("select * from (summarize accounts)")),
    Case("the query that runs", "AFS404", value("current_query()")),
    Case("the version", "AFS404", value("version()")),
    Case("the user", "AFS404", value("current_user")),
    Case("the schema", "AFS404", value("current_schema()")),
    Case("the transaction", "AFS404", value("txid_current()")),
    Case("the memory in use", "AFS404", query("select * from duckdb_memory()")),
    Case("how a table is stored", "AFS404", query("select * from pragma_storage_info('accounts')")),
    Case("where a row is stored", "AFS202", query("select rowid from accounts")),
    Case("how a vector is stored", "AFS404", value("vector_type(1)")),
    Case("the statistics of a column", "AFS404", query("select stats(balance) from accounts")),
    Case("the type of a value", "AFS404", value("typeof(1)")),
    Case("the environment of the process", "AFS404", value("getenv('HOME')")),
    Case("an internal function", "AFS404", value("__internal_decompress_string(1)")),
    Case("the progress of other queries", "AFS404", query("select * from duckdb_live_query_metrics()")),
    Case("a variable of another engine", "AFS104", value("@@version")),
)  # fmt: skip
