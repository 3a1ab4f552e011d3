import type { Store } from '../stores/store.js'
import { errorWarnings } from './error-warnings.js'
import { limitsPublisher } from './publish-limits.js'
import { RemotePipe } from './remote-pipe.js'
import { type RemoteSupport, setRemoteSupport } from './remote-support.js'
import { MARKS } from './undecided-marks.js'

/**
 * Makes a store one that limiters call through the remote pipe, and returns it. Only a program that imports
 * such a store bundles the pipe. `validatedApply` adds a check of each outcome, for stores of users.
 */
export function remoteStore<S extends Store>(store: S, validatedApply?: RemoteSupport['validatedApply']): S {
  const pipe: RemoteSupport['pipe'] = (given, options) => new RemotePipe(given, options)
  setRemoteSupport(store, { pipe, marks: MARKS, errorWarnings, limitsPublisher, validatedApply })
  return store
}
