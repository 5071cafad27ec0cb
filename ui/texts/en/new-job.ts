export const newJob = {};
