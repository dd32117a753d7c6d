"""Prints, as JSON, the JSON Schemas of what the PyPI package openrouter sends and reads in the five operations."""

import json

from openrouter import components, operations

TYPES = {
    "createPresetsMessages": (components.MessagesRequest, components.CreatePresetFromInferenceResponse),
    "getPresetVersion": (operations.GetPresetVersionRequest, components.GetPresetVersionResponse),
    "getCurrentKey": (operations.GetCurrentKeyRequest, operations.GetCurrentKeyResponse),
    "listEmbeddingsModels": (operations.ListEmbeddingsModelsRequest, components.ModelsListResponse),
    "getRankingsDaily": (operations.GetRankingsDailyRequest, components.RankingsDailyResponse),
}

UNSET = {"$ref": "#/$defs/Unset"}


def plain(schema):
    """Leaves out null where Python has it for a key that is not sent, the mark of such keys, and headers."""
    if isinstance(schema, list):
        return [plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    branches = schema.get("anyOf", [])
    not_sent = UNSET if UNSET in branches else {"type": "null"} if schema.get("default", "") is None else None
    kept = {**schema, "anyOf": [branch for branch in branches if branch != not_sent]} if branches else schema
    return {key: plain(part) for key, part in kept.items() if not key.startswith(("HTTP-", "X-"))}


def schema_of(model):
    return plain(model.model_json_schema())


print(json.dumps({name: {"request": schema_of(a), "response": schema_of(b)} for name, (a, b) in TYPES.items()}))
