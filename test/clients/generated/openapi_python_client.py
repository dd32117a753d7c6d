"""Calls the five operations of the specification with a client of openapi-python-client.

Usage: openapi_python_client.py URL KEY. Prints a JSON object of what it read.
"""

import datetime
import json
import sys

from tokenboard_client import AuthenticatedClient
from tokenboard_client.api.api_keys import get_current_key
from tokenboard_client.api.datasets import get_rankings_daily
from tokenboard_client.api.embeddings import list_embeddings_models
from tokenboard_client.api.presets import create_presets_messages, get_preset_version
from tokenboard_client.models import Message, MessageRequest, MessageRole, PluginWeb

url, token = sys.argv[1:]
client = AuthenticatedClient(base_url=url, token=token)

key = get_current_key.sync(client=client)
first, last = datetime.date(2025, 2, 8), datetime.date(2025, 2, 9)
ranking = get_rankings_daily.sync(client=client, start_date=first, end_date=last)
request = MessageRequest(
    model="acme/one",
    max_tokens=10,
    messages=[Message(role=MessageRole.USER, content="Hello")],
    plugins=[PluginWeb(id="web", max_results=3)],
)
preset = create_presets_messages.sync("from-a-client", client=client, body=request)
version = get_preset_version.sync("from-a-client", "1", client=client)
models = list_embeddings_models.sync(client=client)

read = {
    "label": key.data.label,
    "rows": len(ranking.data),
    "last": ranking.data[-1].date.isoformat(),
    "preset": preset.data.slug,
    "version": version.data.version,
    "config": version.data.config.to_dict(),
    "models": [model.id for model in models.data],
}
print(json.dumps(read))
