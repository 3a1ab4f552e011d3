import type { ClientGroup } from './proposal.js'

/** The room above the largest peak of the crowd: half as much again, and three standard deviations of a count. */
const HEADROOM = 1.5
const DEVIATIONS = 3
/** The room if the largest peak may be yet to come. */
const WIDE_HEADROOM = 2
/** Round numbers of one power of ten, as people choose limits. */
const STEPS = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]

/** Returns a round limit that leaves a crowd room, and that clients apart from it exceed. */
export function suitableLimit(crowd: ClientGroup, apart: ClientGroup | undefined, isGuess: boolean): number {
  const { largestPeak } = crowd
  const room = isGuess ? WIDE_HEADROOM : HEADROOM
  const limit = roundUp(Math.max(room * largestPeak, largestPeak + DEVIATIONS * Math.sqrt(largestPeak)))
  return apart === undefined ? limit : Math.min(limit, Math.ceil((largestPeak + apart.smallestPeak) / 2))
}

/** Returns the smallest round number that is at least `least`: 37 becomes 40, and 1,300 becomes 1,500. */
export function roundUp(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)))
  const step = STEPS.find((each) => Number.isInteger(each * power) && each * power >= least) ?? 10
  return step * power
}
