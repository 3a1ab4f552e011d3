import { durationMs, durationText } from '../../util/durations.js'
import { listed } from './hint.js'

/** Source text for a value; `stands` says what a placeholder in it stands for. */
export interface Source {
  readonly text: string
  readonly stands?: string
  /** Of a length of time that is known. */
  readonly lengthMs?: number
  /** In which case this reading of the value is right, where there are several. */
  readonly when?: string
}

/** What a placeholder stands for where a function was given. */
const RETURNED = 'what the function returns'
const ALL_RETURNED = 'what the functions return'

/** The safe integer that was given, be it as a string of digits; `undefined` for all else. */
export function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d+$/.test(value.trim()) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined
}

/** Source text of a number of units; a placeholder where it is not known. */
export function unitsSource(value: unknown): Source {
  const units = toNumber(value)
  if (units !== undefined && units > 0) return { text: String(units) }
  const example = value === undefined ? 'the number of requests' : 'a whole number of at least 1'
  return { text: 'LIMIT', stands: typeof value === 'function' ? RETURNED : example }
}

/** Source text of a length of time, such as `'15m'`; a placeholder where it is not known. */
export function lengthSource(value: unknown, unitMs = 1, placeholder = 'WINDOW'): Source {
  try {
    const number = toNumber(value)
    const lengthMs = durationMs('', '', number === undefined ? value : number * unitMs)
    return { text: `'${number === undefined ? value : durationText(lengthMs)}'`, lengthMs }
  } catch {
    const example = value === undefined ? 'the length of the window' : "a length of time such as '15m'"
    return { text: placeholder, stands: typeof value === 'function' ? RETURNED : example }
  }
}

/** Both readings of a number whose unit cannot be known. */
export function eitherUnit(value: unknown, placeholder?: string): readonly Source[] {
  const number = toNumber(value)
  if (number === undefined || number < 1) return [lengthSource(value, 1, placeholder)]
  return [
    { ...lengthSource(value, 1000, placeholder), when: 'where it counts seconds' },
    { ...lengthSource(value, 1, placeholder), when: 'where it counts milliseconds' },
  ]
}

/** Says what the placeholders among `sources` stand for; empty where there is none. */
export function placeholderNote(sources: readonly (Source | undefined)[]): string {
  const names = new Map<string, Set<string>>()
  for (const { text, stands } of sources.filter((source) => source !== undefined))
    if (stands !== undefined) names.set(stands, (names.get(stands) ?? new Set()).add(text))
  const parts = [...names].map(([what, texts]) =>
    texts.size > 1
      ? `${listed([...texts])} stand for ${ALL_RETURNED}`
      : `${listed([...texts])} stands for ${what}`,
  )
  return parts.length === 0 ? '' : `, where ${listed(parts)}`
}
