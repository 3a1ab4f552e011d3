import { durationInWords as long } from '../util/durations.js'
import type { BaseKind, Policy } from './policy.js'

type Params = readonly number[]

const IN_WORDS: Readonly<Record<BaseKind, (params: Params) => string>> = {
  'token-bucket': ([capacity = 0, intervalMs = 0]) =>
    `${capacity} at once, and one more every ${long(intervalMs)}`,
  'sliding-window': ([limit, windowMs = 0]) => `${limit} in a sliding window of ${long(windowMs)}`,
  'fixed-window': ([limit, windowMs = 0]) => `${limit} in a window of ${long(windowMs)} of the clock`,
  consecutive: ([limit]) => `${limit} in a row`,
}

/** A policy's numbers in words, such as `5 in a sliding window of 15 minutes`. */
export function describePolicy({ kind, params }: Policy): string {
  const [, base = kind] = /^ban-(.*)$/.exec(kind) ?? []
  const words = IN_WORDS[base as BaseKind](params)
  return base === kind ? words : `${words}; ${describeBan(params)}`
}

/** A ban's own parameters stand behind the three of its policy. */
function describeBan([, , , after, withinMs = 0, restarts, ...bansMs]: Params): string {
  const bans = bansMs.map(long).join(', then ')
  const anew = restarts === 1 ? ', which each attempt begins anew' : ''
  return `after ${after} refused ones within ${long(withinMs)} none for ${bans}${anew}`
}
