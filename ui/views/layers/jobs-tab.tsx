import { Lazy } from "../../components/lazy.tsx";
import type { TabProps } from "./tab.ts";

const load = async () => (await import("../jobs/job-list.tsx")).LayerJobs;

/** The jobs of the layer, with the same filters as the list of all jobs. */
export const JobsTab = ({ layer }: TabProps) => <Lazy load={load} props={{ layer: layer.name }} />;
