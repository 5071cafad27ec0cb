import type { Texts } from "../../core/i18n.ts";
import type { nodes as english } from "../en/nodes.ts";

export const nodes: Texts<typeof english> = {
  "nodes.alone": "Este servidor está solo: su configuración no tiene clúster.",
  "nodes.means":
    "El retraso es el tiempo desde que el que dirige supo del nodo. Las metateselas se cuentan desde que se unió.",
  "nodes.node": "Nodo",
  "nodes.self": "sirve esta página",
  "nodes.state.ready": "Listo",
  "nodes.state.draining": "Retirado",
  "nodes.state.lost": "Perdido",
  "nodes.since": "Se unió o se perdió",
  "nodes.lag": "Retraso",
  "nodes.lease": "Resto de la concesión",
  "nodes.tiles": "Teselas servidas",
  "nodes.renders": "Dibuja ahora",
  "nodes.metatiles": "Metateselas dibujadas",
  "nodes.balancer": "Balanceador",
  "nodes.lead": "Nodo que dirige",
  "nodes.leadsSince": "asumió la dirección {age}",
  "nodes.epoch": "Época",
  "nodes.leadLease": "Concesión de la dirección",
  "nodes.drain": "Retirar …",
  "nodes.drain.of": "Retirar el nodo {name}",
  "nodes.drain.means":
    "Su /readyz pasa a 503, para que el balanceador no le envíe más peticiones. No recibe más trabajo y cede la dirección. Sirve hasta que se termine.",
  "nodes.drained": "El nodo {name} está retirado.",
  "nodes.undrain": "Devolver",
  "nodes.undrain.of": "Devolver el nodo {name}",
  "nodes.undrained": "El nodo {name} ha vuelto.",
  "nodes.remove": "Quitar …",
  "nodes.remove.of": "Quitar el nodo {name} de la lista",
  "nodes.remove.means":
    "El nodo está perdido. Sin su fila, las alertas ya no lo mencionan. Cuando se inicie de nuevo, se unirá como antes.",
  "nodes.removed": "El nodo {name} se ha quitado.",
};
