"""Reads the tile matrix sets of the OGC API with morecantile. The argument is the address of the server."""

import json
import sys
from urllib.request import urlopen

from morecantile import Tile, TileMatrixSet

url = sys.argv[1]
sets = {}
# morecantile takes registered ids alone: names with a colon are against its pattern.
for name in ("WebMercatorQuad", "WorldCRS84Quad"):
    sets[name] = TileMatrixSet.model_validate(json.load(urlopen(f"{url}/ogc/tileMatrixSets/{name}")))
print(json.dumps({name: list(one.bounds(Tile(1, 1, 2))) for name, one in sets.items()}))
