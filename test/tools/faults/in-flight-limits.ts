/** What all processes of a run share. */
export const LIMIT = 10
/** Of each process: three processes always ask for more than the limit. */
export const CALLERS = 10
