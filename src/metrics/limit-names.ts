/** The most limits of a limiter that have their own label. */
const MAX_NAMES = 100
/** The label of all other limits. No limit has this name: names begin with a letter or a digit. */
const OTHER = '_other'

/**
 * Creates the function that returns the label of a limit: its name, if it is one of the first 100 of its
 * limiter, else `_other`. A policy function may return new limits forever, and each label adds a series.
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
