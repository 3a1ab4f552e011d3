import { DEMAND_CODEC } from '../../dashboard/shared/demand/demand-codec.js'
import { demandKey } from '../../dashboard/shared/demand/demand-document.js'
import { demandsOf } from '../../dashboard/shared/demand/read-demands.js'
import { sharedDocument } from '../../dashboard/shared/shared-document.js'
import type { Entry } from '../../limiter/read-limits.js'
import type { LimitsByName, SettingsDocument } from '../../limiter/settings-document.js'
import { limitsKey } from '../../pipe/limits-document.js'
import { publishedPolicy, readScope } from '../../pipe/published-limits.js'
import type { Policy } from '../../policies/policy.js'
import { withoutCandidates } from '../../tuning/demand-in-force.js'
import { type LimitPreview, previewOf } from '../../tuning/preview/preview.js'
import { type ChangePreview, previewWithCandidate } from '../../tuning/preview/preview-change.js'
import { NO_COUNTS } from '../../tuning/preview/preview-counts.js'
import { previewModes } from '../../tuning/preview/preview-modes.js'
import { previewRules } from '../../tuning/preview/preview-rules.js'
import { groupBy } from '../../util/group-by.js'
import { documentsOf, readReportedMode } from '../tune/live-demand.js'
import type { SettingsRequest } from './arguments.js'
import type { OpenStore } from './open-store.js'

/**
 * Previews a change by what processes have published and counted. Their code is not known here: not its secret, and
 * not its numbers where settings replace them.
 */
export async function previewChange(
  opened: OpenStore,
  { prefix, limiter }: Pick<SettingsRequest, 'prefix' | 'limiter'>,
  before: SettingsDocument,
  after: SettingsDocument,
): Promise<ChangePreview> {
  const counted = sharedDocument(documentsOf(opened), demandKey(prefix, limiter), DEMAND_CODEC)
  const [found, entries, inForce] = await Promise.all([
    counted.read(),
    publishedEntries(opened, prefix, limiter),
    before.mode ?? readReportedMode(opened, prefix, limiter),
  ])
  const modes = previewModes(before, after, inForce ?? 'enforce')
  const demands = found === undefined ? [] : withoutCandidates(demandsOf(found))
  const known = { name: limiter, entries, embeddings: [], secret: undefined }
  return previewWithCandidate(after, modes, async (document, own) => {
    const previews = previewOf(await previewRules(known, document), demands, own)
    const { limits = {} } = document
    return previews.map((each) =>
      leavesToCode(each.limitName, before.limits, limits) ? unknownPreview(each) : each,
    )
  })
}

/** Returns the limits that processes have published. A function in their code may return several of one name. */
async function publishedEntries({ readPublished }: OpenStore, prefix: string, limiter: string) {
  const published = (await readPublished(limitsKey(prefix, limiter))).flatMap(({ scope, spec }) => {
    const [scoped, policy] = [readScope(scope), publishedPolicy(spec)]
    return scoped === undefined || scoped.isCandidate || policy === undefined
      ? []
      : [{ entryName: scoped.limit, policy }]
  })
  const byName = groupBy(published, ({ entryName }) => entryName)
  return Array.from(byName, ([entryName, [first, ...others]]): Entry => {
    const policy = others.length === 0 ? (first?.policy as Policy) : () => undefined
    return {
      owner: 'settings',
      ...(entryName !== undefined && { entryName }),
      policy,
      key: [UNKNOWN_KEY],
      cost: undefined,
    }
  })
}

/** Stands for the key of a limit, which only its code knows. */
const UNKNOWN_KEY = () => undefined

/** Returns whether numbers that settings have replaced so far would be those of the code again. */
function leavesToCode(name: string, before: LimitsByName, after: LimitsByName): boolean {
  const [numbers, kept] = [before, after].map((limits) =>
    Object.hasOwn(limits, name) ? limits[name] : undefined,
  )
  if (numbers === undefined || (kept !== undefined && 'policy' in kept)) return false
  return Object.keys(numbers).some((field) => kept === undefined || !Object.hasOwn(kept, field))
}

function unknownPreview({ limitName, clients, fromMs, toMs }: LimitPreview): LimitPreview {
  const problem = 'It would have the numbers in the code again, which are not known here.'
  return { limitName, clients, fromMs, toMs, ...NO_COUNTS, problem }
}
