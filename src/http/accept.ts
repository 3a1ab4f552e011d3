/** A media range of `Accept` that has no parameters but its weight: `application/*;q=0.5`. */
const RANGE = /^([^\s/;]+)\/([^\s;]+)(?:\s*;\s*q=([\d.]+))?$/

interface MediaRange {
  readonly type: string
  readonly subtype: string
  readonly weight: number
}

/** How well a media type suits a client: the weight and the place of the most specific range it is in. */
interface Fit {
  readonly weight: number
  readonly specificity: number
  readonly place: number
}

/**
 * Returns which of some media types, in order of our preference, a client prefers by its `Accept` header (RFC
 * 9110 §12.5.1); `undefined` if it accepts none. A range with parameters matches none of them, except for a
 * charset, which clients often send: JSON has none (RFC 8259 §11).
 */
export function preferredType(accept: string, types: readonly string[]): string | undefined {
  const ranges = accept.split(',').map(readRange)
  let preferred: string | undefined
  let best: Fit | undefined
  for (const type of types) {
    const fit = fitOf(type, ranges)
    if (fit === undefined || fit.weight === 0 || (best !== undefined && !isBetter(fit, best))) continue
    preferred = type
    best = fit
  }
  return preferred
}

function readRange(text: string): MediaRange | undefined {
  const bare = text
    .replace(/;\s*charset=[^;]*/i, '')
    .trim()
    .toLowerCase()
  const [, type = '', subtype = '', weight = '1'] = RANGE.exec(bare) ?? []
  return type === '' ? undefined : { type, subtype, weight: Number(weight) || 0 }
}

function fitOf(mediaType: string, ranges: readonly (MediaRange | undefined)[]): Fit | undefined {
  const [type = '', subtype = ''] = mediaType.split('/')
  let best: Fit | undefined
  for (const [place, range] of ranges.entries()) {
    if (range === undefined || ![type, '*'].includes(range.type) || ![subtype, '*'].includes(range.subtype))
      continue
    const specificity = Number(range.type !== '*') + Number(range.subtype !== '*')
    const weightOfBest = specificity === best?.specificity ? best.weight : 0
    if (specificity >= (best?.specificity ?? 0) && range.weight >= weightOfBest)
      best = { weight: range.weight, specificity, place }
  }
  return best
}

function isBetter(a: Fit, b: Fit): boolean {
  return (a.weight - b.weight || a.specificity - b.specificity || b.place - a.place) > 0
}
