"""Calls the five operations of the specification with the PyPI package openrouter, which validates every answer.

Usage: python_sdk.py URL KEY, where URL ends in /api/v1 and KEY is a management key. Prints a JSON object of what the
package read.
"""

import json
import sys

from openrouter import OpenRouter, operations

URL, KEY = sys.argv[1:]
SLUG = "from-python"

with OpenRouter(api_key=KEY, server_url=URL) as client:
    key = client.api_keys.get_current_key_metadata().data
    ranking = client.datasets.get_rankings_daily(start_date="2025-02-08", end_date="2025-02-09")
    # Older packages have no periods.
    periods = ["week", "month"] if hasattr(operations, "Period") else []
    dates = {
        period: sorted({row.date_ for row in client.datasets.get_rankings_daily(period=period).data}) for period in periods
    }
    messages = [{"role": "user", "content": "Hello"}]
    client.presets.create_presets_messages(slug=SLUG, model="acme/one", messages=messages, max_tokens=10)
    version = client.presets.get_version(slug=SLUG, version="1").data
    models = client.embeddings.list_models()
    # Newer packages read this list page by page.
    page = getattr(models, "result", models)

print(
    json.dumps(
        {
            "key": json.loads(key.model_dump_json()),
            "rows": len(ranking.data),
        "dates": dates,
            "version": version.version,
            "models": [model.id for model in page.data],
        }
    )
)
