import { pathToFileURL } from 'node:url'
import { readStore } from '../pipe/read-store.js'
import type { Store } from '../stores/store.js'
import { messageOf } from '../stores/store-error.js'
import { InputError } from './failures.js'

const EXPORT = 'Write export default redisStore(client), or export your own store'

/** Returns the store that a module exports. Rejects with an `InputError` if there is none. */
export async function loadStore(command: string, path: string): Promise<Store> {
  try {
    const { default: exported } = await import(pathToFileURL(path).href)
    // In a module compiled to CommonJS, the default export is inside the one that Node.js creates.
    const made = exported?.default ?? exported
    return readStore(command, 'the default export', typeof made === 'function' ? await made() : made)
  } catch (error) {
    const problem = messageOf(error).replace(/\.$/, '')
    const fix = error instanceof TypeError ? `. ${EXPORT}` : ''
    throw new InputError(`cannot load a store from ${path}: ${problem}${fix}`)
  }
}
