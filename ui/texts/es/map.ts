import type { Texts } from "../../core/i18n.ts";
import type { map as english } from "../en/map.ts";

export const map: Texts<typeof english> = {
  "map.noGridSet": "La capa no tiene la cuadrícula {gridSet}.",
  "map.noPictures": "Las teselas {format} no son imágenes: el mapa muestra sus límites y estados.",
  "map.gridSet": "Cuadrícula",
  "map.defaultValue": "(predeterminado)",
  "map.job": "Trabajo {id} en el mapa",
  "map.keys": "Las flechas mueven el mapa; + y − cambian la escala.",
  "map.zoomIn": "Acercar",
  "map.zoomOut": "Alejar",
  "map.fit": "Mostrar toda la capa",
  "map.borders": "Límites de las teselas",
  "map.storedOnly": "Solo lo almacenado",
  "map.storedOnly.why": "Mirar el mapa no genera ninguna tesela.",
  "map.level": "Nivel {z}",
  "map.failedTiles": {
    one: "No se pudo cargar {count} tesela",
    other: "No se pudieron cargar {count} teselas",
  },
};
