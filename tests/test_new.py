"""`forgec new`: the starter, and drafts of specs from schemas and data. Every draft checks, tests and compiles."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from textwrap import dedent

import duckdb
import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forgec.commands import forgec
from forgec.starting.names import is_name, legal
from forgec.starting.values import literal
from forgec_runtime.types import Boolean, Date, Decimal, Double, Enum, Integer, Text, Timestamp, Type

ROOT = Path(__file__).parent.parent


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(forgec, list(arguments), catch_exceptions=False)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def draft(*sources: str, name: str = "shop") -> tuple[str, str]:
    """Draft from files of the current folder; the spec, and what was said on standard error.

    Whatever the sources are, the draft checks, its tests pass, it compiles, it is formatted, and its gold plans are
    paid.
    """
    made = invoke("new", name, "--force", "--from", *sources)
    assert made.exit_code == 0, made.output
    spec = f"specs/{name}.afs"
    for command in ("check", "test", "compile"):
        done = invoke(command, spec)
        assert done.exit_code == 0 and "error" not in done.stderr, done.output  # a table without rows has no test
    laid_out = invoke("fmt", spec, "--check")
    assert laid_out.exit_code == 0, laid_out.output
    played = invoke("run", name)
    assert played.exit_code == 0, played.output
    return Path(spec).read_text(encoding="utf-8"), made.stderr


def section(spec: str, first: str, last: str) -> str:
    """What stands between two headings of a draft."""
    return spec.split(f"-- {first} ")[1].split("\n", 1)[1].split(f"-- {last} ")[0].strip() + "\n"


def tables(spec: str) -> str:
    return section(spec, "What there is", "What the agent can do")


def world(spec: str) -> str:
    return section(spec, "Where it begins", "Does it work?")


def database(path: str, script: str) -> None:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()


# -- the starter --------------------------------------------------------------------------------------------------


def test_the_starter_works_as_it_is(here: Path) -> None:
    made = invoke("new", "bakery")
    assert (made.exit_code, made.stderr) == (0, "")
    assert made.stdout == dedent(
        """\
        specs/bakery.afs: a spec to read from top to bottom
        next:
          forgec check specs/bakery.afs
          forgec test specs/bakery.afs
          forgec compile specs/bakery.afs
          forgec run bakery --agent gold --agent noop
        """
    )
    for command in ("check", "test", "compile"):
        done = invoke(command, "specs/bakery.afs")
        assert (done.exit_code, done.stderr) == (0, "")
    played = invoke("run", "bakery", "--agent", "gold", "--agent", "noop").stdout
    assert re.search(r"^mean of 1 +1\.00 +0\.00$", played, re.MULTILINE)


def test_the_starter_shows_every_declaration_that_a_first_spec_needs(here: Path) -> None:
    invoke("new", "bakery", "--out", "drafts/first.afs")
    text = Path("drafts/first.afs").read_text(encoding="utf-8")
    declared = re.findall(r"^[a-z]+(?= )", text, re.MULTILINE)
    assert list(dict.fromkeys(declared)) == [
        "environment", "policy", "enum", "table", "tool", "rule", "world", "test", "task",
    ]  # fmt: skip
    assert "environment bakery" in text and "forgec check drafts/first.afs" in text and "starter" not in text
    assert max(len(line) for line in text.splitlines()) <= 120


def test_every_example_in_the_help_is_one(here: Path) -> None:
    shown = invoke("new", "--help").stdout
    assert re.findall(r"^ +forgec new \w+(.*?)(?: +#.*)?$", shown, re.MULTILINE) == [
        "", " --from schema.sql", " --from shop.sqlite --out drafts/shop.afs",
        " --from customers.csv orders.csv items.csv", " --from rides.parquet",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a", "a_name_that_is_as_long_as_a_name_can_be_in_this_language_now"])
def test_the_starter_is_formatted_whatever_its_name(here: Path, name: str) -> None:
    assert invoke("new", name).exit_code == 0
    assert invoke("fmt", f"specs/{name}.afs", "--check").exit_code == 0


def test_a_file_that_is_there_is_not_overwritten(here: Path) -> None:
    Path("specs").mkdir()
    Path("specs/bakery.afs").write_text("mine", encoding="utf-8")
    refused = invoke("new", "bakery")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert refused.stderr == dedent(
        """\
        error[AFS805]: there is such a file already
         --> specs/bakery.afs
          = help: choose another --out, or overwrite it with --force
        1 error
        """
    )
    assert Path("specs/bakery.afs").read_text(encoding="utf-8") == "mine"
    assert invoke("new", "bakery", "--force").exit_code == 0
    assert Path("specs/bakery.afs").read_text(encoding="utf-8") != "mine"


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("Bakery", "such as `bakery`"),
        ("shop floor", "such as `shop_floor`"),
        ("2nd", "such as `e_2nd`"),
        ("a__b", "such as `a_b`"),
        ("x" * 61, f"such as `{'x' * 60}`"),
        ("", "such as `environment_1`"),
    ],
)
def test_a_name_that_will_not_do(here: Path, name: str, hint: str) -> None:
    refused = invoke("new", name)
    assert refused.exit_code == 2
    assert f"`{name}` cannot be the name of an environment: use lower-case letters" in refused.stderr
    assert hint in refused.stderr
    assert list(here.iterdir()) == []


def test_a_folder_that_cannot_be_made(here: Path) -> None:
    Path("specs").write_text("a file", encoding="utf-8")
    refused = invoke("new", "bakery")
    assert refused.exit_code == 2
    assert "error[AFS804]: this file cannot be written" in refused.stderr


def test_sources_without_from_are_a_mistake(here: Path) -> None:
    refused = invoke("new", "shop", "schema.sql")
    assert refused.exit_code == 2
    assert "sources come after --from" in refused.stderr


# -- schemas ------------------------------------------------------------------------------------------------------

POSTGRES = r"""
\restrict a1b2
SET statement_timeout = 0;
CREATE TYPE public.mood AS ENUM ('sad', 'so so', 'happy');
CREATE TABLE public.members (
    id integer NOT NULL,
    "Full Name" character varying(80) DEFAULT 'x'::character varying NOT NULL,
    feels public.mood DEFAULT 'sad'::public.mood,
    created timestamp with time zone DEFAULT now(),
    born date DEFAULT CURRENT_DATE,
    tags text[],
    balance numeric(10,2) DEFAULT 0 CHECK (balance >= (0)::numeric),
    rate numeric,
    token uuid DEFAULT gen_random_uuid(),
    status text NOT NULL,
    boss integer REFERENCES public.members(id) ON DELETE SET NULL,
    CONSTRAINT known CHECK (((status)::text = ANY ((ARRAY['a'::character varying, 'b'::character varying])::text[]))),
    CONSTRAINT shape CHECK ((("Full Name")::text ~ '^A'::text))
);
CREATE TABLE public.loans (
    member integer NOT NULL, title text, due date NOT NULL,
    CONSTRAINT later CHECK (due > '2000-01-01'), UNIQUE (member, title)
);
ALTER TABLE ONLY public.members ADD CONSTRAINT members_pkey PRIMARY KEY (id);
ALTER TABLE ONLY public.members ALTER COLUMN id SET DEFAULT nextval('members_id_seq'::regclass);
ALTER TABLE ONLY public.loans ADD CONSTRAINT loans_pkey PRIMARY KEY (member, due);
ALTER TABLE ONLY public.loans ADD CONSTRAINT loans_member FOREIGN KEY (member) REFERENCES public.members(id);
CREATE UNIQUE INDEX members_token ON public.members USING btree (token);
COMMENT ON TABLE public.members IS 'People with a "card"';
COMMENT ON COLUMN public.members.id IS 'The number on it';
COPY public.loans (member, title, due) FROM stdin;
1	It's; a (title	2025-01-01
\.
"""


def test_a_schema_of_postgresql(here: Path) -> None:
    Path("schema.sql").write_text(POSTGRES, encoding="utf-8")
    spec, said = draft("schema.sql")
    assert tables(spec) == dedent(
        """\
        enum Mood { 'sad', 'so so', 'happy' }

        enum MembersStatus { a, b }

        table members "People with a \\"card\\"" {
          id         integer          key serial  "The number on it",
          -- called "Full Name" there; check REGEXP_MATCHES(full_name, '^A') there: unknown function `regexp_matches`
          full_name  text             default 'x',
          feels      Mood?            default 'sad',
          created    timestamp?       default (now()),  -- with a time zone there; in UTC here
          born       date?            default (today()),
          tags       text?,  -- TEXT[] there, a type that drafts do not have
          balance    decimal(10, 2)?  default 0.00  check (balance >= 0),
          rate       decimal(18, 2)?,          -- no number of digits there
          token      text?            unique,  -- a UUID there; default GEN_RANDOM_UUID() there
          status     MembersStatus,
          boss       -> members?,
        }

        table loans {
          member  -> members  key,
          title   text?,
          due     date        key  check (due > '2000-01-01'),
        }

        invariant loans_member_title_unique "No two rows of loans have the same member, title":
          not exists (select 1 from loans where title is not null group by member, title having count(*) > 1);
        """
    )
    assert "-- the rows that the script copies from stdin were left out" in spec
    assert said == dedent(
        """\
        warning[AFS809]: members.tags is text here: drafts have no type TEXT[]
          --> schema.sql:11:5
           |
        11 |     tags text[],
           |     ^^^^ becomes text
        1 warning
        """
    )


MYSQL = """
/*!40101 SET NAMES utf8 */;
DROP TABLE IF EXISTS `order`;
CREATE TABLE `customer` (
  `id` int(11) unsigned NOT NULL AUTO_INCREMENT COMMENT 'Our number',
  `e-mail` varchar(80) NOT NULL,
  PRIMARY KEY (`id`), UNIQUE KEY `mail` (`e-mail`)
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8 COMMENT='People who buy';
CREATE TABLE `order` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `customer_id` int(11) unsigned NOT NULL,
  `kind` enum('new','sent away') NOT NULL DEFAULT 'new',
  `paid` tinyint(1) NOT NULL DEFAULT '0',
  `group` smallint DEFAULT '3',
  `colours` set('red','blue'),
  `year` year, `note` mediumtext, `extra` json,
  `total` decimal(30,4) NOT NULL DEFAULT '0.0000',
  `at` datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
  PRIMARY KEY (`id`), KEY `ix` (`customer_id`),
  CONSTRAINT `fk` FOREIGN KEY (`customer_id`) REFERENCES `customer` (`id`) ON DELETE CASCADE
) ENGINE=InnoDB;
LOCK TABLES `order` WRITE;
INSERT INTO `customer` VALUES (1,'ann@x.org'),(2,'bo@x.org');
INSERT INTO `order` (customer_id, kind, note) VALUES (2,'new','it''s \\n two'),(9,'new','of nobody');
UNLOCK TABLES;
"""


def test_a_dump_of_mysql_with_rows(here: Path) -> None:
    Path("dump.sql").write_text(MYSQL, encoding="utf-8")
    spec, said = draft("dump.sql")
    assert tables(spec) == dedent(
        """\
        enum OrdersKind { 'new', 'sent away' }

        table customer "People who buy" {
          id      integer  key serial  "Our number",
          e_mail  text     unique,  -- called "e-mail" there
        }

        -- called "order" there
        table orders {
          id           integer         key serial,
          customer_id  -> customer,
          kind         OrdersKind      default 'new',
          paid         boolean         default false,  -- tinyint(1) there
          group_value  integer?        default 3,      -- called "group" there
          colours      text?,                          -- SET('red', 'blue') there, a type that drafts do not have
          year         integer?,
          note         text?,
          extra        text?,                           -- JSON there, a type that drafts do not have
          total        decimal(18, 4)  default 0.0000,  -- up to 30 digits there, 18 here
          at           timestamp?      default (now()),
        }
        """
    )
    assert (
        "    (2, 'bo@x.org');\n  -- orders: 1 of 2 rows: the first whole ones, with references to rows that are here"
        in spec
    )
    assert "    (1, 2, 'new', false, null, null, null, 'it''s \n two', null, 0.0000, null);" in spec
    assert "2 warnings" in said


def test_a_script_of_sqlite(here: Path) -> None:
    script = """
        PRAGMA foreign_keys = on;
        CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a, b TEXT COLLATE NOCASE UNIQUE ON CONFLICT IGNORE,
          c REAL DEFAULT (1.5), kind TEXT CHECK (kind = 'x' OR kind = 'y' OR kind IS NULL),
          h DATETIME default (datetime('now')), twice text generated always as (b || b) virtual) WITHOUT ROWID;
        CREATE TABLE [odd name] ("a b" int, `c` VARCHAR(5), primary key ("a b", c)) STRICT;
        CREATE VIRTUAL TABLE v USING fts5(x);
        CREATE TRIGGER tr AFTER INSERT ON t BEGIN INSERT INTO [odd name] VALUES (1, 'x'); DELETE FROM t; END;
        INSERT INTO t (b, kind) VALUES ('one', 'x'), (NULL, NULL), (upper('no constant'), 'y');
        """
    Path("t.sql").write_text(script, encoding="utf-8")
    spec, _ = draft("t.sql")
    assert tables(spec) == dedent(
        """\
        enum TKind { x, y }

        table t {
          id     integer     key serial,
          a      text?,  -- no type there
          b      text?       unique,
          c      double?     default 1.5,
          kind   TKind?,
          h      timestamp?  default (now()),
          twice  text?,  -- computed there: b || b
        }

        -- called "odd name" there
        table odd_name {
          a_b  integer  key,  -- called "a b" there
          c    text     key,
        }
        """
    )
    assert world(spec) == dedent(
        """\
        world imported {
          -- t: 2 of 3 rows: the first whole ones
          t (id, a, b, c, kind, h, twice) values
            (1, null, 'one', null, 'x',  null, null),
            (2, null, null,  null, null, null, null);
          -- odd_name (a_b, c) values (...), (...);
        }
        """
    )


def test_references_that_a_spec_cannot_say_become_comments(here: Path) -> None:
    script = """
        create table a (id int primary key, b_id int references b(id), code text unique, x int references gone(id));
        create table b (id int primary key, a_id int references a, a_code text references a(code));
        create table p (x int, y int, primary key (x, y));
        create table r (id int primary key, x int, y int, boss int references r, foreign key (x, y) references p);
        """
    Path("s.sql").write_text(script, encoding="utf-8")
    spec, _ = draft("s.sql")
    assert tables(spec) == dedent(
        """\
        table a {
          id    integer   key,
          b_id  -> b?,
          code  text?     unique,
          x     integer?,  -- refers to gone (id) there, which is not in the source
        }

        table b {
          id      integer   key,
          a_id    integer?,  -- refers to a there; here references may not run in a circle
          a_code  text?,     -- refers to a (code) there, which is not its key
        }

        table p {
          x  integer  key,
          y  integer  key,
        }

        -- x, y refer to p there; a reference is to a key of one column
        table r {
          id    integer   key,
          x     integer?,
          y     integer?,
          boss  -> r?,
        }
        """
    )


def test_domains_partitions_and_generated_columns_of_postgresql(here: Path) -> None:
    script = """
        CREATE DOMAIN public.year AS integer CONSTRAINT year_check CHECK (VALUE >= 1901);
        CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $_$ BEGIN INSERT INTO film VALUES (1); END $_$;
        CREATE TABLE film (id integer PRIMARY KEY, made public.year,
          half numeric(4,2) GENERATED ALWAYS AS (round(id / 2.0, 2)) VIRTUAL);
        CREATE TABLE sale (id integer, at date, film integer, PRIMARY KEY (id, at)) PARTITION BY RANGE (at);
        CREATE TABLE sale_2024 (id integer, at date, film integer);
        ALTER TABLE ONLY sale ATTACH PARTITION sale_2024 FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
        ALTER TABLE ONLY sale_2024 ADD CONSTRAINT fk FOREIGN KEY (film) REFERENCES film(id);
        """
    Path("s.sql").write_text(script, encoding="utf-8")
    spec, said = draft("s.sql")
    assert said == ""
    assert tables(spec) == dedent(
        """\
        table film {
          id    integer         key,
          made  integer?,        -- of the domain year there
          half  decimal(4, 2)?,  -- computed there: ROUND(id / 2.0, 2)
        }

        table sale {
          id    integer   key,
          at    date      key,
          film  -> film?,
        }
        """
    )


def test_long_rows_leave_room_for_fewer(here: Path) -> None:
    database(
        "t.db",
        """
        create table t (id integer primary key, words text, picture blob);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 20)
          insert into t select i, hex(zeroblob(20000)), zeroblob(5000) from n;
        """,
    )
    spec, _ = draft("t.db")
    assert "-- t: 3 of 20 rows: the first whole ones" in spec
    assert f"'{'00' * 32}...'" in spec


def test_the_tools_of_a_draft_look_rows_up(here: Path) -> None:
    script = """
        create table found (found text primary key);
        create table pair (found text references found, n int, primary key (found, n));
        """
    Path("s.sql").write_text(script, encoding="utf-8")
    spec, _ = draft("s.sql")
    tools = section(spec, "What the agent can do", "Where it begins")
    assert tools.split("\n\n", 1)[1] == dedent(
        """\
        tool get_found(found -> found as found_row) returns found "One row of found." {
          return $found_row;
        }

        tool list_found() returns found[] "The first 100 rows of found." {
          return select * from found order by found limit 100;
        }

        tool get_pair(found -> found, n integer) returns pair "One row of pair." {
          let found_row = select * from pair where found = $found and n = $n else "There is no such row of pair";
          return $found_row;
        }

        tool list_pair(found -> found?) returns pair[]
          "The first 100 rows of pair, all or those that refer to something."
        {
          return select * from pair where ($found is null or found = $found) order by found, n limit 100;
        }
        """
    )


def test_a_statement_that_cannot_be_read_is_left_out(here: Path) -> None:
    Path("s.sql").write_text("create table a (id int primary key);\ncreate table b (id int ???);", encoding="utf-8")
    spec, said = draft("s.sql")
    assert "-- left out, as it cannot be read: create table b (id int ???)" in spec
    assert "warning[AFS807]: this statement cannot be read\n --> s.sql:2:1" in said


def test_the_schema_of_the_library(here: Path) -> None:
    source = ROOT / "generated" / "library" / "schema.sql"
    spec, _ = draft(str(source), name="library")
    assert re.findall(r"^table (\w+)", spec, re.MULTILINE) == ["members", "books", "loans", "reservations", "payments"]
    assert "  -- no key there: the rows are numbered" in spec


# -- SQLite files -------------------------------------------------------------------------------------------------


def test_a_sqlite_file_with_more_rows_than_a_draft_holds(here: Path) -> None:
    database(
        "shop.sqlite",
        """
        create table Customers (CustomerID integer primary key, joined date, vip boolean not null default 0,
          boss int references Customers, spent real, unique (joined, vip, spent));
        create table "Order" (id integer primary key, customer int not null references Customers,
          total decimal(8,2) check (total >= 0), placed datetime);
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 120)
          insert into Customers select i, '2024-01-05', i % 2, case when i > 1 then i / 2 end, i * 1.25 from n;
        with recursive n(i) as (select 1 union all select i + 1 from n where i < 60)
          insert into "Order" select i, 121 - i, i * 0.5, '2024-02-03 10:00:00' from n;
        """,
    )
    spec, said = draft("shop.sqlite")
    assert said == ""
    assert "-- customers: 50 of 120 rows: the first whole ones, with references to rows that are here" in spec
    assert "    (50, '2024-01-05', false,   25,  62.5);" in spec
    assert "-- orders: 0 of 60 rows" in spec
    assert "  total     decimal(8, 2)?  check (total >= 0)," in spec
    assert "invariant customers_joined_vip_spent_unique" in spec


def test_values_that_their_types_do_not_hold_change_the_type(here: Path) -> None:
    database(
        "odd.db",
        """
        create table t (id integer primary key, n integer, big integer, d decimal(4, 1), day date, b blob, w numeric);
        insert into t values (1, 'abc', 12345678901234567890, 1.25, '2024-02-30', x'01ff', 1.5);
        insert into t values (2, 7, 1, 123.5, '2024-02-03', null, 2.125);
        """,
    )
    spec, _ = draft("odd.db")
    assert tables(spec) == dedent(
        """\
        table t {
          id   integer          key serial,
          n    text?,            -- integer there, but there are values such as "abc"
          big  double?,          -- integer there, but there are values such as "1.2345678901234567e+19"
          d    decimal(10, 2)?,  -- decimal(4, 1) there, but there are values such as "1.25"
          day  text?,            -- date there, but there are values such as "2024-02-30"
          b    text?,            -- BLOB there, a type that drafts do not have
          w    decimal(10, 3)?,  -- no number of digits there
        }
        """
    )
    assert "(1, 'abc', 1.2345678901234567e+19,   1.25, '2024-02-30', '01ff', 1.500)," in spec


def test_checks_and_uniqueness_that_the_rows_break_become_comments(here: Path) -> None:
    database(
        "t.db",
        """
        create table t (a int primary key, b int, c text default (lower('X')) check (c glob '*'));
        insert into t values (1, 5, 'x'), (2, 5, 'x');
        pragma writable_schema = on;
        update sqlite_master set sql = replace(sql, 'b int,', 'b int check (b > 5),') where name = 't';
        """,
    )
    spec, _ = draft("t.db")
    assert "  -- check b > 5 there: there are rows that break it" in spec
    assert "  -- default (LOWER('X')) there; check c GLOB '*' there: `glob` is not part of this language's SQL" in spec


def test_dangling_and_repeated_rows_are_left_out(here: Path) -> None:
    database(
        "t.db",
        """
        create table parent (id text primary key);
        create table child (id int primary key, parent text references parent);
        insert into parent values ('a'), (null);
        insert into child values (1, 'a'), (2, 'nobody'), (3, null);
        """,
    )
    spec, _ = draft("t.db")
    assert "-- parent: 1 of 2 rows: the first whole ones" in spec
    assert "-- child: 2 of 3 rows: the first whole ones, with references to rows that are here" in spec
    assert "    (1, 'a'),\n    (3, null);" in spec


def test_a_table_of_sqlite_whose_statement_cannot_be_read(here: Path) -> None:
    database(
        "t.db",
        """
        create table a (id integer primary key, x unsigned big int not null default 3 check (x > 1));
        create table b (n int, m int, a int references a, primary key (n, m autoincrement_is_no_word))
        """.replace(", m autoincrement_is_no_word", ", m collate nocase"),
    )
    spec, _ = draft("t.db")
    assert re.search(r"^table a \{\n  id +integer +key", spec, re.MULTILINE)
    assert re.search(r"^  n +integer +key", spec, re.MULTILINE) and re.search(r"^  a +-> a\?", spec, re.MULTILINE)


# -- data files ---------------------------------------------------------------------------------------------------


def test_csv_files_that_refer_to_each_other(here: Path) -> None:
    Path("customers.csv").write_text(
        'Name,id,zip,balance,"e-mail",born,ratio\n"Roth, ""Ann""",1,04101,12.50,a@x.org,1990-01-02,0.123456\n'
        "Bo,2,00123,3,b@x.org,,2.5\n",
        encoding="utf-8",
    )
    Path("orders.csv").write_text(
        "order_no,customer_id,at,paid\nO1,2,2025-02-01 10:00:00,true\nO2,2,2025-02-01 11:00:00,false\n",
        encoding="utf-8",
    )
    Path("order_lines.csv").write_text("order_no,line,qty\nO1,1,5\nO1,2,5\nO2,1,5\n", encoding="utf-8")
    Path("log.tsv").write_text("text\tmore\nhello\tx\nhello\tx\n", encoding="utf-8")
    spec, said = draft("customers.csv", "orders.csv", "order_lines.csv", "log.tsv")
    assert said == ""
    assert tables(spec) == dedent(
        """\
        table customers {
          name     text,                 -- called "Name" there
          id       integer         key,  -- guessed to be the key: no two rows have the same
          zip      text,
          balance  decimal(10, 2),
          e_mail   text,  -- called "e-mail" there
          born     date?,
          ratio    double,
        }

        table orders {
          order_no     text          key,  -- guessed to be the key: no two rows have the same
          customer_id  -> customers,       -- guessed: its name, and every value is the id of a row of customers
          at           timestamp,
          paid         boolean,
        }

        -- order_no and line were guessed to be the key: no two rows have the same pair
        table order_lines {
          order_no  -> orders  key,  -- guessed: its name, and every value is the order_no of a row of orders
          line      integer    key,
          qty       integer,
        }

        table log {
          row_number  integer  key serial,  -- no key there: the rows are numbered
          text        text,
          more        text,
        }
        """
    )
    assert "    ('Roth, \"Ann\"', 1, '04101', 12.50, 'a@x.org', '1990-01-02', 0.123456)," in spec
    assert section(spec, "What is asked for", "the end") == dedent(
        """\
        -- A task to begin with: what a user wants, what the user knows, how it is done, and what must be said.
        task look_up_customers on imported {
          intent "You want to know the name of one of the customers. You know its id.";
          fact id "which one it is" = 1;
          plan {
            answer = get_customers(id: $id);
          }
          says "its name": $answer.name;
        }
        """
    )


