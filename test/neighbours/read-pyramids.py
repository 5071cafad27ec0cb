"""Reads a PMTiles and an MBTiles archive, the arguments."""

import base64
import json
import sys

from pmtiles.reader import MmapSource, Reader, all_tiles
from pymbtiles import MBtiles

with open(sys.argv[1], "rb") as file:
    source = MmapSource(file)
    reader = Reader(source)
    header = reader.header()
    pmtiles = {
        "levels": [header["min_zoom"], header["max_zoom"]],
        "tiles": sum(1 for _ in all_tiles(source)),
        "tile": base64.b64encode(reader.get(3, 1, 2)).decode(),
    }
with MBtiles(sys.argv[2], mode="r") as archive:
    mbtiles = {
        "tiles": len(list(archive.list_tiles())),
        "format": archive.meta["format"],
        # Rows of MBTiles count from the bottom.
        "tile": base64.b64encode(archive.read_tile(z=3, x=1, y=5)).decode(),
    }
print(json.dumps({"pmtiles": pmtiles, "mbtiles": mbtiles}))
