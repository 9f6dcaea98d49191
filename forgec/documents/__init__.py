"""Documentation of tools, read: OpenAI functions, OpenAPI, MCP tool lists, Python signatures, BFCL's dialect, prose.

Whatever the form, what comes out is an `Api`: operations with parameters, results and errors, and notes about all that
was not understood.
"""

from forgec.documents.api import Api, Field, Note, Operation, Shape
from forgec.documents.reading import DocumentError, read_document

__all__ = ["Api", "DocumentError", "Field", "Note", "Operation", "Shape", "read_document"]
