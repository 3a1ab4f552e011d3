import { foreignFixes } from '../options/foreign-options.js'
import { readOptions } from '../options/option-table.js'
import { BESIDE_LIMITS, placementFixes } from '../options/placements.js'
import type { Policy } from '../policies/policy.js'
import { wrongUse } from '../util/validate.js'
import { ENTRIES_RULE, type Entry, LIMIT_ROWS, limitsRow } from './read-limits.js'

const table = () => ({
  rows: { ...LIMIT_ROWS, limits: limitsRow(foreignFixes()) },
  rules: { entries: ENTRIES_RULE },
  fixes: { ...foreignFixes(), ...placementFixes(BESIDE_LIMITS, 'next to candidate, not in it') },
})

/** Reads the limits of a candidate. Throws a `TypeError` that names each wrong option and its fix. */
export function readCandidate(owner: string, option: string, candidate: unknown): readonly Entry[] {
  const entryOwner = `${owner}: ${option}`
  const { entries } = readOptions(entryOwner, candidate, table())
  for (const { owner, policy } of entries) if (typeof policy === 'object') checkCandidatePolicy(owner, policy)
  return entries
}

/** Throws a `TypeError` for a policy that a candidate cannot have. */
export function checkCandidatePolicy(owner: string, policy: Policy): void {
  if (!policy.holdsUnits) return
  const problem = 'policy must not be concurrency: a candidate denies no request, so it cannot hold units'
  throw wrongUse(owner, problem, "Use a separate limiter with mode: 'report'.")
}
