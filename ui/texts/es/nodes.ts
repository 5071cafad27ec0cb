import type { Texts } from "../../core/i18n.ts";
import type { nodes as english } from "../en/nodes.ts";

export const nodes: Texts<typeof english> = {
  "nodes.alone": "Este servidor está solo: su configuración no tiene clúster.",
  "nodes.means":
    "El nodo que dirige cuenta y administra para todos. Cada nodo sirve y dibuja mientras tiene una concesión del que dirige. El retraso es el tiempo desde que este supo del nodo; las metateselas se cuentan desde que se unió.",
  "nodes.node": "Nodo",
  "nodes.self": "sirve esta página",
  "nodes.leads": "Dirige",
  "nodes.state": "Estado",
  "nodes.state.ready": "Listo",
  "nodes.state.draining": "Retirado",
  "nodes.state.lost": "Perdido",
  "nodes.since": "Se unió",
  "nodes.lag": "Retraso",
  "nodes.lease": "Resto de la concesión",
  "nodes.tiles": "Teselas servidas",
  "nodes.renders": "Dibuja ahora",
  "nodes.metatiles": "Metateselas dibujadas",
  "nodes.balancer": "Balanceador",
  "nodes.lead": "Nodo que dirige",
  "nodes.leadsSince": "desde: {age}",
  "nodes.epoch": "Época",
  "nodes.epochMeans": "sube con cada cambio de dirección",
  "nodes.leadLease": "Concesión de la dirección",
  "nodes.leadLeaseMeans": "se renueva en la base de datos",
  "nodes.drain": "Retirar …",
  "nodes.drain.of": "Retirar el nodo {name}",
  "nodes.drain.means":
    "Su /readyz pasa a 503, para que el balanceador no le envíe más peticiones. No recibe más trabajo y cede la dirección. Sirve hasta que se termine.",
  "nodes.drained": "El nodo {name} está retirado.",
  "nodes.undrain": "Devolver",
  "nodes.undrain.of": "Devolver el nodo {name}",
  "nodes.undrained": "El nodo {name} ha vuelto.",
};
