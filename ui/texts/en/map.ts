/** The texts of the map. */
export const map = {
  "map.noGridSet": "The layer has no grid set {gridSet}.",
  "map.noPictures": "{format} tiles are no pictures: the map shows their borders and states.",
  "map.gridSet": "Grid set",
  "map.defaultValue": "(default)",
  "map.job": "Job {id} on the map",
  "map.keys": "The arrow keys move the map, + and − zoom.",
  "map.zoomIn": "Zoom in",
  "map.zoomOut": "Zoom out",
  "map.fit": "Show the whole layer",
  "map.borders": "Tile borders",
  "map.storedOnly": "Only what is stored",
  "map.storedOnly.why": "Looking at the map renders nothing.",
  "map.level": "Level {z}",
  "map.failedTiles": { one: "{count} tile could not be loaded", other: "{count} tiles could not be loaded" },
};
