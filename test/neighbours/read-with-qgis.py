"""Draws layers of the server with QGIS. Arguments: the address of the server, and a folder for the pictures."""

import json
import sys

from qgis.core import QgsApplication, QgsMapRendererParallelJob, QgsMapSettings, QgsProject, QgsRasterLayer, QgsRectangle
from qgis.PyQt.QtCore import QSize
from qgis.PyQt.QtGui import QColor

url, folder = sys.argv[1:]
QgsApplication.setPrefixPath("/usr", True)
app = QgsApplication([], False)
app.initQgis()

capabilities = f"{url}/service/wmts?SERVICE=WMTS%26REQUEST=GetCapabilities"
wmts = f"crs=EPSG:3857&format=image/png&layers=roads&styles=default&tileMatrixSet=EPSG:900913&url={capabilities}"
wms = f"crs=EPSG:3857&format=image/png&layers=roads&styles=&url={url}/service/wms"
xyz = f"type=xyz&zmin=0&zmax=6&url={url}/xyz/roads/%7Bz%7D/%7Bx%7D/%7By%7D.png"
tms = f"type=xyz&zmin=0&zmax=6&url={url}/service/tms/1.0.0/roads@EPSG:900913@png/%7Bz%7D/%7Bx%7D/%7B-y%7D.png"

said = {}
for name, uri in {"wmts": wmts, "wms": wms, "xyz": xyz, "tms": tms}.items():
    layer = QgsRasterLayer(uri, name, "wms")
    said[name] = layer.isValid() or layer.error().summary()
    if not layer.isValid():
        continue
    world = 20037508.342789244
    settings = QgsMapSettings()
    settings.setLayers([layer])
    settings.setDestinationCrs(layer.crs())
    settings.setExtent(QgsRectangle(-world / 2, 0, 0, world / 2))
    settings.setOutputSize(QSize(256, 256))
    settings.setBackgroundColor(QColor("white"))
    job = QgsMapRendererParallelJob(settings)
    job.start()
    job.waitForFinished()
    job.renderedImage().save(f"{folder}/{name}.png")
print(json.dumps(said))
app.exitQgis()