def test_a_reference_is_guessed_only_where_every_value_leads_somewhere(here: Path) -> None:
    Path("cities.csv").write_text("city_id,name\n1,Oslo\n2,Bergen\n", encoding="utf-8")
    Path("people.csv").write_text("id,home_city_id,city_id\n7,1,1\n8,,3\n", encoding="utf-8")
    spec, _ = draft("people.csv", "cities.csv")
    assert re.search(r"^  home_city_id +-> cities\?, +-- guessed: ", spec, re.MULTILINE)
    assert re.search(r"^  city_id +integer,$", spec, re.MULTILINE)


def test_a_parquet_file(here: Path) -> None:
    duckdb.sql(
        """copy (
          select i as thing_id, 'n' || i as "Größe", {'a': i} as s, [i] as l, (i / 3)::decimal(12, 2) as d,
            timestamptz '2025-01-01 10:00:00+01' as tz, 'b'::blob as b, i % 2 = 0 as even, nullif(i, 3) as m
          from range(60) t(i)
        ) to 'things.parquet' (format parquet)"""
    )
    spec, said = draft("things.parquet")
    assert tables(spec) == dedent(
        """\
        table things {
          thing_id  integer         key,  -- guessed to be the key: no two rows have the same
          grosse    text,                 -- called "Größe" there
          s         text,                 -- STRUCT(a BIGINT) there, a type that drafts do not have
          l         text,                 -- BIGINT[] there, a type that drafts do not have
          d         decimal(12, 2),
          tz        timestamp,  -- with a time zone there; in UTC here
          b         text,       -- BLOB there, a type that drafts do not have
          even      boolean,
          m         integer?,
        }
        """
    )
    assert "-- things: 50 of 60 rows: the first whole ones" in spec
    row = "( 1, 'n1', '{''a'': 1}', '[1]', 0.33, '2025-01-01 09:00:00', 'b', false, 1),"
    assert row in re.sub(" +", " ", spec)
    assert said.count("warning[AFS809]") == 3 and "things.parquet" in said


