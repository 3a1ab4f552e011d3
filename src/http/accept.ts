/** A media range of `Accept` that has no parameters but its weight: `application/*;q=0.5`. */
const RANGE = /^([^\s/;]+)\/([^\s;]+)(?:\s*;\s*q=([\d.]+))?$/

/**
 * Returns which of some media types, in order of our preference, a client prefers by its `Accept` header (RFC
 * 9110 §12.5.1); `undefined` if it accepts none. A range with parameters matches none of them, except for a
 * charset, which clients often send: JSON has none (RFC 8259 §11).
 */
export function preferredType(accept: string, types: readonly string[]): string | undefined {
  const ranges = accept.split(',').flatMap(readRange)
  const accepted = types.flatMap((name) => {
    const [type = '', subtype = ''] = name.split('/')
    // The most specific range decides.
    const [range] = ranges
      .filter((each) => [type, '*'].includes(each.type) && [subtype, '*'].includes(each.subtype))
      .sort((a, b) => b.specificity - a.specificity || b.weight - a.weight || b.place - a.place)
    return range !== undefined && range.weight > 0 ? { ...range, name } : []
  })
  accepted.sort((a, b) => b.weight - a.weight || b.specificity - a.specificity || a.place - b.place)
  return accepted[0]?.name
}

function readRange(text: string, place: number) {
  const bare = text.replace(/;\s*charset=[^;]*/i, '').trim()
  const [, type = '', subtype = '', weight = '1'] = RANGE.exec(bare.toLowerCase()) ?? []
  const specificity = Number(type !== '*') + Number(subtype !== '*')
  return type === '' ? [] : { type, subtype, weight: Number(weight) || 0, specificity, place }
}
