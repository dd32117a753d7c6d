"""Puts a JSON-LD context into the cache of roc-validator, so that the validator needs no network.

Usage: crate.py CACHE CONTEXT, where CONTEXT is a file with the context of RO-Crate 1.2.
"""

import io
import pathlib
import sys

import requests
import requests_cache
import urllib3

CACHE, CONTEXT = sys.argv[1:]
URL = "https://w3id.org/ro/crate/1.2/context"
HEADERS = {"Content-Type": "application/ld+json"}

body = pathlib.Path(CONTEXT).read_bytes()
response = requests.Response()
response.status_code = 200
response.url = URL
response.headers.update(HEADERS)
response._content = body
response.raw = urllib3.HTTPResponse(body=io.BytesIO(body), status=200, headers=HEADERS, preload_content=False)
response.request = requests.Request("GET", URL).prepare()
requests_cache.CachedSession(CACHE, backend="sqlite", expire_after=-1).cache.save_response(response)