@pytest.mark.parametrize("text", ["id,name\n", "id\n1\n", "a,a\n1,2\n", "ä ö,?,\n1,2,3\n", "select,table\n1,2\n"])
def test_small_and_odd_csv_files(here: Path, text: str) -> None:
    Path("odd [1]*.csv").write_text(text, encoding="utf-8")
    spec, _ = draft("odd [1]*.csv")
    assert "table odd_1 {" in spec


def test_the_same_sources_give_the_same_bytes(here: Path) -> None:
    Path("dump.sql").write_text(MYSQL, encoding="utf-8")
    assert draft("dump.sql") == draft("dump.sql")


# -- sources that will not do -------------------------------------------------------------------------------------


def refused(*sources: str) -> str:
    made = invoke("new", "shop", "--from", *sources)
    assert (made.exit_code, made.stdout) == (2, "")
    assert not Path("specs").exists()
    return made.stderr.splitlines()[0]


def test_sources_that_will_not_do(here: Path) -> None:
    Path("folder").mkdir()
    Path("empty.sql").write_text("select 1; create view v as select 1;", encoding="utf-8")
    Path("latin.sql").write_bytes(b"create table t (a text default '\xe9');")
    Path("broken.sql").write_text("create table t (a text default 'x", encoding="utf-8")
    Path("no.sqlite").write_text("text", encoding="utf-8")
    Path("cut.sqlite").write_bytes(b"SQLite format 3\x00 and nothing more")
    Path("data.xlsx").write_bytes(b"PK")
    Path("no.parquet").write_bytes(b"text")
    Path("no.csv").write_bytes(b"")
    Path("a.csv").write_text("id\n1\n", encoding="utf-8")
    Path("a.sql").write_text("create table a (id serial primary key);", encoding="utf-8")
    assert refused("gone.sql") == "error[AFS001]: there is no such file"
    assert refused("folder") == "error[AFS002]: this is a directory"
    assert refused("latin.sql").startswith("error[AFS003]: this file is not UTF-8")
    assert refused("data.xlsx") == "error[AFS806]: no draft can be made from such a file"
    assert refused("a.sql", "a.csv") == "error[AFS806]: these sources are of different kinds"
    assert refused("broken.sql").startswith("error[AFS807]: this is no SQL script: ")
    assert refused("no.sqlite") == "error[AFS807]: this is no SQLite file"
    assert refused("cut.sqlite").startswith("error[AFS807]: this SQLite file cannot be read: ")
    assert refused("no.parquet").startswith("error[AFS807]: this file cannot be read as Parquet: ")
    assert refused("no.csv") == "error[AFS807]: this file is empty"
    assert refused("empty.sql") == "error[AFS808]: there is no table to draft from"


