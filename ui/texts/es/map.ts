import type { Texts } from "../../core/i18n.ts";
import type { map as english } from "../en/map.ts";

export const map: Texts<typeof english> = {};
