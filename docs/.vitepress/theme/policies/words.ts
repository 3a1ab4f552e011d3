import type { Lane } from './lane.js'

/** Says when the next request is allowed. */
export function nextText({ retryAfterMs }: { readonly retryAfterMs: number }): string {
  return retryAfterMs === 0 ? 'next one allowed' : `retry in ${(retryAfterMs / 1000).toFixed(2)} s`
}

/** How many requests a lane shows, and how many of them were allowed. */
export function countsOf({ marks }: Pick<Lane, 'marks'>, sinceMs = 0) {
  const counted = marks.filter(({ atMs }) => atMs >= sinceMs)
  return { sent: counted.length, allowed: counted.filter(({ isAllowed }) => isAllowed).length }
}

/** Says what became of requests under each policy, for those who cannot see the strips. */
export function outcomeText(titles: readonly string[], lanes: readonly Lane[], sinceMs: number): string {
  const outcomes = lanes.map((lane, i) => {
    const { sent, allowed } = countsOf(lane, sinceMs)
    return `${titles[i]} ${allowed} of ${sent}`
  })
  return `Allowed: ${outcomes.join(', ')}.`
}
