import type { Texts } from "../../core/i18n.ts";
import type { layers as english } from "../en/layers.ts";

export const layers: Texts<typeof english> = {};
