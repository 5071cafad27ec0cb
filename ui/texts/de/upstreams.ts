import type { Texts } from "../../core/i18n.ts";
import type { upstreams as english } from "../en/upstreams.ts";

export const upstreams: Texts<typeof english> = {};
