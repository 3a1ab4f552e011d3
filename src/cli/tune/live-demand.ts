import { DEMAND_CODEC } from '../../dashboard/shared/demand/demand-codec.js'
import { demandKey } from '../../dashboard/shared/demand/demand-document.js'
import { demandsOf } from '../../dashboard/shared/demand/read-demands.js'
import { processesKey, processSlots } from '../../dashboard/shared/process-slots.js'
import { sharedDocument } from '../../dashboard/shared/shared-document.js'
import type { Mode } from '../../limiter/access-rules.js'
import { limitsKey } from '../../pipe/limits-document.js'
import { publishedPolicy, readPublishedLimits, readScope } from '../../pipe/published-limits.js'
import { baseOf } from '../../policies/spec.js'
import type { Documents } from '../../stores/documents.js'
import { asStoreError } from '../../stores/store-error.js'
import type { LimitDemand } from '../../tuning/client-demand.js'
import { demandsInForce, type LimitInForce } from '../../tuning/demand-in-force.js'
import { timeout } from '../../util/timeout.js'
import { InputError } from '../failures.js'
import type { OpenStore } from '../settings/open-store.js'

const within = timeout(5000)

/** Returns the documents of a store, which reply in time or reject. Throws an `InputError` if it has none. */
export function documentsOf({ store: { documents, name } }: OpenStore): Documents {
  if (documents === undefined)
    throw new InputError(`the store ${name} has no documents, so dashboards keep nothing in it`)
  const inTime = <T>(work: Promise<T>) =>
    within(work).catch((error) => {
      throw asStoreError(name, error)
    })
  return {
    read: (requests) => inTime(documents.read(requests)),
    replace: (key, text, version) => inTime(documents.replace(key, text, version)),
  }
}

/** Reads the names of the limiters that dashboards have reported in the last 15 minutes. */
export async function readLimiterNames(opened: OpenStore, prefix: string): Promise<readonly string[]> {
  const slots = await processSlots(documentsOf(opened), processesKey(prefix), () => true).read()
  const names = slots.flatMap((slot) => slot?.document?.limiters?.map(({ name }) => name) ?? [])
  return [...new Set(names)].sort()
}

/** Reads the mode of a limiter, as the process says that reported last; `undefined` if none has in a quarter of an hour. */
export async function readReportedMode(
  opened: OpenStore,
  prefix: string,
  limiter: string,
): Promise<Mode | undefined> {
  const slots = await processSlots(documentsOf(opened), processesKey(prefix), () => true).read()
  const documents = slots.flatMap((slot) => slot?.document ?? [])
  const reported = documents
    .toSorted((a, b) => b.header.atMs - a.header.atMs)
    .flatMap(({ limiters = [] }) => limiters.filter(({ name }) => name === limiter))
  return reported[0]?.mode
}

/** Reads the limits that a limiter applies to clients without an override. */
export async function readLimitsInForce(
  opened: OpenStore,
  prefix: string,
  limiter: string,
): Promise<readonly LimitInForce[]> {
  const published = await readPublishedLimits(documentsOf(opened), limitsKey(prefix, limiter))
  return published.flatMap(({ scope, spec }): readonly LimitInForce[] => {
    const policy = publishedPolicy(baseOf(spec))
    const scoped = readScope(scope)
    if (policy === undefined || scoped === undefined || scoped.isCandidate) return []
    return [{ name: scoped.limit ?? limiter, limit: policy.limit, policy: spec }]
  })
}

/** Reads what clients asked for of each limit in force of a limiter. */
export async function readLiveDemands(
  opened: OpenStore,
  prefix: string,
  limiter: string,
): Promise<readonly LimitDemand[]> {
  const document = sharedDocument(documentsOf(opened), demandKey(prefix, limiter), DEMAND_CODEC)
  const [demands, inForce] = await Promise.all([document.read(), readLimitsInForce(opened, prefix, limiter)])
  return demands === undefined ? [] : demandsInForce(demandsOf(demands), inForce)
}
