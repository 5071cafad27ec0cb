import type { Texts } from "../../core/i18n.ts";
import type { settings as english } from "../en/settings.ts";

export const settings: Texts<typeof english> = {};
