import type { Embedding } from '../../keys/embedded-ipv4.js'
import { withKeysOf } from '../../limiter/candidate-options.js'
import type { Entry, GivenPolicy } from '../../limiter/read-limits.js'
import { collectTypeError, throwProblems } from '../../options/problems.js'
import { isPolicy, signatureOf } from '../../policies/policy.js'
import type { Steps } from '../../util/slices.js'
import type { LimitSettings, LimitsByName, SettingsDocument, SettingsOverride } from './document.js'
import { policyOf } from './limit-settings.js'
import { OverrideTable, type Row, rowOf } from './override-table.js'

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

/** What a limiter makes of an override. It is made once for each override, and kept while the override is. */
interface MadeRow {
  readonly row: Row<Effect>
  readonly unknownNames: readonly string[]
}

/** Makes the rules of successive documents for a limiter. Keeps what has not changed. */
export interface RuleMaker {
  /** Throws a `TypeError` for numbers that do not fit the limiter's policies. */
  steps(document: SettingsDocument): Steps<DocumentRules>
}

export function ruleMaker({ entries: codeEntries, name, embeddings, onUnfit }: RulesContext): RuleMaker {
  const rows = new WeakMap<SettingsOverride, MadeRow>()
  let earlier = new Map<string, GivenPolicy>()

  return {
    *steps({ limits, candidate, overrides }) {
      const problems: TypeError[] = []
      const unknown = new Set<string>()
      const policies = new Map<string, GivenPolicy>()

      /** Returns the policy for a limit. All limits with the same numbers share one policy. */
      function policyFor(path: string, settings: LimitSettings, { policy: given }: Entry, i: number) {
        const base = isPolicy(given) ? signatureOf(given) : '' // the numbers of a candidate build on it
        const id = `${i} ${base} ${JSON.stringify(settings)}`
        let made = policies.get(id) ?? earlier.get(id)
        if (made === undefined)
          collectTypeError(problems, () => {
            made = policyOf(path, settings, given, onUnfit)
          })
        if (made !== undefined) policies.set(id, made)
        return made
      }

      /** Returns the policies of limits by name, by the index of the limit; `undefined` if not named. */
      function policiesOf(path: string, byName: LimitsByName, entries: readonly Entry[]) {
        return entries.map((entry, i) => {
          const own = limitName(entry, name)
          const settings = Object.hasOwn(byName, own) ? byName[own] : undefined
          return settings && policyFor(`${path}.${own}`, settings, entry, i)
        })
      }

      /** Returns the names of limits that the limiter does not have. */
      function unknownIn(byName: LimitsByName): readonly string[] {
        return Object.keys(byName).filter(
          (each) => !codeEntries.some((entry) => limitName(entry, name) === each),
        )
      }

      function change(path: string, byName: LimitsByName, entries: readonly Entry[]): readonly Entry[] {
        for (const each of unknownIn(byName)) unknown.add(each)
        const changed = policiesOf(path, byName, entries)
        return entries.map((entry, i) => ({ ...entry, policy: changed[i] ?? entry.policy }))
      }

      function madeRow(override: SettingsOverride, i: number): MadeRow {
        const { limits: byName = {}, exempt, block } = override
        const effect: Effect = {
          access: block ? 'block' : exempt ? 'exempt' : undefined,
          policies: policiesOf(`overrides[${i}].limits`, byName, codeEntries),
        }
        return { row: rowOf(override, effect, embeddings), unknownNames: unknownIn(byName) }
      }

      const entries = change('limits', limits, codeEntries)
      const tableRows: Row<Effect>[] = []
      for (const [i, override] of overrides.entries()) {
        const made = rows.get(override) ?? madeRow(override, i)
        if (problems.length > 0) break
        rows.set(override, made)
        tableRows.push(made.row)
        for (const each of made.unknownNames) unknown.add(each)
        yield
      }
      const candidateEntries = candidate && change('candidate.limits', candidate.limits, entries)
      throwProblems('settings', problems)
      const table = yield* OverrideTable.steps(tableRows)
      earlier = policies
      return {
        entries,
        overrides: table,
        candidate: candidateEntries && {
          entries: withKeysOf(codeEntries, candidateEntries),
          overrides: table,
        },
        unknownNames: Array.from(unknown),
      }
    },
  }
}
