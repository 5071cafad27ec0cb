"""Runs GeoNode's GWCClient against the server whose address is the first argument.

GeoNode's settings need its database. So the two modules that the client reads its settings from are stand-ins; the
client's own file is GeoNode's.
"""

import importlib.util
import json
import sys
import types
from pathlib import Path


def stand_in(name, **names):
    module = types.ModuleType(name)
    module.__dict__.update(names)
    sys.modules[name] = module


place = types.SimpleNamespace(LOCATION=f"{sys.argv[1]}/", credentials=("admin", "geoserver"))
stand_in("geonode")
stand_in("geonode.geoserver")
stand_in("geonode.geoserver.helpers", ogc_server_settings=place)
stand_in("django")
stand_in("django.conf", settings=types.SimpleNamespace(DEFAULT_WORKSPACE="ws"))

[file] = [path for one in sys.path for path in Path(one).glob("geonode/geoserver/gwc.py")]
spec = importlib.util.spec_from_file_location("gwc", file)
gwc = importlib.util.module_from_spec(spec)
spec.loader.exec_module(gwc)

client = gwc.GWCClient()
said = {}


def call(name, do):
    try:
        said[name] = do()
    except Exception as error:  # the test compares what went wrong
        said[name] = f"{type(error).__name__} {error}"


call("layer", lambda: client.get_layer("roads").status_code)
call("missing", lambda: client.get_layer("none").status_code)
call("set_layer", lambda: client.set_layer("roads", data=client.get_layer("roads").content).status_code)
call("truncate_layer", lambda: client.truncate_layer("roads"))
call("truncate_missing", lambda: client.truncate_layer("none"))
call("truncate_all", lambda: client.truncate_all())
print(json.dumps(said))
