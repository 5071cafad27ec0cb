import type { Texts } from "../../core/i18n.ts";
import type { upstreams as english } from "../en/upstreams.ts";

export const upstreams: Texts<typeof english> = {
  "upstreams.all": "Alle Upstreams",
  "upstreams.none": "Kein Layer hat einen Upstream.",
  "upstreams.demoOnly":
    "Dieser Server hat nur seine Demo-Layer, die er selbst zeichnet. Ein Upstream erscheint hier, sobald die Konfiguration einen Layer aus einem WMS, einem Kachelserver oder einem Archiv hat.",
  "upstreams.unknown": "Diesen Upstream gibt es nicht. Vielleicht ist er aus der Konfiguration verschwunden.",
  "upstreams.ask": "Jetzt anfragen",
  "upstreams.ask.of": "Jetzt anfragen: eine Kachel von {upstream}, die nicht gespeichert wird",
  "upstreams.says.up": "Antwortet seit {time} ({age}).",
  "upstreams.says.down": "Antwortet nicht seit {time} ({age}).",
  "upstreams.says.unknown": "Wurde seit {time} nicht angefragt ({age}).",
  "upstreams.downMeans":
    "Leser bekommen für nicht gespeicherte Kacheln einen Fehler, und Jobs warten, bis er wieder antwortet.",
  "upstreams.pausedUntil": "Jobs ruhen bis {time}, wie der Upstream es verlangt hat.",
  "upstreams.lastError": "Letzter Fehler",
  "upstreams.noError": "Keiner seit dem Start",
  "upstreams.connections": "Verbindungen",
  "upstreams.inUse": "{inUse} von {allowed} belegt",
  "upstreams.reduced": "{configured} konfiguriert; weniger, solange er langsam oder überlastet ist",
  "upstreams.waiting.users": "Wartende Nutzer",
  "upstreams.waiting.jobs": "Wartende Aufträge von Jobs",
  "upstreams.latency": "Antwortzeit, Median / 95 %",
  "upstreams.noLatency": "In letzter Zeit keine Anfrage",
  "upstreams.requests": { one: "{count} Anfrage in {window}", other: "{count} Anfragen in {window}" },
  "upstreams.answered": "Er hat in {time} geantwortet (Layer {layer}).",
  "upstreams.refused": "Nach {time} fehlgeschlagen (Layer {layer}): {message}",
  "upstreams.moreLayers": { one: "und {count} weiterer", other: "und {count} weitere" },
  "upstreams.state.up": "Erreichbar",
  "upstreams.state.down": "Ausgefallen",
  "upstreams.state.unknown": "Noch nicht gefragt",
};
