"""Files and sources that a spec has no business with."""

from pathlib import Path

from tests.hostile.desk import HEAD, TAIL
from tests.hostile.suite.case import Case, query, said, value

MAIN = HEAD.replace("\n", "\n%s\n", 1) + TAIL
PART = "function f() returns integer = 1;\n"


def using(path: str) -> str:
    return MAIN % f'use "{path}";'


def rows(path: str) -> str:
    return said(f'world z {{ accounts from "{path}"; }}')


CASES = (
    Case("a file as a table", "AFS201", query("select * from '/etc/passwd'")),
    Case("a file as a quoted table", "AFS201", query("select * from \"/etc/passwd\"")),
    Case("a file on the net as a table", "AFS201", query("select * from 's3://bucket/x.parquet'")),
    Case("CSV", "AFS404", query("select * from read_csv('/etc/passwd')")),
    Case("text", "AFS404", query("select content from read_text('/etc/passwd')")),
    Case("bytes of the process", "AFS404", query("select content from read_blob('/proc/self/environ')")),
    Case("names of files", "AFS404", query("select * from glob('/etc/*')")),
    Case("another database", "AFS404", query("select * from read_duckdb('/tmp/x.duckdb', table_name = 't')")),
    Case("a database attached", "AFS405", value("attach '/tmp/x.duckdb' as z")),
    Case("a table copied to a file", "AFS405", value("copy accounts to '/tmp/canary.csv'")),
    Case("a file copied into a table", "AFS405", value("copy accounts from '/etc/passwd'")),
    Case("the whole database exported", "AFS401", value("export database '/tmp/canary'")),
    Case("an object of Python as a table", "AFS201", query("select * from py_secret_df")),
    Case("a pointer as a table", "AFS404", query("select * from arrow_scan(1, 2, 3)")),
    Case("a part from the folder above", "AFS006", using("../secrets.afs")),
    Case("a part from the folder above, by a detour", "AFS006", using("a/../../secrets.afs")),
    Case("a part by its absolute path", "AFS006", using("/etc/passwd.afs")),
    Case("a part in the folder of a person", "AFS006", using("~/secrets.afs")),
    Case("a part by an address", "AFS006", using("file:///etc/passwd.afs")),
    Case("a part on another drive", "AFS006", using("C:\\\\secrets.afs")),
    Case("a part that is no spec", "AFS006", using("x.txt")),
    Case("a part by a link that leads out", "AFS006", {"desk.afs": using("part.afs"), "part.afs": Path("/etc/passwd")}),
    Case("a part by a folder that leads out", "AFS006", {"desk.afs": using("etc/passwd.afs"), "etc": Path("/etc")}),
    Case("a part that is a folder", "AFS006", {"desk.afs": using("part.afs"), "part.afs/x": ""}),
    Case("a part that never ends", "AFS006", {"desk.afs": using("part.afs"), "part.afs": Path("/dev/zero")}),
    Case("a part that is a link to itself", "AFS006", {"desk.afs": using("part.afs"), "part.afs": Path("part.afs")}),
    Case("rows from the folder above", "AFS006", rows("../rows.csv")),
    Case("rows by an absolute path", "AFS006", rows("/etc/passwd.csv")),
    Case("rows by a link that leads out", "AFS006", {"desk.afs": rows("rows.csv"), "rows.csv": Path("/etc/passwd")}),
    Case("rows that never end", "AFS006", {"desk.afs": rows("rows.csv"), "rows.csv": Path("/dev/zero")}),
    Case("rows of a kind that is not read", "AFS609", {"desk.afs": rows("rows.xlsx"), "rows.xlsx": "x"}),
    Case("rows of a database", "AFS609", {"desk.afs": rows("rows.duckdb"), "rows.duckdb": "x"}),
    Case("rows that are no Parquet", "AFS609", {"desk.afs": rows("rows.parquet"), "rows.parquet": b"PAR1" + b"\xff" * 64 + b"PAR1"}),
    Case("rows that are no JSON", "AFS609", {"desk.afs": rows("rows.json"), "rows.json": b"\xff\xfe{"}),
    Case("rows with columns of code", "AFS202", {
        "desk.afs": rows("rows.csv"), "rows.csv": 'id,owner,"x"" from read_text(\'/etc/passwd\') --"\na,b,c\n'}),
    Case("rows that are formulas", "", {"desk.afs": rows("rows.csv"), "rows.csv": "id,owner\na,=cmd|'/c calc'!A1\n"},
         "a text is a text"),
    Case("rows of an installed package that nobody allowed", "", said(
        'world z { accounts from package "pytest" "pytest/rows.csv"; }'), "they are not opened: `reset` says what is wanted"),
    Case("rows of a file above an installed package", "AFS609", said(
        'world z { accounts from package "pytest" "../../../../../etc/rows.csv"; }')),
    Case("rows by a variable of the environment that nobody allowed", "", said(
        'world z { accounts from env "HOME"; }'), "they are not opened: `reset` says what is wanted"),
    Case("a variable of the environment that is no name", "AFS609", said('world z { accounts from env "PATH=/etc"; }')),
    Case("a spec that is a folder", "AFS002", {"desk.afs/x": ""}),
    Case("a spec that is not there", "AFS001", {"desk.afs": Path("nowhere.afs")}),
    Case("a spec that never ends", "AFS005", {"desk.afs": Path("/dev/zero")}),
)  # fmt: skip
