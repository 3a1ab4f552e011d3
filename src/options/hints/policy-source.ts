import { durationText, MAX_DURATION_MS } from '../../util/durations.js'
import type { Given, Hint, Reading } from './hint.js'
import { blockLengths, isDynamic, noQuota, packageOf, unitsOf, windowLengths } from './quota.js'
import { placeholderNote, type Source, toNumber } from './source.js'

/** The policy that options of another package mean: its readings, and all that its text is made of. */
export interface PolicySource {
  readonly readings: readonly Source[]
  readonly sources: readonly Source[]
}

/**
 * Returns the policy nearest to the given quota, with a ban where an option calls for one. A hit of
 * `@nestjs/throttler` expires by itself, `ttl` after it came, which is a sliding window; the other packages
 * count from a client's first request on.
 */
export function policySource(given: Given): PolicySource {
  const units = unitsOf(given)
  if (toNumber(given.duration) === 0)
    return { readings: [{ text: `consecutive({ limit: ${units.text} })` }], sources: [units] }
  const kind = given.ttl === undefined ? 'fixedWindow' : 'slidingWindow'
  const windows = windowLengths(given)
  const blocks = blocksOf(given)
  const readings = windows.flatMap((window) => {
    const quota = `${kind}({ limit: ${units.text}, window: ${window.text} })`
    if (blocks === undefined) return [{ text: quota, ...whenOf(window) }]
    return blocks(window).map(({ text, ...rest }) => {
      const terms = `after: ${banAfter(given)}, within: ${window.text}, for: ${text}`
      return { text: `ban(${quota}, { ${terms} })`, ...whenOf(window), ...whenOf(rest) }
    })
  })
  return { readings, sources: [units, ...windows, ...(blocks?.(windows[0] as Source) ?? [])] }
}

function whenOf({ when }: { when?: string }): { when?: string } {
  return when === undefined ? {} : { when }
}

function banAfter({ ban }: Given): number {
  const after = toNumber(ban)
  return after !== undefined && after > 0 ? after : 1
}

/** How long the bans are for each window; `undefined` where nobody is banned. */
function blocksOf(given: Given): ((window: Source) => readonly Source[]) | undefined {
  const { ban, blockDuration, continueExceeding, exponentialBackoff } = given
  if (exponentialBackoff === true) return (window) => [growing(window)]
  if (continueExceeding === true) return ({ text }) => [{ text: `${text}, onAttempt: 'restart'` }]
  if (ban !== undefined && (toNumber(ban) ?? 0) >= 0) return ({ text }) => [{ text }]
  if ((toNumber(blockDuration) ?? 0) > 0) return () => blockLengths(given)
  return undefined
}

/** Bans that double, as those of `exponentialBackoff` do. */
function growing({ text, lengthMs }: Source): Source {
  if (lengthMs === undefined) return { text }
  const lengths = [1, 2, 4, 8].map((times) => Math.min(lengthMs * times, MAX_DURATION_MS))
  return { text: `[${lengths.map((each) => `'${durationText(each)}'`).join(', ')}]` }
}

/**
 * The hint for a quota in words of another package. A function in place of a number becomes one that gives
 * the policy.
 */
export function policyHint(given: Given): Hint {
  const advice = noQuota(given)
  if (advice !== undefined) return advice
  const { readings, sources } = policySource(given)
  const covers = ['limit', 'window'].filter((word) => given[word] !== undefined)
  return {
    readings: readings.map(({ text, ...rest }): Reading => {
      return { write: { policy: isDynamic(given) ? `() => ${text}` : text }, ...whenOf(rest) }
    }),
    covers,
    ...noteOf(given, readings, placeholderNote(sources)),
  }
}

function noteOf(given: Given, readings: readonly Source[], placeholders: string): Partial<Hint> {
  const [{ text } = { text: '' }, ...others] = readings
  if (text.startsWith('consecutive')) return { note: `, which has no window${placeholders}` }
  const nearest = packageOf(given)
  if (others.length > 0 || text.startsWith('ban') || nearest === undefined) return { note: placeholders }
  if (nearest === 'express-slow-down')
    return { note: `, which denies what express-slow-down delays${placeholders}` }
  if (placeholders !== '') return { note: `, the closest to ${nearest}${placeholders}` }
  const offer = { needs: ['limit', 'window'], text: ', or limit and window for a token bucket' }
  return { note: `, the closest to ${nearest}`, offer }
}
