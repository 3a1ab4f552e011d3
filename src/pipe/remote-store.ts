import type { Store } from '../stores/store.js'
import { type RemoteAccess, setRemoteAccess } from './remote-access.js'
import { RemotePipe } from './remote-pipe.js'
import { markOf } from './undecided-marks.js'

/**
 * Gives a store that processes share the pipe, and returns it. So a program contains the pipe only if it
 * imports such a store. `validated` checks the outcomes of a store that is not of this package.
 */
export function remoteStore<S extends Store>(store: S, validated?: RemoteAccess['validated']): S {
  setRemoteAccess(store, { pipe: (given, options) => new RemotePipe(given, options), markOf, validated })
  return store
}
