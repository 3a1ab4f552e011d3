import type { GivenPolicy } from '../../limiter/read-limits.js'
import type { LimitDemand } from '../client-demand.js'
import { judgeOf } from '../would-deny.js'
import { judgedClients } from './judged-clients.js'
import { countsOf, NO_COUNTS, type PreviewCounts } from './preview-counts.js'
import { ENFORCING, modeNotes, type PreviewModes, underModes } from './preview-modes.js'
import type { PreviewRules } from './preview-rules.js'

/** What new rules of a limit would have done to clients. Clients that a sample stands for are counted. */
export interface LimitPreview extends PreviewCounts {
  readonly limitName: string
  /** How many clients there were, from when to when. */
  readonly clients: number
  readonly fromMs: number
  readonly toMs: number
  /** What was left out or is uncertain, in sentences. */
  readonly notes?: readonly string[]
  /** Why it is not known. The counts are 0 then. */
  readonly problem?: string
}

/**
 * Returns what rules would have done to the clients of each limit in the last 12 to 24 hours, from what each asked
 * for at most.
 */
export function previewOf(
  rules: PreviewRules,
  demands: readonly LimitDemand[],
  modes = ENFORCING,
): readonly LimitPreview[] {
  return rules.limits.map(({ name, policy, isChanged }, i) => {
    const found = demands.filter(({ limitName }) => limitName === name).sort((a, b) => b.toMs - a.toMs)
    return previewLimit(
      name,
      rules,
      i,
      isChanged && typeof policy === 'function' ? OF_FUNCTION : undefined,
      found,
      modes,
    )
  })
}

const OF_FUNCTION =
  'A function in the code returns the policies of this limit, so what other numbers would have done is not known.'
const NOTHING = 'Nothing has been counted yet.'
const NO_TIME =
  'The units of this limit do not come back with time, so what clients would have used is not known.'

function previewLimit(
  limitName: string,
  rules: PreviewRules,
  index: number,
  unknown: string | undefined,
  found: readonly LimitDemand[],
  modes: PreviewModes,
): LimitPreview {
  const [newest] = found
  const policy = rules.limits[index]?.policy
  const none = { limitName, clients: 0, fromMs: 0, toMs: 0, ...NO_COUNTS }
  if (newest === undefined) return { ...none, problem: restoresUnits(policy) ? NOTHING : NO_TIME }
  const about = {
    limitName,
    clients: Math.max(...found.map(({ clients }) => clients)),
    fromMs: Math.min(...found.map(({ fromMs }) => fromMs)),
    toMs: newest.toMs,
  }
  const problem = unknown ?? problemOf(newest, policy)
  if (problem !== undefined) return { ...about, ...NO_COUNTS, problem }
  const { clients, notes } = judgedClients(found, rules, index)
  const all = [...modeNotes(modes), ...rules.notes, ...notes]
  return { ...about, ...countsOf(underModes(clients, modes)), ...(all.length > 0 && { notes: all }) }
}

/** Returns why it is not known what the policy for most clients would have done. */
function problemOf(demand: LimitDemand, policy: GivenPolicy | undefined): string | undefined {
  if (policy === undefined || typeof policy === 'function') return undefined
  const judge = judgeOf(demand, policy)
  return typeof judge === 'string' ? judge : undefined
}

function restoresUnits(policy: GivenPolicy | undefined): boolean {
  return policy === undefined || typeof policy === 'function' || Number.isFinite(policy.windowMs)
}
