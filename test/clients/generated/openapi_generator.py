"""Calls the five operations of the specification with a Python client of openapi-generator.

Usage: openapi_generator.py URL KEY. Prints a JSON object of what it read.
"""

import datetime
import json
import sys

import openapi_client as api

url, token = sys.argv[1:]

with api.ApiClient(api.Configuration(host=url, access_token=token)) as client:
    key = api.APIKeysApi(client).get_current_key()
    first, last = datetime.date(2025, 2, 8), datetime.date(2025, 2, 9)
    ranking = api.DatasetsApi(client).get_rankings_daily(start_date=first, end_date=last)
    plugin = api.Plugin(api.PluginWeb(id="web", max_results=3))
    hello = api.Message(role="user", content=api.MessageContent("Hello"))
    request = api.MessageRequest(model="acme/one", max_tokens=10, messages=[hello], plugins=[plugin])
    presets = api.PresetsApi(client)
    preset = presets.create_presets_messages("from-a-client", request)
    version = presets.get_preset_version("from-a-client", "1")
    models = api.EmbeddingsApi(client).list_embeddings_models()

rows = ranking.actual_instance.data
read = {
    "label": key.data.label,
    "rows": len(rows),
    "last": rows[-1].var_date.isoformat(),
    "preset": preset.data.slug,
    "version": version.data.version,
    "config": version.data.config,
    "models": [model.id for model in models.data],
}
print(json.dumps(read))
