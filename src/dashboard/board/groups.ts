import { memoryDocuments } from '../../stores/memory/memory-documents.js'
import { localStatesOf } from '../../stores/shared/local-states.js'
import type { Store } from '../../stores/store.js'
import { groupBy } from '../../util/group-by.js'
import { processWide } from '../../util/process-wide.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import { Group } from '../shared/group.js'

/** Where dashboards keep what no store keeps: in this process. */
const localDocuments = processWide('dashboardDocuments', () => memoryDocuments({ documents: new Map() }))
const dashboards = processWide('dashboardCount', () => ({ count: 0 }))

/** Returns the groups of limiters that share a store and a prefix of its keys. */
export function groupsOf(watches: readonly LimiterWatch[], now: () => number): readonly Group[] {
  const dashboard = dashboards.count++
  const clients = new Map<object, number>()
  const groups = groupBy(watches, (watch) => {
    const { store } = watch.inspection
    if (!isShared(store)) return 'local'
    const place = placeOf(store)
    const client = clients.get(place) ?? clients.size
    clients.set(place, client)
    return `${client} ${store.origin?.table ?? ''} ${prefixOf(watch)}`
  })
  return Array.from(groups.values(), (members) => {
    const [{ inspection }] = members
    const { documents = localDocuments, name } = inspection.store
    const shared = isShared(inspection.store)
    return new Group(
      {
        store: name,
        prefix: shared ? prefixOf(members[0]) : 'hg',
        documents: shared ? documents : localDocuments,
        isShared: shared,
        watches: members,
        dashboard,
      },
      now,
    )
  })
}

/** Returns whether other processes see the documents of a store. */
function isShared(store: Store): boolean {
  return store.documents !== undefined && localStatesOf(store) === undefined
}

/** Stores on one client share their keys. */
function placeOf({ origin, documents = localDocuments }: Store): object {
  return origin?.client ?? documents
}

/** Returns the option `prefix` of a limiter, which has no colon. */
function prefixOf({ inspection }: LimiterWatch): string {
  const { limiterScope } = inspection
  return limiterScope.slice(0, limiterScope.indexOf(':'))
}
