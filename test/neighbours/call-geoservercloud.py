"""Calls the methods of geoservercloud for GeoWebCache against the server whose address is the first argument."""

import json
import sys

from geoservercloud import GeoServerCloud

cloud = GeoServerCloud(url=sys.argv[1], user="admin", password="geoserver")
said = {}


def call(name, do):
    try:
        said[name] = do()
    except Exception as error:  # the test compares what went wrong
        said[name] = f"{type(error).__name__} {getattr(getattr(error, 'response', None), 'text', error)}"


call("missing", lambda: cloud.get_gwc_layer("ws", "none"))
call("layer", lambda: cloud.get_gwc_layer("ws", "roads")[1])
call("publish_existing", lambda: cloud.publish_gwc_layer("ws", "roads", 4326))
call("publish_new", lambda: cloud.publish_gwc_layer("ws", "new", 4326, mime_formats=["image/png"]))
call("delete_missing", lambda: cloud.delete_gwc_layer("ws", "none"))
for epsg in (2056, 21781, 3857):
    call(f"grid_set_{epsg}", lambda: cloud.create_gridset(epsg))
    call(f"grid_set_{epsg}_again", lambda: cloud.create_gridset(epsg))
call(
    "store",
    lambda: cloud.create_gwc_blobstore(
        "made", "tiles", 8, "nuthatch", "nuthatch-secret", prefix="gwc", enabled=False, default=False, use_https=False,
        access="PRIVATE", use_gzip=False, endpoint="http://127.0.0.1:9",
    ),
)
call("wmts", lambda: sorted(cloud.ows_service.create_wmts().contents))
call("wmts_of_workspace", lambda: sorted(cloud.ows_service.create_wmts("ws").contents))
print(json.dumps(said))
