import type { Texts } from "../../core/i18n.ts";
import type { quota as english } from "../en/quota.ts";

export const quota: Texts<typeof english> = {};
