"""Reads JSON-LD files as RDF and prints how many statements each has and what is a dcat:Dataset, as JSON.

Usage: graph.py FILE…
"""

import json
import pathlib
import sys

import rdflib

DCAT = rdflib.Namespace("http://www.w3.org/ns/dcat#")


def describe(name):
    graph = rdflib.Graph()
    graph.parse(name, format="json-ld", publicID=pathlib.Path(name).resolve().as_uri())
    downloads = [str(url) for url in graph.objects(None, DCAT.downloadURL)]
    return {
        "statements": len(graph),
        "datasets": sum(1 for _ in graph.subjects(rdflib.RDF.type, DCAT.Dataset)),
        "downloads": sorted(downloads),
    }


json.dump([describe(name) for name in sys.argv[1:]], sys.stdout)
