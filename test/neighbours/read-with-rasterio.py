"""Reads the WMTS with GDAL. Arguments: the address of the server, and a folder for the picture."""

import json
import sys

import rasterio
from rasterio.windows import from_bounds

url, folder = sys.argv[1:]
said = {}
for grid in ("EPSG:900913", "EPSG:4326"):
    name = f"WMTS:{url}/service/wmts?SERVICE=WMTS&REQUEST=GetCapabilities,layer=roads,tilematrixset={grid}"
    with rasterio.open(name) as data:
        said[grid] = [[data.transform.c, data.transform.f], [data.width, data.height]]
        if grid == "EPSG:900913":
            world = -data.transform.c
            window = from_bounds(-world / 2, 0, 0, world / 2, data.transform)
            bands = data.read([1, 2, 3], window=window, out_shape=(3, 256, 256))
            with rasterio.open(f"{folder}/rasterio.png", "w", driver="PNG", width=256, height=256, count=3, dtype="uint8") as out:
                out.write(bands)
print(json.dumps(said))
