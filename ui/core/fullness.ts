/** From this share on a quota or a disk is shown as nearly full. The status of the server has the same limit. */
export const NEARLY_FULL = 0.9;
