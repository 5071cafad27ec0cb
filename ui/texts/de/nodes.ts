import type { Texts } from "../../core/i18n.ts";
import type { nodes as english } from "../en/nodes.ts";

export const nodes: Texts<typeof english> = {
  "nodes.alone": "Dieser Server ist allein: Seine Konfiguration hat keinen Cluster.",
  "nodes.means":
    "Der Rückstand ist die Zeit, seit der führende vom Knoten gehört hat. Metakacheln zählen seit dem Beitritt.",
  "nodes.node": "Knoten",
  "nodes.self": "liefert diese Seite",
  "nodes.state.ready": "Bereit",
  "nodes.state.draining": "Herausgenommen",
  "nodes.state.lost": "Verloren",
  "nodes.since": "Beigetreten oder verloren",
  "nodes.lag": "Rückstand",
  "nodes.lease": "Rest der Lease",
  "nodes.tiles": "Kacheln geliefert",
  "nodes.renders": "Rendert jetzt",
  "nodes.metatiles": "Metakacheln gerendert",
  "nodes.balancer": "Lastverteiler",
  "nodes.lead": "Führender Knoten",
  "nodes.leadsSince": "hat die Führung {age} übernommen",
  "nodes.epoch": "Epoche",
  "nodes.leadLease": "Lease der Führung",
  "nodes.drain": "Herausnehmen …",
  "nodes.drain.of": "Knoten {name} herausnehmen",
  "nodes.drain.means":
    "Sein /readyz wird 503, damit der Lastverteiler ihm keine Anfragen mehr schickt. Er bekommt keine neuen Aufträge und gibt die Führung ab. Er liefert aus, bis er beendet wird.",
  "nodes.drained": "Knoten {name} ist herausgenommen.",
  "nodes.undrain": "Zurücknehmen",
  "nodes.undrain.of": "Knoten {name} zurücknehmen",
  "nodes.undrained": "Knoten {name} ist wieder dabei.",
  "nodes.remove": "Entfernen …",
  "nodes.remove.of": "Knoten {name} aus der Liste entfernen",
  "nodes.remove.means":
    "Der Knoten ist verloren. Ohne seine Zeile melden ihn die Warnungen nicht mehr. Wird er wieder gestartet, tritt er wie zuvor bei.",
  "nodes.removed": "Knoten {name} wurde entfernt.",
};
