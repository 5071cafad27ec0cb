import { Lazy } from "../../components/lazy.tsx";
import type { TabProps } from "./tab.ts";

const load = async () => (await import("../coverage/coverage.tsx")).Coverage;

/** The coverage of the layer. */
export const CoverageTab = ({ layer }: TabProps) => <Lazy load={load} props={{ layer }} />;
