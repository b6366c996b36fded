"""Small OpenAPI documents in the three styles that public ones have."""

from __future__ import annotations

import copy
from typing import Any

from taoloop.tools.importing.findings import Draft, ImportReport
from taoloop.tools.importing.openapi import OpenApiDocument, draft_openapi

OLD_STYLE: dict[str, Any] = {
    "openapi": "3.0.3",
    "info": {"title": "Book Shop", "version": "1"},
    "servers": [{"url": "https://{region}.shop.example/api/", "variables": {"region": {"default": "eu"}}}],
    "security": [{"key": []}],
    "paths": {
        "/books/{bookId}": {
            "parameters": [{"$ref": "#/components/parameters/BookId"}],
            "get": {
                "operationId": "getBookByID",
                "tags": ["books"],
                "summary": "One book by its id.",
                "parameters": [
                    {"name": "expand", "in": "query", "schema": {"type": "array", "items": {"type": "string"}}},
                    {"name": "X-Shop-Language", "in": "header", "schema": {"type": "string"}},
                    {"name": "X-Request-ID", "in": "header", "schema": {"type": "string"}},
                ],
                "responses": {
                    "200": {
                        "description": "ok",
                        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}},
                    },
                    "404": {"description": "No such book."},
                    "500": {"description": "Broken."},
                },
            },
            "put": {
                "operationId": "replaceBook",
                "summary": "Replace a book.",
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Book"}}},
                },
                "responses": {"204": {"description": "done"}},
            },
        },
        "/orders": {
            "post": {
                "operationId": "placeOrder",
                "tags": ["orders"],
                "summary": "Place an order for one book and for as many copies as the customer wants, "
                "sent to one address in one parcel",
                "parameters": [{"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}],
                "requestBody": {
                    "content": {
                        "application/x-www-form-urlencoded": {
                            "schema": {
                                "type": "object",
                                "required": ["book"],
                                "properties": {
                                    "book": {"type": "string"},
                                    "copies": {
                                        "type": "integer",
                                        "format": "int32",
                                        "minimum": 0,
                                        "exclusiveMinimum": True,
                                    },
                                    "address": {"type": "object", "properties": {"city": {"type": "string"}}},
                                },
                            }
                        }
                    }
                },
                "responses": {
                    "201": {"description": "ok", "content": {"application/json": {"schema": {"type": "object"}}}}
                },
            }
        },
    },
    "components": {
        "parameters": {
            "BookId": {
                "name": "bookId",
                "in": "path",
                "required": True,
                "schema": {"type": "integer", "format": "int64"},
            }
        },
        "securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}},
        "schemas": {
            "Book": {
                "type": "object",
                "required": ["id", "title"],
                "properties": {
                    "id": {"type": "integer", "readOnly": True},
                    "title": {"type": "string", "pattern": "^(?!x)", "example": "Emma"},
                    "subtitle": {"type": "string", "nullable": True, "format": "isbn"},
                    "sequel": {"$ref": "#/components/schemas/Book"},
                },
            }
        },
    },
}

NEW_STYLE: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": "trains", "version": "1"},
    "servers": [{"url": "http://trains.internal"}],
    "paths": {
        "/trips": {
            "get": {
                "operationId": "get-trips",
                "summary": "Trips between two stations.",
                "parameters": [
                    {"name": "from", "in": "query", "required": True, "schema": {"type": ["string"], "format": "uuid"}},
                    {"name": "filter", "in": "query", "style": "deepObject", "schema": {"type": "object"}},
                    {
                        "name": "via",
                        "in": "query",
                        "explode": False,
                        "schema": {"type": "array", "items": {"enum": ["a", "b"]}},
                    },
                ],
                "responses": {"2XX": {"content": {"application/problem+json": {"schema": {"$ref": "#/$defs/Trips"}}}}},
            }
        }
    },
    "$defs": {
        "Trips": {"type": "array", "items": {"$ref": "#/$defs/Trip", "description": "A trip."}},
        "Trip": {"type": ["object", "null"]},
    },
}

NEWEST_STYLE: dict[str, Any] = {
    "openapi": "3.2.0",
    "info": {"title": "search", "version": "1"},
    "servers": [{"url": "/v1"}],
    "paths": {
        "/documents": {
            "query": {
                "operationId": "findDocuments",
                "description": "Find documents.",
                "requestBody": {
                    "required": True,
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "required": ["text"],
                                "properties": {"text": {"type": "string"}},
                            }
                        }
                    },
                },
                "responses": {"200": {"content": {"text/csv": {"schema": {"type": "string"}}}}},
            },
            "additionalOperations": {"LINK": {"operationId": "linkDocuments", "responses": {}}},
        }
    },
}


def document(value: dict[str, Any], **paths: Any) -> OpenApiDocument:
    """Return a document of its own, with these paths instead of its own if there are any."""
    content = copy.deepcopy(value)
    if paths:
        content["paths"] = paths["paths"]
    return OpenApiDocument.of(content, name="doc.json")


def report(value: dict[str, Any], *include: str) -> ImportReport:
    """Import the operations that the patterns name."""
    return draft_openapi(document(value), include)


def draft(value: dict[str, Any], include: str) -> Draft:
    """Import one operation."""
    (only,) = report(value, include).drafts
    return only


def operation(content: dict[str, Any], *, method: str = "post", path: str = "/x", version: str = "3.1.0") -> Draft:
    """Import an operation of a document that has nothing else but the components that stand beside it."""
    components = content.pop("components", {})
    whole = {
        "openapi": version,
        "info": {"title": "x"},
        "servers": [{"url": "http://x.internal"}],
        "paths": {path: {method: {"operationId": "x", "summary": "X.", **content}}},
        "components": components,
    }
    return draft(whole, "x")


def codes(made: Draft) -> list[str]:
    """Return the codes of a draft's findings."""
    return [finding.code for finding in made.findings]
