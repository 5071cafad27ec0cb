import type { Texts } from "../../core/i18n.ts";
import type { nodes as english } from "../en/nodes.ts";

export const nodes: Texts<typeof english> = {
  "nodes.alone": "Ce serveur est seul : sa configuration n’a pas de grappe.",
  "nodes.means":
    "Le retard est le temps depuis que le meneur a entendu le nœud. Les métatuiles sont comptées depuis son arrivée.",
  "nodes.node": "Nœud",
  "nodes.self": "sert cette page",
  "nodes.state.ready": "Prêt",
  "nodes.state.draining": "Retiré",
  "nodes.state.lost": "Perdu",
  "nodes.since": "Arrivée ou perte",
  "nodes.lag": "Retard",
  "nodes.lease": "Reste du bail",
  "nodes.tiles": "Tuiles servies",
  "nodes.renders": "Rendus en cours",
  "nodes.metatiles": "Métatuiles rendues",
  "nodes.balancer": "Répartiteur",
  "nodes.lead": "Meneur",
  "nodes.leadsSince": "devenu meneur {age}",
  "nodes.epoch": "Époque",
  "nodes.leadLease": "Bail du meneur",
  "nodes.drain": "Retirer …",
  "nodes.drain.of": "Retirer le nœud {name}",
  "nodes.drain.means":
    "Son /readyz devient 503 : le répartiteur ne lui envoie plus de requêtes. Il ne reçoit plus de rendus et cède son rôle de meneur. Il sert jusqu’à ce qu’il soit arrêté.",
  "nodes.drained": "Le nœud {name} est retiré.",
  "nodes.undrain": "Remettre",
  "nodes.undrain.of": "Remettre le nœud {name}",
  "nodes.undrained": "Le nœud {name} est de retour.",
  "nodes.remove": "Retirer …",
  "nodes.remove.of": "Retirer le nœud {name} de la liste",
  "nodes.remove.means":
    "Le nœud est perdu. Sans sa ligne, les alertes ne le signalent plus. Redémarré, il rejoint la grappe comme avant.",
  "nodes.removed": "Le nœud {name} a été retiré.",
};