# -- properties ---------------------------------------------------------------------------------------------------


@given(st.lists(st.text(max_size=70), max_size=8), st.sampled_from(["table", "column"]))
def test_any_names_become_names_that_differ(originals: list[str], what: str) -> None:
    names: list[str] = []
    for i, original in enumerate(originals, 1):
        names.append(legal(original, what, names, i))
    assert all(is_name(name) for name in names)
    assert len(set(names)) == len(names)


@given(st.from_regex(r"[a-z]{2,8}(_[a-z0-9]{1,5}){0,2}", fullmatch=True).filter(lambda name: len(name) > 8))
def test_a_name_that_is_one_already_is_kept(name: str) -> None:
    assert legal(name, "column", (), 1) == name


@pytest.mark.parametrize(
    ("type_", "text", "wanted"),
    [
        (Integer(), "12", "12"), (Integer(), "-3.0", "-3"), (Integer(), "1.5", None), (Integer(), str(2**53), None),
        (Decimal(5, 2), "12.5", "12.50"), (Decimal(5, 2), "-0", "0.00"), (Decimal(5, 2), "1.234", None),
        (Decimal(5, 2), "1000", None), (Decimal(5, 2), "1e2", "100.00"), (Decimal(5, 2), "nan", None),
        (Double(), "1e20", "1e+20"), (Double(), "inf", None), (Double(), "x", None),
        (Boolean(), "T", "true"), (Boolean(), "0", "false"), (Boolean(), "2", None),
        (Date(), "2024-02-03", "'2024-02-03'"), (Date(), "2024-02-03 00:00:00", "'2024-02-03'"),
        (Date(), "2024-02-03 10:00:00", None), (Date(), "2024-02-30", None),
        (Timestamp(), "2024-02-03T10:00:00+02:00", "'2024-02-03 08:00:00'"), (Timestamp(), "noon", None),
        (Enum("E", ("a", "it's")), "it's", "'it''s'"), (Enum("E", ("a",)), "b", None),
        (Text(), "it's", "'it''s'"), (Text(), "a\x00b\u202ec\r\nd", "'abc\nd'"), (Text(), "a\ntable /*", "'a table  '"),
    ],
)  # fmt: skip
def test_values_become_literals(type_: Type, text: str, wanted: str | None) -> None:
    assert literal(type_, text) == wanted


