import type { Texts } from "../../core/i18n.ts";
import type { map as english } from "../en/map.ts";

export const map: Texts<typeof english> = {
  "map.noGridSet": "Der Layer hat kein Kachelschema {gridSet}.",
  "map.noPictures": "Kacheln im Format {format} sind keine Bilder: Die Karte zeigt ihre Grenzen und Zustände.",
  "map.gridSet": "Kachelschema",
  "map.defaultValue": "(Vorgabe)",
  "map.job": "Job {id} auf der Karte",
  "map.keys": "Die Pfeiltasten verschieben die Karte, + und − ändern den Maßstab.",
  "map.zoomIn": "Vergrößern",
  "map.zoomOut": "Verkleinern",
  "map.fit": "Ganzen Layer zeigen",
  "map.borders": "Kachelgrenzen",
  "map.storedOnly": "Nur Gespeichertes",
  "map.storedOnly.why": "Das Betrachten der Karte löst kein Rendern aus.",
  "map.level": "Zoomstufe {z}",
  "map.failedTiles": {
    one: "{count} Kachel konnte nicht geladen werden",
    other: "{count} Kacheln konnten nicht geladen werden",
  },
};
