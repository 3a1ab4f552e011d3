import type { Documents } from '../../stores/documents.js'
import { memoryDocuments } from '../../stores/memory/memory-documents.js'
import { localStatesOf } from '../../stores/shared/local-states.js'
import type { Store } from '../../stores/store.js'
import { groupBy, indexIn } from '../../util/group-by.js'
import { weakMemo } from '../../util/memo.js'
import { processWide } from '../../util/process-wide.js'
import type { LimiterWatch } from '../figures/limiter-watch.js'
import { Group } from '../shared/group.js'

/** What dashboards keep of a store that holds no documents: in this process. */
const documentsBeside = processWide('dashboardDocuments', () =>
  weakMemo((_store: Store) => memoryDocuments({ documents: new Map() })),
)
/**
 * The number of each group tells its reports from those of the others in this process: of other dashboards, and of
 * this one, if it uses several clients of one server.
 */
const dashboards = processWide('dashboardCount', () => ({ count: 0 }))

/** Returns the groups of limiters that share a store and a prefix of its keys. */
export function groupsOf(watches: readonly LimiterWatch[], now: () => number): readonly Group[] {
  const places = new Map<object, number>()
  const groups = groupBy(watches, (watch) => {
    const { store } = watch.inspection
    return `${indexIn(places, placeOf(store))} ${store.origin?.table ?? ''} ${prefixOf(watch)}`
  })
  return Array.from(groups.values(), (members) => {
    const [first] = members
    const { store } = first.inspection
    const options = {
      store: store.name,
      prefix: prefixOf(first),
      documents: documentsOf(store),
      isShared: isShared(store),
      watches: members,
      dashboard: dashboards.count++,
    }
    return new Group(options, now)
  })
}

/** Returns whether other processes see the documents of a store. */
function isShared(store: Store): boolean {
  return store.documents !== undefined && localStatesOf(store) === undefined
}

function documentsOf(store: Store): Documents {
  return store.documents ?? documentsBeside(store)
}

/** Stores on one client share their keys. */
function placeOf(store: Store): object {
  return store.origin?.client ?? documentsOf(store)
}

/** Returns the option `prefix` of a limiter, which has no colon. */
function prefixOf({ inspection }: LimiterWatch): string {
  const { limiterScope } = inspection
  return limiterScope.slice(0, limiterScope.indexOf(':'))
}
