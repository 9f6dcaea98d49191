"""Documents of every kind, read: what was understood of them, and what is said of the rest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forgec.documents import Api, DocumentError, Operation, read_document
from forgec.documents.api import as_json
from forgec.documents.json_schema import MAX_SHAPES
from forgec.documents.python_types import parse_type

DOCUMENTS = Path(__file__).parent / "documents"


def read(name: str) -> Api:
    return read_document(DOCUMENTS / name)


def written(folder: Path, document: Any, name: str = "document.json") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return path


def parameters(operation: Operation) -> dict[str, str]:
    """The kind of each parameter; `?` for one that may be left out."""
    return {one.name: one.shape.kind + ("" if one.required else "?") for one in operation.parameters}


def named(api: Api, name: str) -> Operation:
    return next(one for one in api.operations if one.name == name)


def test_openapi_bodies_and_paths_are_parameters() -> None:
    api = read("hotel.yaml")
    assert api.title == "Hotel API v2"
    assert api.forms == ["OpenAPI 3.1.0"]
    assert [one.name for one in api.operations] == [
        "listRooms", "addRoom", "getRoom", "changeRoom", "removeRoom", "post_bookings", "cancelBooking", "forecast",
    ]  # fmt: skip
    assert parameters(named(api, "addRoom")) == {
        "number": "text", "rate": "number", "beds": "integer?", "status": "text?", "extras": "list?",
    }  # fmt: skip
    assert parameters(named(api, "changeRoom")) == {"number": "text", "rate": "number?", "status": "text?"}
    assert [(one.code, one.text) for one in named(api, "getRoom").failures] == [("404", "There is no such room.")]
    room = named(api, "getRoom").result
    assert room is not None
    assert room.name == "Room"
    assert [(one.name, one.shape.kind, one.shape.optional) for one in room.fields] == [
        ("number", "text", False), ("rate", "number", False), ("beds", "integer", True), ("status", "text", False),
        ("extras", "list", False),
    ]  # fmt: skip
    assert api.notes == []


def test_lists_of_mcp_tools() -> None:
    api = read("notes.json")
    assert api.forms == ["MCP tools"]
    create = named(api, "create_note")
    assert parameters(create) == {"text": "text", "pinned": "boolean?"}
    assert create.parameters[1].default is False
    assert create.result is not None
    assert [one.name for one in create.result.fields] == ["note_id", "text"]


def test_the_answer_of_an_mcp_server_as_it_came(tmp_path: Path) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "result": json.loads((DOCUMENTS / "notes.json").read_text())}
    assert read_document(written(tmp_path, answer)).operations[0].name == "create_note"


def test_openai_functions_and_the_dialect_with_dicts_and_floats() -> None:
    api = read("wallet.json")
    assert api.forms == ["OpenAI functions"]
    assert parameters(named(api, "send_transfer")) == {"receiver": "text", "amount": "number"}
    result = named(api, "send_transfer").result
    assert result is not None
    assert {one.name: one.shape.kind for one in result.fields} == {"transfer_id": "integer", "amount": "number"}


def test_python_functions_with_docstrings() -> None:
    api = read("alarms.json")
    add = named(api, "add_alarm")
    assert add.doc == "Set an alarm."
    assert parameters(add) == {"label": "text", "minutes": "integer?"}
    assert add.parameters[0].doc == "What it is for"
    assert add.result_doc == "The identifier of the alarm"
    assert named(api, "modify_alarm").failures[0].code == "NoDataError"


def test_markdown_with_signatures_and_routes() -> None:
    api = read("parcels.md")
    assert [one.name for one in api.operations] == ["get_parcels_by_parcel_id", "create_parcel"]
    shown, made = api.operations
    assert (shown.method, shown.path, shown.doc) == ("get", "/parcels/{parcel_id}", "Shows a parcel.")
    assert shown.parameters[0].doc == "The number of the parcel."
    assert parameters(made) == {"receiver": "text", "weight": "number?"}
    assert "Opening hours" in api.prose


def test_a_text_without_calls_is_for_a_model_alone(tmp_path: Path) -> None:
    api = read_document(written(tmp_path, "Our service lends bicycles.", "about.txt"))
    assert api.operations == []
    assert "only for a model" in str(api.notes[0])


@pytest.mark.parametrize(
    ("annotation", "kind", "optional"),
    [
        ("str", "text", False), ("Optional[int]", "integer", True), ("int | None", "integer", True),
        ("Union[float, NotGiven]", "number", False), ("List[str]", "list", False), ("dict[str, int]", "map", False),
        ("Literal['a', 'b']", "text", False), ("datetime.date", "date", False), ("OrderStatus", "text", False),
    ],
)  # fmt: skip
def test_annotations_of_python(annotation: str, kind: str, optional: bool) -> None:
    shape = parse_type(annotation)
    assert shape is not None
    assert (shape.kind, shape.optional) == (kind, optional)


@pytest.mark.parametrize("annotation", ["__import__('os').system('ls')", "(", "x" * 5000, "[" * 900, "1 + 1"])
def test_what_is_no_annotation_is_not_evaluated(annotation: str) -> None:
    assert parse_type(annotation) is None


def test_a_class_that_nothing_is_known_of_may_be_anything_in_a_result(tmp_path: Path) -> None:
    text = "- `find_kites(colour: Colour) -> list[Kite]`\n- `get_kite(kite_id: int) -> Kite`\n"
    found, shown = read_document(written(tmp_path, text, "kites.md")).operations
    assert found.parameters[0].shape.kind == "text"
    assert found.result is not None and found.result.of is not None and found.result.of.kind == "anything"
    assert shown.result is not None and shown.result.kind == "anything"


@pytest.mark.parametrize(("said", "required"), [({}, True), ({"required": True}, True), ({"required": False}, False)])
def test_a_body_is_required_unless_the_document_says_otherwise(
    said: dict[str, bool], required: bool, tmp_path: Path
) -> None:
    schema = {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}}
    body = {"content": {"application/json": {"schema": schema}}, **said}
    api = read_document(written(tmp_path, {"openapi": "3.1.0", "paths": {"/kites": {"post": {"requestBody": body}}}}))
    assert api.operations[0].parameters[0].required is required


def test_several_documents_are_one_interface(tmp_path: Path) -> None:
    api = read_document([DOCUMENTS / "notes.json", DOCUMENTS / "alarms.json", DOCUMENTS / "notes.json"])
    assert len(api.operations) == 13
    assert len({one.name for one in api.operations}) == 13
    assert "there are several operations named 'create_note': this one is 'create_note_2'" in str(api.notes[0])


def test_schemas_that_contain_themselves_end(tmp_path: Path) -> None:
    tree = {
        "type": "object",
        "properties": {"child": {"$ref": "#/components/schemas/Tree"}, "name": {"type": "string"}},
    }
    body = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Tree"}}}}
    document = {
        "openapi": "3.0.0",
        "paths": {"/trees": {"post": {"requestBody": body}}},
        "components": {"schemas": {"Tree": tree}},
    }
    api = read_document(written(tmp_path, document))
    assert parameters(api.operations[0]) == {"child": "anything?", "name": "text?"}
    assert sum("contains itself" in note.text for note in api.notes) == 1  # said once, though it is met twice


def test_a_document_that_unfolds_without_end_is_cut_short(tmp_path: Path) -> None:
    schemas: dict[str, Any] = {"S0": {"type": "string"}}
    for n in range(1, 15):
        schemas[f"S{n}"] = {
            "type": "object",
            "properties": {c: {"$ref": f"#/components/schemas/S{n - 1}"} for c in "abcd"},
        }
    api = read_document(written(tmp_path, {"openapi": "3.0.0", "paths": {}, "components": {"schemas": schemas}}))
    assert any(f"more than {MAX_SHAPES:,} schemas" in note.text for note in api.notes)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("", "it is empty"),
        ("{\n  'a': 1}", ":2:3: no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "neither a list of functions"),
        ('{"swagger": "2.0", "paths": {}}', "Swagger 2.0; convert it"),
        ("{}", "neither a list of functions"),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path: Path, document: str, said: str) -> None:
    with pytest.raises(DocumentError, match=said.replace("(", r"\(")):
        read_document(written(tmp_path, document))


def test_bytes_that_are_no_text_and_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(b"[\xff]")
    with pytest.raises(DocumentError, match="byte 1 is no UTF-8"):
        read_document(tmp_path / "x.json")
    with pytest.raises(DocumentError, match="No such file"):
        read_document(tmp_path / "y.json")
    with pytest.raises(DocumentError, match=r"x\.yaml:2:\d+: no YAML"):
        read_document(written(tmp_path, "a: [1,\nb: }", "x.yaml"))


def test_odd_parts_are_noted_and_the_rest_is_read(tmp_path: Path) -> None:
    properties = {
        "colour": {"type": "hue"},
        "wind": {"type": ["number", "string", "null"]},
        "made": {"format": "date", "type": "string"},
    }
    schema = {"type": "object", "required": ["colour", "size"], "properties": properties}
    document = [{"name": "get_kite", "parameters": schema}, {"name": " "}, 7]
    api = read_document(written(tmp_path, document))
    assert parameters(api.operations[0]) == {"colour": "text", "wind": "number?", "made": "date?"}
    assert [str(note) for note in api.notes] == [
        "/0/parameters/required: 'size' is required, but not described",
        "/0/parameters/properties/wind: one of several types: taken as number",
        "/1: this is no function: it has no name",
        "/2: this is no function: it has no name",
    ]


def test_what_was_read_can_be_printed() -> None:
    printed = json.loads(json.dumps(as_json(read("hotel.yaml"))))
    assert printed["operations"][2]["failures"] == [{"code": "404", "text": "There is no such room."}]
    assert printed["schemas"]["RoomStatus"]["values"] == ["free", "taken", "closed"]
