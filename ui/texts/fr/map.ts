import type { Texts } from "../../core/i18n.ts";
import type { map as english } from "../en/map.ts";

export const map: Texts<typeof english> = {
  "map.noGridSet": "La couche n’a pas de grille {gridSet}.",
  "map.noPictures": "Les tuiles {format} ne sont pas des images : la carte montre leurs limites et leurs états.",
  "map.gridSet": "Grille",
  "map.defaultValue": "(par défaut)",
  "map.job": "Tâche {id} sur la carte",
  "map.keys": "Les flèches déplacent la carte, + et − changent l’échelle.",
  "map.zoomIn": "Zoomer",
  "map.zoomOut": "Dézoomer",
  "map.fit": "Afficher toute la couche",
  "map.borders": "Limites des tuiles",
  "map.storedOnly": "Tuiles stockées seulement",
  "map.storedOnly.why": "Consulter la carte ne déclenche aucun rendu.",
  "map.level": "Niveau {z}",
  "map.failedTiles": {
    one: "{count} tuile n’a pas pu être chargée",
    other: "{count} tuiles n’ont pas pu être chargées",
  },
};
