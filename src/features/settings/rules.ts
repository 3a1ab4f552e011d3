import type { Embedding } from '../../keys/embedded-ipv4.js'
import { withKeysOf } from '../../limiter/candidate-options.js'
import type { Entry, GivenPolicy } from '../../limiter/read-limits.js'
import { collectTypeError, throwProblems } from '../../options/problems.js'
import { isPolicy, signatureOf } from '../../policies/policy.js'
import type { LimitSettings, LimitsByName, SettingsDocument, SettingsOverride } from './document.js'
import { policyOf } from './limit-settings.js'
import { OverrideTable } from './override-table.js'

/** What an override does to the limits of a limiter. */
export interface Effect {
  readonly access: 'exempt' | 'block' | undefined
  /** Policies by the index of the limit; `undefined` for a limit that the override does not change. */
  readonly policies: readonly (GivenPolicy | undefined)[]
}

/** The limits of a limiter, and their overrides. */
export interface Rules {
  readonly entries: readonly Entry[]
  readonly overrides: OverrideTable<Effect>
}

/** The rules of a document for a limiter. */
export interface DocumentRules extends Rules {
  /** The rules for its candidate; `undefined` if the document has none. */
  readonly candidate: Rules | undefined
  /** The names of limits in the document that the limiter does not have. */
  readonly unknownNames: readonly string[]
}

/** The limiter for which the rules of a document are made. */
interface RulesContext {
  /** The limits of the code. */
  readonly entries: readonly Entry[]
  readonly name: string
  readonly embeddings: readonly Embedding[]
  /** Called if numbers do not fit the policy that a function in the code returns. */
  readonly onUnfit: (error: TypeError) => void
}

/** Returns the name of a limit. An unnamed limit goes by the name of its limiter. */
export const limitName = ({ entryName }: Entry, limiter: string): string => entryName ?? limiter

/**
 * Returns the rules of a document. Throws a `TypeError` for numbers that do not fit the limiter's policies.
 */
export function rulesOf(document: SettingsDocument, context: RulesContext): DocumentRules {
  const { limits, candidate, overrides } = document
  const { name, embeddings, onUnfit } = context
  const problems: TypeError[] = []
  const unknownNames = new Set<string>()
  const policies = new Map<string, GivenPolicy>()

  /** Returns the policy for a limit. All overrides with the same numbers share one policy. */
  function policyFor(path: string, settings: LimitSettings, { policy: given }: Entry, i: number) {
    const base = isPolicy(given) ? signatureOf(given) : '' // the numbers of a candidate build on it
    const id = `${i} ${base} ${JSON.stringify(settings)}`
    const known = policies.get(id)
    if (known !== undefined) return known
    let made: GivenPolicy | undefined
    collectTypeError(problems, () => {
      made = policyOf(path, settings, given, onUnfit)
    })
    if (made !== undefined) policies.set(id, made)
    return made
  }

  /** Returns the policies of limits by name, by the index of the limit; `undefined` for limits not named. */
  function policiesOf(path: string, byName: LimitsByName, entries: readonly Entry[]) {
    const names = entries.map((entry) => limitName(entry, name))
    for (const each of Object.keys(byName)) if (!names.includes(each)) unknownNames.add(each)
    return entries.map((entry, i) => {
      const settings = Object.hasOwn(byName, names[i] ?? '') ? byName[names[i] ?? ''] : undefined
      return settings && policyFor(`${path}.${names[i]}`, settings, entry, i)
    })
  }

  function change(path: string, byName: LimitsByName, entries: readonly Entry[]): readonly Entry[] {
    const changed = policiesOf(path, byName, entries)
    return entries.map((entry, i) => ({ ...entry, policy: changed[i] ?? entry.policy }))
  }

  const effectOf = ({ limits: byName = {}, exempt, block }: SettingsOverride, i: number): Effect => ({
    access: block ? 'block' : exempt ? 'exempt' : undefined,
    policies: policiesOf(`overrides[${i}].limits`, byName, context.entries),
  })

  const entries = change('limits', limits, context.entries)
  const table = new OverrideTable(overrides, effectOf, embeddings)
  const candidateEntries = candidate && change('candidate.limits', candidate.limits, entries)
  throwProblems('settings', problems)
  return {
    entries,
    overrides: table,
    candidate: candidateEntries && {
      entries: withKeysOf(context.entries, candidateEntries),
      overrides: table,
    },
    unknownNames: [...unknownNames],
  }
}
