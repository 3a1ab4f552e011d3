import type { DistinctSample } from '../../util/distinct-sample.js'
import { fieldsOf } from '../../util/values.js'
import { BUCKETS } from '../figures/latency.js'
import { CHART_SLOTS } from '../figures/traffic.js'
import { countsIn } from './count-text.js'
import { isCandidate, isClient, isDenials, isNear, isNow, isText } from './report-check.js'
import { LINES } from './report-lines.js'
import { sampleIn } from './sample-text.js'

/** The most distinct names in a sample that are read. */
const MAX_SAMPLE = 1000

/** How each line is decoded. It throws, or returns `undefined`, for a line that is not valid. */
const DECODERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  [LINES.now](value) {
    const { store, ...figures } = fieldsOf(value)
    const latency = countsIn(fieldsOf(store).latency, BUCKETS)
    return valid(isNow, { ...figures, store: { ...fieldsOf(store), latency } })
  },
  [LINES.past](value) {
    const counts = Array.isArray(value) ? value : []
    const [allowed, denied] = [counts[0], counts[1]].map((text) => countsIn(text, CHART_SLOTS - 1))
    return { allowed, denied }
  },
  [LINES.name]: (value) => valid(isText, value),
  [LINES.near]: (value) => valid(isNear, value),
  [LINES.denials]: (value) => valid(isDenials, value),
  [LINES.samples]: samplesIn,
  [LINES.client](value) {
    const fields = fieldsOf(value)
    return valid(isClient, { ...fields, addresses: sampleIn(fields.addresses, MAX_SAMPLE) })
  },
  [LINES.candidate]: (value) => valid(isCandidate, value),
}

/** Returns what a line says; `undefined` if it is not valid. */
export function decodeLine(line: string): unknown {
  try {
    return DECODERS[line[0] ?? '']?.(JSON.parse(line.slice(1)))
  } catch {
    return undefined
  }
}

function valid<T>(isValid: (value: unknown) => value is T, value: unknown): T | undefined {
  return isValid(value) ? value : undefined
}

function samplesIn(value: unknown): readonly DistinctSample[] | undefined {
  const samples = Array.isArray(value) ? value.map((each) => sampleIn(each, MAX_SAMPLE)) : [undefined]
  return samples.every((sample) => sample !== undefined) ? samples : undefined
}