TYPES = ("text", "integer", "real", "date", "datetime", "boolean", "decimal(6,2)", "blob", "")
values = st.one_of(st.none(), st.integers(-(2**62), 2**62), st.floats(), st.text(max_size=30), st.binary(max_size=5))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(st.tuples(values, values, values), max_size=4),
    names=st.lists(st.text(st.characters(exclude_characters="\x00", codec="utf-8"), min_size=1, max_size=12),
                   min_size=4, max_size=4, unique_by=str.lower),
    types=st.lists(st.sampled_from(TYPES), min_size=3, max_size=3),
)  # fmt: skip
def test_any_sqlite_file_gives_a_draft_that_checks(
    here: Path, rows: list[tuple[object, ...]], names: list[str], types: list[str]
) -> None:
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    path = Path("any.sqlite")
    path.unlink(missing_ok=True)
    connection = sqlite3.connect(path)
    columns = ", ".join(f"{name} {type_}" for name, type_ in zip(quoted[1:], types, strict=True))
    connection.execute(
        f"create table {quoted[0]} (id integer primary key, {columns})".replace("id integer", '"" integer')
    )
    connection.executemany(f"insert into {quoted[0]} values (null, ?, ?, ?)", rows)
    connection.commit()
    connection.close()
    draft("any.sqlite")
