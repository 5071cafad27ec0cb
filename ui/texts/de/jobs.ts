import type { Texts } from "../../core/i18n.ts";
import type { jobs as english } from "../en/jobs.ts";

export const jobs: Texts<typeof english> = {};
