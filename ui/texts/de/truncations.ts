import type { Texts } from "../../core/i18n.ts";
import type { truncations as english } from "../en/truncations.ts";

export const truncations: Texts<typeof english> = {
  "truncations.about": "Eine Leerung wirkt sofort. Die Kacheln können zurückkommen, solange ihr Platz aufbewahrt wird.",
  "truncations.none": "Es wurde noch nichts geleert.",
  "truncations.id": "Nr.",
  "truncations.layer": "Layer",
  "truncations.by": "Wann und von wem",
  "truncations.tiles": "Kacheln",
  "truncations.state": "Zustand",
  "truncations.state.kept": "kann rückgängig gemacht werden",
  "truncations.state.undoing": "wird rückgängig gemacht",
  "truncations.state.undone": "rückgängig gemacht",
  "truncations.state.reclaimed": "Platz freigegeben",
  "truncations.type.truncateLayer": "der ganze Layer",
  "truncations.type.truncateOrphans": "was die Konfiguration nicht mehr hat",
  "truncations.type.truncateParameters": "Parameter",
  "truncations.mode": "Was mit den Kacheln geschieht",
  "truncations.mode.hard": "Sie werden entfernt",
  "truncations.mode.soft": "Sie sind veraltet und werden ausgeliefert, bis sie neu gerendert sind",
  "truncations.left": "noch {time}",
  "truncations.over": "Die Zeit ist abgelaufen.",
  "truncations.discarded": {
    one: "{count} neuere Kachel wurde verworfen",
    other: "{count} neuere Kacheln wurden verworfen",
  },
  "truncations.undoOf": "Leerung {id} von {layer} rückgängig machen",
  "truncations.undoNote":
    "Die Kacheln kommen zurück, wie sie waren. Kacheln, die seit der Leerung gespeichert wurden, werden verworfen.",
  "truncations.back": "Die Kacheln von {layer} sind wieder da.",
  "truncations.new": "Einen Layer leeren …",
  "truncations.truncate": "Leeren",
  "truncations.expire": "Als veraltet kennzeichnen",
  "truncations.goes": "Das entfernt {tiles} Kacheln, {size} auf der Platte.",
  "truncations.expires": "Das macht {tiles} Kacheln veraltet, {size} auf der Platte.",
  "truncations.done": "{layer}: {tiles} Kacheln.",
};
