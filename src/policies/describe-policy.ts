import { durationInWords } from '../util/durations.js'
import type { BaseKind, Policy } from './policy.js'

type Params = readonly number[]

const IN_WORDS: Readonly<Record<BaseKind, (params: Params) => string>> = {
  'token-bucket': ([capacity = 0, intervalMs = 0]) =>
    `${capacity} at once, and one more every ${durationInWords(intervalMs)}`,
  'sliding-window': ([limit, windowMs = 0]) => `${limit} in a sliding window of ${durationInWords(windowMs)}`,
  'fixed-window': ([limit, windowMs = 0]) =>
    `${limit} in a clock-aligned window of ${durationInWords(windowMs)}`,
  consecutive: ([limit]) => `${limit} in a row`,
}

/** Returns a policy's numbers in words, such as `5 in a sliding window of 15 minutes`. */
export function describePolicy({ kind, params }: Policy): string {
  const [, base = kind] = /^ban-(.*)$/.exec(kind) ?? []
  const words = IN_WORDS[base as BaseKind](params)
  return base === kind ? words : `${words}; ${describeBan(params)}`
}

/** Describes a ban's own parameters, which follow three of its inner policy. */
function describeBan([, , , after, withinMs = 0, restarts, ...bansMs]: Params): string {
  const bans = bansMs.map(durationInWords).join(', then ')
  const restart = restarts === 1 ? '; each attempt restarts the ban' : ''
  return `after ${after} denials within ${durationInWords(withinMs)}, banned for ${bans}${restart}`
}
