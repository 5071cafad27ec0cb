import type { Texts } from "../../core/i18n.ts";
import type { overview as english } from "../en/overview.ts";

export const overview: Texts<typeof english> = {};
