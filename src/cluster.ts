/**
 * The store in the memory of the `node:cluster` primary, which all workers share.
 *
 * @module
 */

export { type ClusterStoreOptions, clusterStore } from './stores/cluster/cluster-store.js'
export { serveChild } from './stores/cluster/owned-stores.js'
export type { Store } from './stores/store.js'
