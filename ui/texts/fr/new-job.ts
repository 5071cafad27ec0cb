import type { Texts } from "../../core/i18n.ts";
import type { newJob as english } from "../en/new-job.ts";

export const newJob: Texts<typeof english> = {};
