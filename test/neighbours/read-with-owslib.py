"""Reads the server with OWSLib. The argument is the address of the server."""

import json
import sys

from owslib.ogcapi import Collections
from owslib.wmts import WebMapTileService

url = sys.argv[1]
wmts = WebMapTileService(f"{url}/service/wmts")
layer = wmts["roads"]
tile = wmts.gettile(
    layer="roads", tilematrixset="EPSG:900913", tilematrix="EPSG:900913:2", row=1, column=1, format="image/png"
)
tiles = Collections(f"{url}/ogc/")
print(
    json.dumps(
        {
            "layers": sorted(wmts.contents),
            "links": sorted(layer.tilematrixsetlinks),
            "tile": tile.read().startswith(b"\x89PNG"),
            "collections": [one["id"] for one in tiles.collections()["collections"]],
            "conforms": any("tileset" in one for one in tiles.conformance()["conformsTo"]),
        }
    )
)
