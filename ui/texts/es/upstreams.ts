import type { Texts } from "../../core/i18n.ts";
import type { upstreams as english } from "../en/upstreams.ts";

export const upstreams: Texts<typeof english> = {
  "upstreams.all": "Todos los servidores de origen",
  "upstreams.none": "Ninguna capa tiene un servidor de origen.",
  "upstreams.demoOnly":
    "Este servidor solo tiene sus capas de demostración, que dibuja él mismo. Un servidor de origen aparece aquí en cuanto la configuración tenga una capa de un WMS, de un servidor de teselas o de un archivo de teselas.",
  "upstreams.unknown": "Ese servidor de origen no existe. Quizá ya no está en la configuración.",
  "upstreams.ask": "Preguntar ahora",
  "upstreams.ask.of": "Preguntar ahora: una tesela de {upstream}, que no se almacena",
  "upstreams.says.up": "Responde desde {time} ({age}).",
  "upstreams.says.down": "No responde desde {time} ({age}).",
  "upstreams.says.unknown": "No se le ha preguntado desde {time} ({age}).",
  "upstreams.downMeans":
    "Los lectores reciben un error para las teselas que no están almacenadas, y los trabajos esperan hasta que vuelva a responder.",
  "upstreams.pausedUntil": "Los trabajos se detienen hasta {time}, como ha pedido el servidor.",
  "upstreams.lastError": "Último error",
  "upstreams.noError": "Ninguno desde el arranque",
  "upstreams.connections": "Conexiones",
  "upstreams.inUse": "{inUse} de {allowed} en uso",
  "upstreams.reduced": "{configured} configuradas; menos mientras esté lento u ocupado",
  "upstreams.waiting.users": "Usuarios en espera",
  "upstreams.waiting.jobs": "Teselas de trabajos en espera",
  "upstreams.latency": "Tiempo de respuesta, mediana / 95 %",
  "upstreams.noLatency": "Sin peticiones recientes",
  "upstreams.requests": { one: "{count} petición en {window}", other: "{count} peticiones en {window}" },
  "upstreams.answered": "Respondió en {time} (capa {layer}).",
  "upstreams.refused": "Falló tras {time} (capa {layer}): {message}",
  "upstreams.moreLayers": { one: "y {count} más", other: "y {count} más" },
  "upstreams.state.up": "Disponible",
  "upstreams.state.down": "Caído",
  "upstreams.state.unknown": "Aún sin preguntar",
};
