"""Calls the methods of geoserver-py for GeoWebCache against the server whose address is the first argument."""

import json
import sys

from geoserver import GeoWebCache

gwc = GeoWebCache(service_url=sys.argv[1], username="admin", password="geoserver")
said = {}


def call(name, do):
    try:
        said[name] = do()
    except Exception as error:  # the test compares what went wrong
        said[name] = f"{type(error).__name__} {error}"


grid_set = {
    "gridSet": {
        "name": "made",
        "srs": {"number": 2056},
        "extent": {"coords": [2420000.0, 1030000.0, 2900000.0, 1350000.0]},
        "alignTopLeft": False,
        "resolutions": [4000.0, 2000.0],
        "metersPerUnit": 1.0,
        "pixelSize": 0.00028,
        "scaleNames": ["made:0", "made:1"],
        "tileHeight": 256,
        "tileWidth": 256,
        "yCoordinateFirst": False,
    }
}
layer = """<wmsLayer><name>made</name><mimeFormats><string>image/png</string></mimeFormats>
<gridSubsets><gridSubset><gridSetName>EPSG:4326</gridSetName></gridSubset></gridSubsets>
<wmsUrl><string>http://127.0.0.1:9/wms</string></wmsUrl><wmsLayers>roads</wmsLayers></wmsLayer>"""
store = {"FileBlobStore": {"@default": "false", "id": "made", "enabled": "true", "baseDirectory": sys.argv[2]}}

call("layers", lambda: gwc.get_layers())
call("layer", lambda: gwc.get_layer("ws:roads", format="xml").count("<name>ws:roads</name>"))
call("insert_layer", lambda: gwc.insert_layer("made.xml", layer))
call("made_layer", lambda: list(gwc.get_layer("made")))
call("delete_layer", lambda: gwc.delete_layer("made"))
call("grid_sets", lambda: "EPSG:900913" in gwc.get_gridsets())
call("insert_grid_set", lambda: gwc.insert_gridset("made.json", grid_set))
call("made_grid_set", lambda: gwc.get_gridset("made")["gridSet"]["srs"])
call("delete_grid_set", lambda: gwc.delete_gridset("made"))
call("insert_store_by_post", lambda: gwc.insert_blob_store("made", store))
call("stores", lambda: gwc.get_blob_stores())
call("bounds", lambda: gwc.get_layer_bounds("ws:roads", "EPSG:4326", "java", format="xml"))
call("quota", lambda: sorted(gwc.get_diskquota()))
call("quota_xml", lambda: gwc.get_diskquota(format="xml").count("<globalQuota>"))
call("update_quota", lambda: gwc.update_diskquota("<gwcQuotaConfiguration><enabled>true</enabled></gwcQuotaConfiguration>"))
call("global", lambda: list(gwc.get_global_settings()))
call("update_global", lambda: gwc.update_global_settings("<global><backendTimeout>60</backendTimeout></global>"))
call("types", lambda: gwc.get_masstruncate(format="xml").count("<requestType>truncateLayer</requestType>"))
call("truncate", lambda: gwc.create_masstruncate(request_type="truncateLayer", layer="ws:roads"))
call("statistics", lambda: gwc.get_statistics(format="xml")[:20])
call("reload", lambda: "reload" in gwc.reload("reload_configuration=1").lower())
call("tasks", lambda: gwc.get_seed())
print(json.dumps(said))
