"""Lists, reads and writes the elements of GeoWebCache with gsrest at the server whose address is the first argument."""

import json
import sys

from gsrest import client
from gsrest.elements import blobstore, gridset, gwclayer

server = client.GsClient()
server.base_url = sys.argv[1]
said = {}


def call(name, do):
    try:
        said[name] = do()
    except Exception as error:  # the test compares what went wrong
        said[name] = f"{type(error).__name__} {error}"


def layer():
    one = gwclayer.GwcLayer("ws:roads")
    one.sync(down=True)
    return [one.mime_formats, one.grid_subsets, one.meta_width_height, one.gutter]


def made_grid_set():
    one = gridset.GridSet("made")
    one.srs_number = 2056
    one.extent_coords = [2420000.0, 1030000.0, 2900000.0, 1350000.0]
    one.align_top_left = False
    one.resolutions = [4000.0, 2000.0]
    one.meters_per_unit = 1.0
    one.pixel_size = 0.00028
    one.scale_names = ["made:0", "made:1"]
    one.tile_height = 256
    one.tile_width = 256
    one.y_coordinate_first = False
    one.sync()
    again = gridset.GridSet("made")
    again.sync(down=True)
    return [again.srs_number, again.resolutions]


def made_store():
    one = blobstore.BlobStore("made")
    one.base_directory = sys.argv[2]
    one.enabled = True
    one.sync()
    again = blobstore.BlobStore("made")
    again.sync(down=True)
    return [again.base_directory == sys.argv[2], again.file_system_block_size]


call("layers", lambda: sorted(gwclayer.GwcLayer.list()))
call("layer", layer)
call("grid_sets", lambda: "EPSG:900913" in gridset.GridSet.list())
call("made_grid_set", made_grid_set)
call("delete_grid_set", lambda: gridset.GridSet("made").delete())
call("made_store", made_store)
call("stores", lambda: sorted(blobstore.BlobStore.list()))
call("delete_store", lambda: blobstore.BlobStore("made").delete())
print(json.dumps(said))
