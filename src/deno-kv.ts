/**
 * The store for Deno KV.
 *
 * @module
 */

export { denoKvStore } from './stores/deno-kv/deno-kv-store.js'
