"""Contracts drafted from OpenAPI documents of the versions 3.0, 3.1 and 3.2."""

from taoloop.tools.importing.openapi.document import OpenApiDocument, Operation
from taoloop.tools.importing.openapi.drafting import draft_openapi
from taoloop.tools.importing.openapi.reading import read_openapi

__all__ = ["OpenApiDocument", "Operation", "draft_openapi", "read_openapi"]
