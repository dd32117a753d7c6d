"""Calls the five operations of the specification with the PyPI package openrouter, which validates every answer.

Usage: python_calls.py URL KEY OTHER, where URL ends in /api/v1 and KEY is a management key. Prints a JSON object of what
the package read.
"""

import json
import sys

from openrouter import OpenRouter, operations

URL, KEY, OTHER = sys.argv[1:]
SLUG = "from-python"
DATES = {"start_date": "2025-02-08", "end_date": "2025-02-09"}


def current_key(client):
    return json.loads(client.api_keys.get_current_key_metadata().data.model_dump_json())


with OpenRouter(api_key=OTHER, server_url=URL) as client:
    other = current_key(client)

with OpenRouter(api_key=KEY, server_url=URL) as client:
    key = current_key(client)
    ranking = client.datasets.get_rankings_daily(**DATES)
    # Older packages have no periods.
    periods = ["week", "month"] if hasattr(operations, "Period") else []
    rows = {period: client.datasets.get_rankings_daily(period=period).data for period in periods}
    messages = [{"role": "user", "content": "Hello"}]
    client.presets.create_presets_messages(slug=SLUG, model="acme/one", messages=messages, max_tokens=10)
    version = client.presets.get_version(slug=SLUG, version="1").data
    models = client.embeddings.list_models()
    # Newer packages read this list page by page.
    page = getattr(models, "result", models)

print(
    json.dumps(
        {
            "keys": [key, other],
            "rows": len(ranking.data),
            "dates": {period: sorted({row.date_ for row in data}) for period, data in rows.items()},
            "version": version.version,
            "models": [model.id for model in page.data],
        }
    )
)
