/** A media range of `Accept` that has no parameters but its weight: `application/*;q=0.5`. */
const RANGE = /^([^\s/;]+\/[^\s;]+)(?:\s*;\s*q=([\d.]+))?$/

/**
 * Returns which of some media types, in order of our preference, a client prefers by its `Accept` header (RFC
 * 9110 §12.5.1); `undefined` if it accepts none. A range with parameters matches none of them, except for a
 * charset, which clients often send: JSON has none (RFC 8259 §11).
 */
export function preferredType(accept: string, types: readonly string[]): string | undefined {
  const ranges = accept.toLowerCase().split(',').map(readRange)
  ranges.sort((a, b) => a.weight - b.weight)
  const byPattern = new Map(ranges.map((range) => [range.pattern, range])) // of equal ones the weightiest
  const accepted = types.flatMap((type) => {
    const matching = [type, type.replace(/[^/]+$/, '*'), '*/*'].map((pattern) => byPattern.get(pattern))
    const range = matching.find((each) => each !== undefined) // the most specific one decides
    return range !== undefined && range.weight > 0 ? { ...range, type } : []
  })
  accepted.sort((a, b) => b.weight - a.weight || a.stars - b.stars || a.place - b.place)
  return accepted[0]?.type
}

function readRange(text: string, place: number) {
  const bare = text.replace(/;\s*charset=[^;]*/, '').trim()
  const [, pattern = '', weight = '1'] = RANGE.exec(bare) ?? []
  return { pattern, weight: Number(weight) || 0, stars: pattern.split('*').length, place }
}
