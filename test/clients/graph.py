"""Reads JSON-LD files as RDF, holds them against SHACL shapes, and prints what each has, as JSON.

Usage: graph.py SHAPES FILE…
"""

import json
import pathlib
import sys

import pyshacl
import rdflib

DCAT = rdflib.Namespace("http://www.w3.org/ns/dcat#")
SH = rdflib.Namespace("http://www.w3.org/ns/shacl#")
SHAPES = rdflib.Graph().parse(sys.argv[1], format="turtle")


def instances(graph, kind):
    return sorted(str(subject) for subject in graph.subjects(rdflib.RDF.type, kind))


def faults(graph):
    """What breaks a shape: which property of what, and how."""
    _, report, _ = pyshacl.validate(graph, shacl_graph=SHAPES)
    return sorted(
        f"{report.value(result, SH.focusNode)}: {report.value(result, SH.resultPath)}: {report.value(result, SH.resultMessage)}"
        for result in report.subjects(rdflib.RDF.type, SH.ValidationResult)
    )


def describe(name):
    graph = rdflib.Graph()
    graph.parse(name, format="json-ld", publicID=pathlib.Path(name).resolve().as_uri())
    return {
        "statements": len(graph),
        "releases": sorted({str(subject) for subject in graph.subjects(DCAT.inSeries)}),
        "series": instances(graph, DCAT.DatasetSeries),
        "services": instances(graph, DCAT.DataService),
        "downloads": sorted(str(url) for url in graph.objects(None, DCAT.downloadURL)),
        "faults": faults(graph),
    }


json.dump([describe(name) for name in sys.argv[2:]], sys.stdout)
