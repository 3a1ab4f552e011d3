/**
 * The store in the memory of the primary of `node:cluster`, which its workers share.
 *
 * @module
 */

export { type ClusterStoreOptions, clusterStore } from './stores/cluster/cluster-store.js'
export { serveChild } from './stores/cluster/owned-stores.js'
export type { Store } from './stores/store.js'
