/** So many limits of a limiter have a name of their own among the labels. */
const MAX_NAMES = 100
/** The label of all others. No limit has this name: names begin with a letter or a digit. */
const OTHER = '_other'

/**
 * Creates the function that returns the label of a limit: its name, if it is one of the first 100 of its
 * limiter, else `_other`. A policy function may return ever new limits, and each label is one more series.
 */
export function limitLabels(): (limiter: string, name: string) => string {
  const namesByLimiter = new Map<string, Set<string>>()
  return function labelOf(limiter, name) {
    const names = namesByLimiter.get(limiter) ?? new Set()
    if (names.has(name) || name === '') return name
    if (names.size >= MAX_NAMES) return OTHER
    namesByLimiter.set(limiter, names.add(name))
    return name
  }
}
