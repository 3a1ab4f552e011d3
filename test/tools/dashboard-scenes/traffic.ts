import type { Series } from '../../../src/dashboard/figures/shown.js'
import { type Random, randomFrom } from '../simulate/random.js'

/** The traffic of a limiter in a scene, in requests a second. */
export interface Traffic {
  readonly perSecond: number
  /** The denials a second, and since when; the last step before that has none. */
  readonly deniedPerSecond?: number
  readonly deniedSinceMs?: number
}

export const STEP_MS = 10_000
export const LONG_STEP_MS = 300_000

/** Returns the steps of a time until `nowMs`, which are the same for the same name. */
export function seriesOf(
  name: string,
  { perSecond, deniedPerSecond = 0, deniedSinceMs = Number.POSITIVE_INFINITY }: Traffic,
  nowMs: number,
  stepMs: number,
  steps: number,
): Series {
  const last = Math.floor(nowMs / stepMs) // steps begin at multiples of their length
  const numbers = Array.from({ length: steps }, (_, i) => last - steps + i)
  const seconds = stepMs / 1000
  const counts = numbers.map((number) => {
    const random = randomFrom(hashOf(`${name}/${number}`))
    const atMs = number * stepMs
    const allowed = Math.round(seconds * perSecond * dayShape(atMs) * noise(random, stepMs))
    const isDenied = atMs + stepMs > deniedSinceMs
    return [allowed, isDenied ? Math.round(seconds * deniedPerSecond * noise(random, stepMs)) : 0] as const
  })
  return {
    stepMs,
    fromMs: (last - steps) * stepMs,
    allowed: counts.map(([allowed]) => allowed),
    denied: counts.map(([, denied]) => denied),
  }
}

/** More traffic at noon than at night (UTC), with some waves of minutes. */
function dayShape(atMs: number): number {
  const day = Math.sin((2 * Math.PI * (atMs - 21_600_000)) / 86_400_000)
  return 1 + 0.45 * day + 0.12 * Math.sin(atMs / 127_000)
}

/** Longer steps even it out. */
const noise = (random: Random, stepMs: number) => 1 + (0.36 * (random() - 0.5)) / Math.sqrt(stepMs / STEP_MS)

/** Returns a whole number that is the same for the same text (FNV-1a). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}
