/** The segment of a mount that stands for the name of any workspace. */
export const WORKSPACE_SEGMENT = "{workspace}";
