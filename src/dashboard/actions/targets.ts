import { isNetwork } from '../../keys/address.js'
import type { SettingsOverride } from '../../limiter/settings-document.js'
import { overridePath } from '../../settings/parts.js'
import { readNetwork, readStoredIdentity } from '../../settings/read-target.js'
import { wrongOption } from '../../util/validate.js'
import { fieldsOf } from '../../util/values.js'
import type { Watched } from '../figures/limiter-watch.js'
import { canBeIdentity, lookUp } from './lookup.js'

/** The most targets of one change. */
export const MAX_TARGETS = 1000
/** The most of them that a person has typed: each is looked up in the store. */
const MAX_TYPED = 20

/**
 * Whom a change is for: a client as the page lists it, a client as a person typed it, a network, or all clients
 * whose identity begins with a text.
 */
export type Target = Pick<SettingsOverride, 'storedIdentity' | 'network' | 'identityPrefix'> & {
  readonly identity?: string
}

const KINDS = ['storedIdentity', 'identity', 'network', 'identityPrefix'] as const

/** Reads the targets of a change. Throws a `TypeError` for wrong ones. */
export function readTargets(targets: unknown): readonly Target[] {
  if (!Array.isArray(targets) || targets.length === 0 || targets.length > MAX_TARGETS)
    throw wrongOption('dashboard', 'targets', `an array of 1 to ${MAX_TARGETS} targets`, targets)
  const read = targets.map(readTarget)
  const typed = read.filter(({ identity }) => identity !== undefined).length
  if (typed > MAX_TYPED)
    throw wrongOption('dashboard', 'targets', `an array with at most ${MAX_TYPED} identities`, typed)
  return read
}

function readTarget(target: unknown, i: number): Target {
  const fields = fieldsOf(target)
  const [kind, ...others] = KINDS.filter((each) => fields[each] !== undefined)
  const text = kind && fields[kind]
  if (kind === undefined || others.length > 0 || typeof text !== 'string') {
    const must = 'an object with one text: storedIdentity, identity, network or identityPrefix'
    throw wrongOption('dashboard', `targets[${i}]`, must, target)
  }
  if (kind === 'network')
    readNetwork(`dashboard: targets[${i}].network`, text) // throws
  else if (!canBeIdentity(text)) {
    const must = '1 to 1024 characters, without NUL or unpaired surrogates'
    throw wrongOption('dashboard', `targets[${i}].${kind}`, must, text)
  }
  return { [kind]: text }
}

/**
 * Returns targets as overrides have them, each once. Limits may keep a client that a person typed under several
 * identities: it becomes all those that the store knows. If it knows none, a text such as an address is a
 * network, and any other is what a key function returns.
 */
export async function resolveTargets(
  watched: Watched,
  targets: readonly Target[],
): Promise<readonly Target[]> {
  const resolved = await Promise.all(
    targets.map(async (target) =>
      target.identity === undefined ? [target] : typedTargets(watched, target.identity),
    ),
  )
  const byPath = resolved.flat().map((target) => [overridePath({ ...target, block: true }), target] as const)
  return Array.from(new Map(byPath).values())
}

async function typedTargets(watched: Watched, typed: string): Promise<readonly Target[]> {
  const { standings, problem } = await lookUp(watched, typed)
  const text = typed.trim()
  if (problem !== undefined) throw new Error(problem)
  if (standings.length > 0) return standings.map(({ identity }) => ({ storedIdentity: identity }))
  if (isNetwork(text)) return [{ network: text }]
  return [isStored(text) ? { storedIdentity: text } : { identity: text }]
}

function isStored(text: string): boolean {
  try {
    readStoredIdentity('dashboard', 'identity', text)
    return true
  } catch {
    return false
  }
}
