import type { Texts } from "../../core/i18n.ts";
import type { activity as english } from "../en/activity.ts";

export const activity: Texts<typeof english> = {};
