import type { Embedding } from '../../keys/embedded-ipv4.js'
import { checkCandidatePolicy, withKeysOf } from '../../limiter/candidate-options.js'
import type { Entry, GivenPolicy } from '../../limiter/read-limits.js'
import { isPolicy, type Policy, signatureOf } from '../../policies/policy.js'
import type { Steps } from '../../util/slices.js'
import type { LimitSettings, LimitsByName, SettingsDocument, SettingsOverride } from './document.js'
import { policyOf } from './limit-settings.js'
import { CANDIDATE, fitting, LIMITS, type Misfit, type Place } from './misfits.js'
import { OverrideTable, type Row, rowOf } from './override-table.js'
import { targetOf } from './read-override.js'
import { checkNetwork, checkWellFormed, identityCheck } from './unmatched.js'

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
  /** What does not fit the limiter. The rules are without it. */
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

/** What a limiter makes of an override. It is made once for each override, and kept while the override is. */
interface MadeRow {
  /** `undefined` if its target does not fit the limiter. */
  readonly row: Row<Effect> | undefined
  readonly unknownNames: readonly string[]
}

/** Makes the rules of successive documents for a limiter. Keeps what has not changed. */
export interface RuleMaker {
  /** Makes rules. Stops after `mostMisfits`, and leaves the rules incomplete. */
  steps(document: SettingsDocument, mostMisfits?: number): Steps<DocumentRules>
}

export function ruleMaker({ entries: codeEntries, name, embeddings, onUnfit }: RulesContext): RuleMaker {
  const rows = new WeakMap<SettingsOverride, MadeRow>()
  const checkIdentity = identityCheck(codeEntries)
  let earlier = new Map<string, GivenPolicy>()

  return {
    *steps({ limits, candidate, overrides }, mostMisfits = Number.POSITIVE_INFINITY) {
      const misfits: Misfit[] = []
      const unknown = new Set<string>()
      const policies = new Map<string, GivenPolicy>()

      /** Returns the policy for a limit. All limits with the same numbers share one policy. */
      function policyFor(place: Place, settings: LimitSettings, entry: Entry, i: number) {
        const { policy: given } = entry
        const base = isPolicy(given) ? signatureOf(given) : '' // the numbers of a candidate build on it
        const text = JSON.stringify(settings)
        const id = `${i} ${base} ${text}`
        const misfitId = () => `${place.id()} ${i} ${text}`
        const path = `${place.path}.${limitName(entry, name)}`
        const made =
          policies.get(id) ??
          earlier.get(id) ??
          fitting(misfits, misfitId, () => policyOf(path, settings, given, onUnfit))
        if (made !== undefined) policies.set(id, made)
        return made
      }

      /** Returns the policies of limits by name, by the index of the limit; `undefined` if not changed. */
      function policiesOf(place: Place, byName: LimitsByName, entries: readonly Entry[]) {
        return entries.map((entry, i) => {
          const own = limitName(entry, name)
          const settings = Object.hasOwn(byName, own) ? byName[own] : undefined
          return settings && policyFor(place, settings, entry, i)
        })
      }

      /** Returns the names of limits that the limiter does not have. */
      function unknownIn(byName: LimitsByName): readonly string[] {
        return Object.keys(byName).filter(
          (each) => !codeEntries.some((entry) => limitName(entry, name) === each),
        )
      }

      function change(place: Place, byName: LimitsByName, entries: readonly Entry[]): readonly Entry[] {
        for (const each of unknownIn(byName)) unknown.add(each)
        const changed = policiesOf(place, byName, entries)
        return entries.map((entry, i) => ({ ...entry, policy: changed[i] ?? entry.policy }))
      }

      /** Returns the limits of a candidate: all but those of concurrency, which a candidate cannot hold. */
      function candidateOf(byName: LimitsByName, inForce: readonly Entry[]): readonly Entry[] | undefined {
        const holdsUnits = ({ policy }: Entry) => isPolicy(policy) && Boolean(policy.holdsUnits)
        for (const entry of inForce.filter(holdsUnits)) {
          const own = limitName(entry, name)
          const check = () =>
            checkCandidatePolicy(`settings: candidate.limits.${own}`, entry.policy as Policy)
          if (Object.hasOwn(byName, own)) fitting(misfits, () => `candidate ${own}`, check)
        }
        const usable = inForce.filter((entry) => !holdsUnits(entry))
        const changed = change(CANDIDATE, byName, usable)
        return changed.length > 0 ? withKeysOf(codeEntries, changed) : undefined
      }

      function madeRow(override: SettingsOverride, i: number): MadeRow {
        const { limits: byName = {}, exempt, block } = override
        const id = () => targetOf(override)
        const effect: Effect = {
          access: block ? 'block' : exempt ? 'exempt' : undefined,
          policies: policiesOf({ path: `overrides[${i}].limits`, id }, byName, codeEntries),
        }
        const path = `overrides[${i}]`
        const row = fitting(misfits, id, () => {
          checkWellFormed(path, override)
          checkIdentity(path, override)
          return rowOf(path, override, effect, embeddings)
        })
        fitting(misfits, id, () => checkNetwork(path, override), { isApplied: true })
        return { row, unknownNames: unknownIn(byName) }
      }

      const entries = change(LIMITS, limits, codeEntries)
      const tableRows: Row<Effect>[] = []
      for (const [i, override] of overrides.entries()) {
        const { length } = misfits
        if (length >= mostMisfits) break
        const made = rows.get(override) ?? madeRow(override, i)
        if (misfits.length === length) rows.set(override, made)
        if (made.row !== undefined) tableRows.push(made.row)
        for (const each of made.unknownNames) unknown.add(each)
        yield
      }
      const candidateEntries = candidate && candidateOf(candidate.limits, entries)
      const table = yield* OverrideTable.steps(tableRows)
      earlier = policies
      return {
        entries,
        overrides: table,
        candidate: candidateEntries && { entries: candidateEntries, overrides: table },
        unknownNames: Array.from(unknown),
        misfits,
      }
    },
  }
}
