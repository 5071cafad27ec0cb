import type { Texts } from "../../core/i18n.ts";
import type { schedules as english } from "../en/schedules.ts";

export const schedules: Texts<typeof english> = {};
