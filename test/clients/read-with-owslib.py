"""What OWSLib, a client of other hands, reads from Nuthatch: argument 1 is its address, answers are JSON."""

import base64
import json
import sys

from owslib.tms import TileMapService
from owslib.wms import WebMapService
from owslib.wmts import WebMapTileService

base = sys.argv[1]
WORLD = 20037508.34


def wmts():
    service = WebMapTileService(base + "/service/wmts")
    layer = service["ws:roads"]
    tile_matrix_set = service.tilematrixsets["EPSG:900913"]
    matrix = tile_matrix_set.tilematrix["EPSG:900913:3"]
    return {
        "layers": sorted(service.contents),
        "title": layer.title,
        "formats": layer.formats,
        "styles": sorted(layer.styles),
        "boundingBoxWGS84": layer.boundingBoxWGS84,
        "links": {
            name: {
                limits.tilematrix: [limits.mintilerow, limits.maxtilerow, limits.mintilecol, limits.maxtilecol]
                for limits in link.tilematrixlimits.values()
            }
            for name, link in layer.tilematrixsetlinks.items()
        },
        "crs": tile_matrix_set.crs,
        "matrix": [matrix.tilewidth, matrix.tileheight, matrix.matrixwidth, matrix.matrixheight],
        "topLeft": list(matrix.topleftcorner),
        "operations": sorted(operation.name for operation in service.operations),
        "tile": encoded(
            service.gettile(
                layer="ws:roads",
                tilematrixset="EPSG:900913",
                tilematrix="EPSG:900913:3",
                row=2,
                column=1,
                format="image/png",
            )
        ),
    }


def wms(version):
    service = WebMapService(base + "/service/wms", version=version)
    layer = service["ws:roads"]
    step = WORLD / 4
    return {
        "type": service.identification.type,
        "version": service.identification.version,
        "layers": sorted(service.contents),
        "title": layer.title,
        "crs": sorted(layer.crsOptions),
        "boundingBoxWGS84": layer.boundingBoxWGS84,
        "formats": service.getOperationByName("GetMap").formatOptions,
        "tile": encoded(
            service.getmap(
                layers=["ws:roads"],
                styles=[""],
                srs="EPSG:900913",
                bbox=(-3 * step, step, -2 * step, 2 * step),
                size=(256, 256),
                format="image/png",
            )
        ),
    }


def tms():
    service = TileMapService(base + "/service/tms/1.0.0")
    maps = [m for m in service.contents.values() if m.title == "Roads"]
    mercator = next(m for m in maps if m.srs == "EPSG:900913" and m.mimetype == "image/png")
    # The layer begins at level 1, which is order 0: this is level 3.
    tile = service.gettile(1, 5, 2, title="Roads", srs="EPSG:900913", mimetype="image/png")
    return {
        "maps": sorted([m.srs, m.profile, m.mimetype] for m in maps),
        "size": [mercator.width, mercator.height],
        "origin": mercator.origin,
        "extension": mercator.extension,
        "orders": [t["order"] for t in mercator.tilemap.tilesets],
        "tile": encoded(tile),
    }


def encoded(answer):
    return base64.b64encode(answer.read()).decode()


json.dump({"wmts": wmts(), "wms111": wms("1.1.1"), "wms130": wms("1.3.0"), "tms": tms()}, sys.stdout)
