import type { Texts } from "../../core/i18n.ts";
import type { upstreams as english } from "../en/upstreams.ts";

export const upstreams: Texts<typeof english> = {
  "upstreams.all": "Tous les serveurs amont",
  "upstreams.none": "Aucune couche n’a de serveur amont.",
  "upstreams.demoOnly":
    "Ce serveur n’a que ses couches de démonstration, qu’il dessine lui-même. Un serveur amont apparaît ici dès que la configuration contient une couche d’un WMS, d’un serveur de tuiles ou d’une archive.",
  "upstreams.unknown": "Ce serveur amont n’existe pas. Il a peut-être quitté la configuration.",
  "upstreams.ask": "Interroger maintenant",
  "upstreams.ask.of": "Interroger maintenant : une tuile de {upstream}, qui n’est pas stockée",
  "upstreams.says.up": "Répond depuis le {time} ({age}).",
  "upstreams.says.down": "Ne répond plus depuis le {time} ({age}).",
  "upstreams.says.unknown": "N’a pas été interrogé depuis le {time} ({age}).",
  "upstreams.downMeans":
    "Les lecteurs reçoivent une erreur pour les tuiles non stockées, et les tâches attendent qu’il réponde à nouveau.",
  "upstreams.pausedUntil": "Les tâches s’arrêtent jusqu’à {time}, à la demande du serveur.",
  "upstreams.lastError": "Dernière erreur",
  "upstreams.noError": "Aucune depuis le démarrage",
  "upstreams.connections": "Connexions",
  "upstreams.inUse": "{inUse} sur {allowed} utilisées",
  "upstreams.reduced": "{configured} configurées ; moins tant qu’il est lent ou surchargé",
  "upstreams.waiting.users": "Utilisateurs en attente",
  "upstreams.waiting.jobs": "Rendus de tâches en attente",
  "upstreams.latency": "Temps de réponse, médiane / 95 %",
  "upstreams.noLatency": "Aucune requête récente",
  "upstreams.requests": { one: "{count} requête en {window}", other: "{count} requêtes en {window}" },
  "upstreams.answered": "Il a répondu en {time} (couche {layer}).",
  "upstreams.refused": "Échec après {time} (couche {layer}) : {message}",
  "upstreams.moreLayers": { one: "et {count} autre", other: "et {count} autres" },
  "upstreams.state.up": "Disponible",
  "upstreams.state.down": "En panne",
  "upstreams.state.unknown": "Pas encore interrogé",
};
