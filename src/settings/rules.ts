import type { Embedding } from '../keys/embedded-ipv4.js'
import { withKeysOf } from '../limiter/candidate/inherited-keys.js'
import { checkCandidatePolicy } from '../limiter/candidate-options.js'
import type { Entry, GivenPolicy } from '../limiter/read-limits.js'
import type {
  LimitSettings,
  LimitsByName,
  SettingsDocument,
  SettingsOverride,
} from '../limiter/settings-document.js'
import { isPolicy, type Policy, signatureOf } from '../policies/policy.js'
import { RecentMap } from '../util/recent-map.js'
import type { Steps } from '../util/slices.js'
import { identityCheck } from './identity-check.js'
import { policyOf } from './limit-settings.js'
import { collectMisfit, type Misfit, type Place } from './misfits.js'
import { type OverrideTable, overrideTable, type Row, rowOf } from './override-table.js'
import { MAX_OVERRIDES } from './read-document.js'
import { readOverride } from './read-override.js'

/** What an override does to the limits of a limiter. */
export interface Effect extends Row {
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
  /** The parts of the document that do not fit the limiter. The rules leave them out. */
  readonly misfits: readonly Misfit[]
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

/** Makes the rules of successive documents for a limiter. Keeps what has not changed. */
export type RuleMaker = (document: SettingsDocument) => Steps<DocumentRules>

export function ruleMaker({ entries: codeEntries, name, embeddings, onUnfit }: RulesContext): RuleMaker {
  const names = codeEntries.map((entry) => limitName(entry, name))
  const checkIdentity = identityCheck(codeEntries)
  /** The effect of each override that fits. */
  const effects = new WeakMap<SettingsOverride, Effect>()
  const policies = new RecentMap<GivenPolicy>(MAX_OVERRIDES)

  /** Returns the policy for a limit. All limits with the same numbers share one policy. */
  function policyFor(path: string, settings: LimitSettings, entry: Entry): GivenPolicy {
    const { policy: given } = entry
    const own = limitName(entry, name)
    const base = isPolicy(given) ? signatureOf(given) : '' // the numbers of a candidate build on it
    const id = `${own} ${base} ${JSON.stringify(settings)}`
    const policy = policies.get(id) ?? policyOf(`${path}.${own}`, settings, given, onUnfit)
    policies.set(id, policy)
    return policy
  }

  /** Returns policies by the index of the limit; `undefined` for a limit that `byName` does not change. */
  function policiesOf(
    misfits: Misfit[],
    path: string,
    byName: LimitsByName,
    entries: readonly Entry[],
    place?: Place,
  ) {
    return entries.map((entry) => {
      const own = limitName(entry, name)
      const settings = Object.hasOwn(byName, own) ? byName[own] : undefined
      return settings && collectMisfit(misfits, () => policyFor(path, settings, entry), place)
    })
  }

  function change(misfits: Misfit[], path: string, byName: LimitsByName, entries: readonly Entry[]) {
    const changed = policiesOf(misfits, path, byName, entries)
    return entries.map((entry, i) => ({ ...entry, policy: changed[i] ?? entry.policy }))
  }

  /** Returns the limits of a candidate: all but those of concurrency, which a candidate cannot hold. */
  function candidateOf(misfits: Misfit[], byName: LimitsByName, inForce: readonly Entry[]) {
    const path = 'candidate.limits'
    const holdsUnits = ({ policy }: Entry) => isPolicy(policy) && Boolean(policy.holdsUnits)
    for (const entry of inForce.filter(holdsUnits)) {
      const own = limitName(entry, name)
      const check = () => checkCandidatePolicy(`settings: ${path}.${own}`, entry.policy as Policy)
      if (Object.hasOwn(byName, own)) collectMisfit(misfits, check)
    }
    const usable = inForce.filter((entry) => !holdsUnits(entry))
    const changed = change(misfits, path, byName, usable)
    return changed.length > 0 ? withKeysOf(codeEntries, changed) : undefined
  }

  /** Returns what an override does; `undefined` if its target does not fit the limiter. */
  function effectOf(misfits: Misfit[], override: SettingsOverride, i: number): Effect | undefined {
    const { limits = {}, exempt, block } = override
    const path = `overrides[${i}]`
    const place = { path, target: () => readOverride(path, override).target }
    const changed = policiesOf(misfits, `${path}.limits`, limits, codeEntries, place)
    const row = collectMisfit(
      misfits,
      () => {
        checkIdentity(path, override)
        return rowOf(path, override, embeddings)
      },
      place,
    )
    return row && { ...row, access: block ? 'block' : exempt && 'exempt', policies: changed }
  }

  return function* rulesOf({ limits, candidate, overrides }) {
    const misfits: Misfit[] = []
    const given = new Set([...Object.keys(limits), ...Object.keys(candidate?.limits ?? {})])
    const entries = change(misfits, 'limits', limits, codeEntries)
    const rows: Effect[] = []
    for (const [i, override] of overrides.entries()) {
      const { length } = misfits
      const effect = effects.get(override) ?? effectOf(misfits, override, i)
      if (effect !== undefined) rows.push(effect)
      if (effect !== undefined && misfits.length === length) effects.set(override, effect)
      for (const each of Object.keys(override.limits ?? {})) given.add(each)
      yield
    }
    const candidateEntries = candidate && candidateOf(misfits, candidate.limits, entries)
    const table = yield* overrideTable(rows)
    return {
      entries,
      overrides: table,
      candidate: candidateEntries && { entries: candidateEntries, overrides: table },
      unknownNames: Array.from(given).filter((each) => !names.includes(each)),
      misfits,
    }
  }
}
