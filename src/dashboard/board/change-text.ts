import type {
  ChangedPart,
  LimitSettings,
  SettingsChange,
  SettingsOverride,
} from '../../limiter/settings-document.js'
import { durationText } from '../../util/durations.js'
import { listText, plainText, timeMark } from '../findings/words.js'

/** The most different things that the text of a change names. */
const MAX_NAMED = 5
/** Stands for the targets of overrides: no name of a limit has it. */
const WHOM = '\0'

/** Returns what a change of a limiter's settings did, such as `blocked 203.0.113.0/24 until {1764412740000}`. */
export function changeText({ parts, undoes }: SettingsChange): string {
  const named = parts === undefined ? [] : textsOf(parts)
  const more = named.length - MAX_NAMED
  const all = more > 0 ? [...named.slice(0, MAX_NAMED), `${more} more`] : named
  const what = all.length === 0 ? 'changed the settings' : all.join(', ')
  return undoes === undefined ? what : `${what}, to undo a change`
}

/** Returns what a change did to the mode and the limits that everyone has; `undefined` if it left them as they were. */
export function limitsText({ parts = [] }: SettingsChange): string | undefined {
  const ofLimits = parts.filter(({ path }) => path === 'mode' || path.startsWith('limits.'))
  return ofLimits.length === 0 ? undefined : listText(ofLimits.map(otherText), 'change')
}

/** Returns a text for each kind of change: overrides with one effect and end have one. */
function textsOf(parts: readonly ChangedPart[]): string[] {
  const targets = new Map<string, string[]>()
  const texts: string[] = []
  for (const part of parts) {
    if (!part.path.startsWith('overrides[')) {
      texts.push(otherText(part))
      continue
    }
    const effect = effectText(part)
    const target = targetText((part.after ?? part.before) as SettingsOverride)
    targets.set(effect, [...(targets.get(effect) ?? []), target])
  }
  return [
    ...texts,
    ...Array.from(targets, ([effect, names]) => effect.replace(WHOM, () => listText(names, 'client'))),
  ]
}

function otherText({ path, after }: ChangedPart): string {
  if (path === 'mode')
    return after === undefined ? 'reset the mode to the one in the code' : `set the mode to ${after}`
  if (path === 'candidate') return after === undefined ? 'removed the candidate' : 'set a candidate'
  const name = path.slice(path.indexOf('.') + 1)
  return after === undefined
    ? `reset ${name} to the limit in the code`
    : `set ${name} to ${numbersText(after as LimitSettings)}`
}

function numbersText(settings: LimitSettings): string {
  const { limit, window, policy } = settings as { limit?: number; window?: string | number; policy?: string }
  if (policy !== undefined) return `another policy (${policy})`
  const length = typeof window === 'number' ? durationText(window) : window
  if (limit === undefined) return `a window of ${length}`
  return length === undefined ? String(limit) : `${limit} per ${length}`
}

/** Returns what an override does to its target, which `WHOM` stands for. */
function effectText({ before, after }: ChangedPart): string {
  const { block, exempt, limits = {}, until } = (after ?? before) as SettingsOverride
  if (after === undefined) {
    if (block) return `unblocked ${WHOM}`
    return exempt ? `ended the exemption of ${WHOM}` : `removed the override of ${WHOM}`
  }
  const end = until === undefined ? '' : ` until ${timeMark(new Date(until).getTime())}`
  if (block || exempt) return `${block ? 'blocked' : 'exempted'} ${WHOM}${end}`
  const numbers = Object.entries(limits).map(([name, own]) => `${plainText(name)} to ${numbersText(own)}`)
  return `set ${listText(numbers, 'limit')} for ${WHOM}${end}`
}

function targetText({ storedIdentity, identity, identityPrefix, network }: SettingsOverride): string {
  if (identityPrefix !== undefined) return plainText(`${identityPrefix}…`)
  if (Array.isArray(identity)) return plainText(identity.join(' | '))
  return plainText(String(network ?? storedIdentity ?? identity))
}
